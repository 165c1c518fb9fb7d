"""Trains a small GPT on the characters of a text that ships with Python.

    python examples/gpt_characters.py --device tpu

The text is the interpreter's own licence; the model learns to continue it.
"""

import argparse
import math
import pathlib
import site
import sys
import sysconfig

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, width: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for part in self.qkv(x).split(width, dim=2)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.dropout(self.attend(self.norm1(x)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


class GPT(nn.Module):
    def __init__(
        self, vocabulary: int, context: int = 64, width: int = 128, depth: int = 2, heads: int = 4, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads, dropout) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.apply(self.initialise)

    @staticmethod
    def initialise(module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def load_text() -> str:
    """Python's licence where it is installed, else the source of a long standard module."""
    library = pathlib.Path(sysconfig.get_paths()["stdlib"])
    for path in (library / "LICENSE.txt", library / "argparse.py"):
        if path.exists():
            return path.read_text()[:60_000]
    raise FileNotFoundError(f"neither LICENSE.txt nor argparse.py in {library} ({sys.version}, {site.PREFIXES})")


def encode() -> tuple[torch.Tensor, list[str]]:
    text = load_text()
    alphabet = sorted(set(text))
    index = {character: i for i, character in enumerate(alphabet)}
    return torch.tensor([index[character] for character in text]), alphabet


def make_model(seed: int = 0, dropout: float = 0.0) -> nn.Module:
    _, alphabet = encode()
    torch.manual_seed(seed)
    return GPT(len(alphabet), dropout=dropout)


def make_batch(index: int, size: int = 16, context: int = 64) -> tuple[torch.Tensor, ...]:
    data, _ = encode()
    generator = torch.Generator().manual_seed(1000 + index)
    starts = torch.randint(len(data) - context - 1, (size,), generator=generator)
    rows = starts[:, None] + torch.arange(context + 1)
    window = data[rows]
    return window[:, :-1], window[:, 1:]


def loss_of(model: nn.Module, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(ids).flatten(0, 1), targets.flatten())


def train(
    device: str, seed: int = 0, steps: int = 200, autocast: bool = False, verbose: bool = False
) -> dict[str, object]:
    """AdamW with warm-up, cosine decay and gradient clipping. Returns losses and the last bits/character."""
    model = make_model(seed, dropout=0.1).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
    warmup = max(1, steps // 20)

    def rate(step: int) -> float:
        if step < warmup:
            return (step + 1) / warmup
        return 0.1 + 0.45 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    losses = []
    for step in range(steps):
        ids, targets = (part.to(device) for part in make_batch(seed * 100_000 + step))
        with torch.autocast(torch.device(device).type, dtype=torch.bfloat16, enabled=autocast):
            loss = loss_of(model, ids, targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.detach())
        if verbose and step % 20 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
    curve = torch.stack(losses).float().cpu()
    return {"losses": curve.tolist(), "final_loss": curve[-20:].mean().item()}


@torch.no_grad()
def sample(model: nn.Module, device: str, alphabet: list[str], length: int = 200) -> str:
    ids = torch.zeros(1, 1, dtype=torch.long, device=device)
    for _ in range(length):
        logits = model(ids[:, -64:])[:, -1]
        ids = torch.cat((ids, logits.argmax(-1, keepdim=True)), 1)
    return "".join(alphabet[i] for i in ids[0].tolist())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--autocast", action="store_true", help="forward in bfloat16")
    args = parser.parse_args()
    result = train(args.device, args.seed, args.steps, args.autocast, verbose=True)
    print(f"loss over the last 20 steps on {args.device}: {result['final_loss']:.4f}")


if __name__ == "__main__":
    main()
