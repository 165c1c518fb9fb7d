"""A tagger: words of sentences of several lengths, a GRU in both directions, a tag for each word.

python examples/gru_tagger.py --device tpu
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F

WORDS, TAGS = 100, 7


class Tagger(nn.Module):
    def __init__(self, width: int = 24, hidden: int = 32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(WORDS, width, padding_idx=0)
        self.gru = nn.GRU(width, hidden, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * hidden, TAGS)

    def forward(self, words: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(
            self.embedding(words), lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.tags(states)


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return Tagger()


def make_batch(index: int, size: int = 4, length: int = 9) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    lengths = torch.randint(3, length, (size,), generator=generator)
    lengths[0] = length
    inside = torch.arange(length) < lengths[:, None]
    words = torch.randint(1, WORDS, (size, length), generator=generator)
    tags = torch.randint(TAGS, (size, length), generator=generator)
    return words * inside, lengths, tags.masked_fill(~inside, -100)


def loss_of(model: nn.Module, words: torch.Tensor, lengths: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(model(words, lengths).flatten(0, 1), tags.flatten())


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
