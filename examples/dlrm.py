"""A recommendation model: bags of categories, dense features, their pairwise products, a click.

    python examples/dlrm.py --device tpu

Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems, 2019.
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F

CATEGORIES, DENSE = (50, 80, 30), 6


class Recommender(nn.Module):
    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(count, width, mode="sum") for count in CATEGORIES)
        self.bottom = nn.Sequential(nn.Linear(DENSE, 32), nn.ReLU(), nn.Linear(32, width), nn.ReLU())
        vectors = len(CATEGORIES) + 1
        self.top = nn.Sequential(nn.Linear(width + vectors * (vectors - 1) // 2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, dense: torch.Tensor, categories: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        x = self.bottom(dense)
        bags = zip(self.bags, categories, CATEGORIES, strict=True)
        looked_up = [bag(ids % count, offsets) for bag, ids, count in bags]
        vectors = torch.stack([x, *looked_up], dim=1)
        products = vectors @ vectors.transpose(1, 2)
        row, column = torch.tril_indices(vectors.shape[1], vectors.shape[1], offset=-1, device=x.device)
        return self.top(torch.cat([x, products[:, row, column]], dim=1)).squeeze(1)


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return Recommender()


def make_batch(index: int, size: int = 8) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    lengths = torch.randint(1, 5, (size,), generator=generator)
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)[:-1]])
    categories = torch.randint(1000, (len(CATEGORIES), int(lengths.sum())), generator=generator)
    clicked = torch.randint(2, (size,), generator=generator).float()
    return torch.randn(size, DENSE, generator=generator), categories, offsets, clicked


def loss_of(
    model: nn.Module, dense: torch.Tensor, categories: torch.Tensor, offsets: torch.Tensor, clicked: torch.Tensor
) -> torch.Tensor:
    return F.binary_cross_entropy_with_logits(model(dense, categories, offsets), clicked)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
