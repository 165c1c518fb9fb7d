"""Trains a small convolutional network on scikit-learn's handwritten digits.

    python examples/digits_cnn.py --device tpu
    python examples/digits_cnn.py --device tpu --autocast

1,797 images of 8x8 pixels; a fifth is held back and its accuracy printed.
"""

import argparse

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F


class DigitsNet(nn.Module):
    def __init__(self, dropout: float = 0.25) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.head(self.dropout(x.flatten(1)))


def load_data() -> tuple[torch.Tensor, torch.Tensor]:
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    return images, torch.tensor(digits.target)


def make_model(seed: int = 0, dropout: float = 0.25) -> nn.Module:
    torch.manual_seed(seed)
    return DigitsNet(dropout)


def make_batch(index: int, size: int = 64) -> tuple[torch.Tensor, ...]:
    images, labels = load_data()
    rows = torch.arange(index * size, (index + 1) * size) % len(labels)
    return images[rows], labels[rows]


def loss_of(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(images), labels)


def train(
    device: str, seed: int = 0, epochs: int = 6, autocast: bool = False, verbose: bool = False
) -> dict[str, object]:
    """Trains and returns the losses of all steps and the accuracy on the held-back fifth."""
    images, labels = load_data()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(7))
    split = len(order) * 4 // 5
    train_rows, test_rows = order[:split], order[split:]
    model = make_model(seed).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    shuffle = torch.Generator().manual_seed(seed)
    losses = []
    for epoch in range(epochs):
        model.train()
        for rows in train_rows[torch.randperm(split, generator=shuffle)].split(64):
            x, y = images[rows].to(device), labels[rows].to(device)
            with torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=autocast):
                loss = loss_of(model, x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        if verbose:
            print(f"epoch {epoch}: loss {losses[-1].item():.4f}")
    model.eval()
    with torch.no_grad():
        guess = model(images[test_rows].to(device)).argmax(1).cpu()
    accuracy = (guess == labels[test_rows]).double().mean().item()
    return {"losses": torch.stack(losses).float().cpu().tolist(), "accuracy": accuracy}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--autocast", action="store_true", help="forward in bfloat16")
    args = parser.parse_args()
    result = train(args.device, args.seed, args.epochs, args.autocast, verbose=True)
    print(f"accuracy on {args.device}: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
