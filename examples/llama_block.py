"""A Llama-style decoder block: RMSNorm, rotary positions, grouped-query attention, SwiGLU.

    python examples/llama_block.py --device tpu

Random weights; forward and backward.
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F


def rotary_tables(length: int, head: int, base: float = 10_000.0) -> tuple[torch.Tensor, torch.Tensor]:
    """cos and sin of position times frequency, [length, head] (Su et al., 2021)."""
    frequency = base ** (-torch.arange(0, head, 2) / head)
    angle = torch.outer(torch.arange(length), frequency).repeat(1, 2)
    return angle.cos(), angle.sin()


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-high, low), dim=-1) * sin


class LlamaBlock(nn.Module):
    def __init__(self, width: int = 128, heads: int = 8, kv_heads: int = 2, hidden: int = 352) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q = nn.Linear(width, heads * self.head, bias=False)
        self.k = nn.Linear(width, kv_heads * self.head, bias=False)
        self.v = nn.Linear(width, kv_heads * self.head, bias=False)
        self.o = nn.Linear(heads * self.head, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def attend(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q = rotate(self.q(x).view(batch, length, self.heads, self.head).transpose(1, 2), cos, sin)
        k = rotate(self.k(x).view(batch, length, self.kv_heads, self.head).transpose(1, 2), cos, sin)
        v = self.v(x).view(batch, length, self.kv_heads, self.head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, -1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        cos, sin = (table.to(x) for table in rotary_tables(x.shape[1], self.head))
        x = x + self.attend(self.attention_norm(x), cos, sin)
        y = self.mlp_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return LlamaBlock()


def make_batch(index: int, size: int = 4, length: int = 32, width: int = 128) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    return torch.randn(size, length, width, generator=generator), torch.randn(size, length, width, generator=generator)


def loss_of(model: nn.Module, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(model(x), target)


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
