"""A graph network: messages along edges, weighed by attention over each node's neighbours, summed by scatter.

    python examples/gnn.py --device tpu

Velickovic et al., Graph Attention Networks, 2018.
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F

FEATURES, CLASSES = 12, 4


class GraphAttention(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, outputs, bias=False)
        self.source, self.target = nn.Linear(outputs, 1, bias=False), nn.Linear(outputs, 1, bias=False)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        source, target = edges
        h = self.project(x)
        score = F.leaky_relu(self.source(h)[source] + self.target(h)[target], 0.2).squeeze(1)
        # Softmax over the edges that arrive at a node.
        largest = torch.full_like(score[:1], -torch.inf).expand(len(x)).scatter_reduce(0, target, score, "amax")
        weight = (score - largest[target]).exp()
        total = torch.zeros_like(x[:, 0]).index_add(0, target, weight)
        messages = h[source] * (weight / total[target]).unsqueeze(1)
        return torch.zeros_like(h).index_add(0, target, messages)


class GraphNetwork(nn.Module):
    def __init__(self, hidden: int = 24) -> None:
        super().__init__()
        self.first, self.second = GraphAttention(FEATURES, hidden), GraphAttention(hidden, CLASSES)

    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        return self.second(F.elu(self.first(x, edges)), edges)


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return GraphNetwork()


def make_batch(index: int, nodes: int = 20, edges: int = 60) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    loops = torch.arange(nodes).expand(2, nodes)  # so that no node is without a neighbour
    drawn = torch.randint(nodes, (2, edges), generator=generator)
    labels = torch.randint(CLASSES, (nodes,), generator=generator)
    return torch.randn(nodes, FEATURES, generator=generator), torch.cat([loops, drawn], dim=1), labels


def loss_of(model: nn.Module, x: torch.Tensor, edges: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(x, edges), labels)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
