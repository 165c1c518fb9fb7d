"""Whisper in its tiny shape, shortened, with random weights: a spectrogram is transcribed.

python examples/whisper.py --device tpu
"""

import torch
from one_step import report
from torch import nn
from torch.nn import functional as F
from transformers import WhisperConfig, WhisperForConditionalGeneration

WORDS, FRAMES = 300, 64


def make_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=WORDS,
            num_mel_bins=80,
            d_model=96,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=6,
            decoder_attention_heads=6,
            encoder_ffn_dim=192,
            decoder_ffn_dim=192,
            max_source_positions=FRAMES // 2,
            max_target_positions=32,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            decoder_start_token_id=1,
            suppress_tokens=None,
            begin_suppress_tokens=None,
        )
    )


def make_batch(index: int, size: int = 2) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(index)
    spectrogram = torch.randn(size, 80, FRAMES, generator=generator)
    return spectrogram, torch.randint(3, WORDS, (size, 12), generator=generator)


def loss_of(model: nn.Module, spectrogram: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
    scores = model(input_features=spectrogram, decoder_input_ids=words[:, :-1], use_cache=False).logits
    return F.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())


if __name__ == "__main__":
    report(__doc__, make_model, make_batch, loss_of)
