"""ResNet-18 (He et al., 2015), forward and backward on random images.

python examples/resnet18.py --device tpu
"""

import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F


class BasicBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)
        )
        widths = (64, 64, 128, 256, 512)
        self.blocks = nn.Sequential(
            *(
                BasicBlock(
                    widths[stage] if first else widths[stage + 1], widths[stage + 1], 2 if first and stage else 1
                )
                for stage in range(4)
                for first in (True, False)
            )
        )
        self.head = nn.Linear(512, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1).flatten(1))


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return ResNet18()


def make_batch(index: int, size: int = 4, pixels: int = 64) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    images = torch.randn(size, 3, pixels, pixels, generator=generator)
    return images, torch.randint(10, (size,), generator=generator)


def loss_of(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(images), labels)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=3)
    args = parser.parse_args()
    model = make_model().to(args.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(args.steps):
        begin = time.perf_counter()
        loss = loss_of(model, *(part.to(args.device) for part in make_batch(step)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.4f}, {time.perf_counter() - begin:.2f} s")


if __name__ == "__main__":
    main()
