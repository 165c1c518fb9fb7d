"""A mixture of experts (Mixtral's architecture) with random weights: each token goes to two of four experts.

python examples/mixture_of_experts.py --device tpu
"""

from typing import Any

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from transformers import MixtralConfig, MixtralForCausalLM

WORDS = 200


SETTINGS: dict[str, Any] = {
    "vocab_size": WORDS,
    "hidden_size": 48,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "max_position_embeddings": 64,
    "experts_implementation": "eager",  # one expert after the other; the grouped product has no float64
}


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return MixtralForCausalLM(MixtralConfig(**SETTINGS))


def make_batch(index: int, size: int = 2, length: int = 16) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    return (torch.randint(WORDS, (size, length), generator=generator),)


def loss_of(model: nn.Module, words: torch.Tensor) -> torch.Tensor:
    scores = model(input_ids=words, use_cache=False).logits[:, :-1]
    return F.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
