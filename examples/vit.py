"""A vision transformer with random weights: patches by convolution, attention, a classifier.

python examples/vit.py --device tpu
"""

from typing import Any

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from transformers import ViTConfig, ViTForImageClassification

SETTINGS: dict[str, Any] = {
    "hidden_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "image_size": 32,
    "patch_size": 8,
    "num_labels": 10,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return ViTForImageClassification(ViTConfig(**SETTINGS))


def make_batch(index: int, size: int = 4) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    return torch.randn(size, 3, 32, 32, generator=generator), torch.randint(10, (size,), generator=generator)


def loss_of(model: nn.Module, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(pixel_values=images).logits, labels)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
