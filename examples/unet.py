"""A U-Net: an image is halved twice and brought back, with what each size saw carried across.

    python examples/unet.py --device tpu

Ronneberger et al., U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015.
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F


class Block(nn.Sequential):
    """Two convolutions, each normalised in groups."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, padding=1),
            nn.GroupNorm(4, outputs),
            nn.SiLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1),
            nn.GroupNorm(4, outputs),
            nn.SiLU(),
        )


class UNet(nn.Module):
    def __init__(self, inputs: int = 3, outputs: int = 2, width: int = 8) -> None:
        super().__init__()
        self.down = nn.ModuleList([Block(inputs, width), Block(width, 2 * width)])
        self.middle = Block(2 * width, 4 * width)
        self.grow = nn.ModuleList(
            [nn.ConvTranspose2d(4 * width, 2 * width, 2, stride=2), nn.Conv2d(2 * width, width, 1)]
        )
        self.up = nn.ModuleList([Block(4 * width, 2 * width), Block(2 * width, width)])
        self.last = nn.Conv2d(width, outputs, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        seen = []
        for block in self.down:
            x = block(x)
            seen.append(x)
            x = F.max_pool2d(x, 2)
        x = self.up[0](torch.cat([self.grow[0](self.middle(x)), seen[1]], dim=1))
        larger = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return self.last(self.up[1](torch.cat([self.grow[1](larger), seen[0]], dim=1)))


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return UNet()


def make_batch(index: int, size: int = 2, pixels: int = 16) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    image = torch.randn(size, 3, pixels, pixels, generator=generator)
    return image, torch.randint(2, (size, pixels, pixels), generator=generator)


def loss_of(model: nn.Module, image: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(image), mask)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
