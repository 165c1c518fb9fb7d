"""One training step of a model, printed: what the scripts of this folder do that train nothing further."""

import argparse
from collections.abc import Callable

import torch
from torch import nn


def report(
    description: str | None,
    make_model: Callable[[], nn.Module],
    make_batch: Callable[[int], tuple[torch.Tensor, ...]],
    loss_of: Callable[..., torch.Tensor],
) -> None:
    """Loss and gradient norms of the first batch, on the device that the command line names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    model = make_model().to(args.device)
    loss = loss_of(model, *(part.to(args.device) for part in make_batch(0)))
    loss.backward()
    print(f"loss {loss.item():.6f}")
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            print(f"{name:24} gradient norm {parameter.grad.norm().item():.6f}")
