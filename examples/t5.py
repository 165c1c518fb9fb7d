"""T5 with random weights: an encoder, a decoder, relative positions by bucket.

python examples/t5.py --device tpu
"""

from typing import Any

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from transformers import T5Config, T5ForConditionalGeneration

WORDS = 200


SETTINGS: dict[str, Any] = {
    "vocab_size": WORDS,
    "d_model": 48,
    "d_kv": 12,
    "d_ff": 96,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "decoder_start_token_id": 0,
    "feed_forward_proj": "gated-gelu",
}


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return T5ForConditionalGeneration(T5Config(**SETTINGS))


def make_batch(index: int, size: int = 3) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    return torch.randint(2, WORDS, (size, 16), generator=generator), torch.randint(
        2, WORDS, (size, 9), generator=generator
    )


def loss_of(model: nn.Module, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    scores = model(input_ids=source, decoder_input_ids=target[:, :-1], use_cache=False).logits
    return F.cross_entropy(scores.flatten(0, 1), target[:, 1:].flatten())


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
