"""A step of training a diffusion model: noise is added to an image, and predicted from it and the time.

    python examples/diffusion_step.py --device tpu

Ho et al., Denoising Diffusion Probabilistic Models, 2020.
"""

import math

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from unet import UNet

STEPS = 100


class Denoiser(nn.Module):
    """A U-Net that sees the time as further channels."""

    frequency: torch.Tensor
    signal: torch.Tensor
    noise: torch.Tensor

    def __init__(self, channels: int = 3, waves: int = 8) -> None:
        super().__init__()
        self.register_buffer("frequency", torch.exp(-math.log(1000) * torch.arange(waves) / waves))
        self.time = nn.Sequential(nn.Linear(2 * waves, 32), nn.SiLU(), nn.Linear(32, 5))
        self.unet = UNet(channels + 5, channels)
        kept = torch.cumprod(1 - torch.linspace(1e-4, 0.02, STEPS), 0)
        self.register_buffer("signal", kept.sqrt())
        self.register_buffer("noise", (1 - kept).sqrt())

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        angle = time[:, None] * self.frequency
        embedded = self.time(torch.cat([angle.sin(), angle.cos()], dim=1))[:, :, None, None]
        return self.unet(torch.cat([x, embedded.expand(-1, -1, *x.shape[2:])], dim=1))


def make_model(seed: int = 0) -> Denoiser:
    torch.manual_seed(seed)
    return Denoiser()


def make_batch(index: int, size: int = 2, pixels: int = 16) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    image, noise = torch.randn(2, size, 3, pixels, pixels, generator=generator)
    return image, noise, torch.randint(STEPS, (size,), generator=generator)


def loss_of(model: Denoiser, image: torch.Tensor, noise: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
    shape = (-1, 1, 1, 1)
    mixed = model.signal[time].view(shape) * image + model.noise[time].view(shape) * noise
    return F.mse_loss(model(mixed, time), noise)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
