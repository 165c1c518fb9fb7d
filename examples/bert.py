"""BERT with random weights: masked words, with padding.

python examples/bert.py --device tpu
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertForMaskedLM

WORDS = 200


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return BertForMaskedLM(
        BertConfig(
            vocab_size=WORDS,
            hidden_size=48,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=96,
            max_position_embeddings=64,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )


def make_batch(index: int, size: int = 3, length: int = 20) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    words = torch.randint(5, WORDS, (size, length), generator=generator)
    masked = torch.rand(size, length, generator=generator) < 0.2
    attended = torch.arange(length) < torch.tensor([length, length - 5, length - 9])[:, None]
    return words.masked_fill(masked, 4), attended.long(), words.masked_fill(~(masked & attended), -100)


def loss_of(model: nn.Module, words: torch.Tensor, attended: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    scores = model(input_ids=words, attention_mask=attended).logits
    return F.cross_entropy(scores.flatten(0, 1), labels.flatten())


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
