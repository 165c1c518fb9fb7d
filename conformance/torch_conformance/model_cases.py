"""Whole models: the examples, compared with a float64 CPU reference."""

from __future__ import annotations

import contextlib
import importlib
import statistics
from collections.abc import Callable, Iterator
from types import ModuleType

import torch
from torch import nn

from .checks import Check, within
from .rounding_noise import (
    BFLOAT16_ROUNDOFF,
    FLOAT32_ROUNDOFF,
    Noise,
    Results,
    reference_and_bounds,
)

Case = Callable[[str], list[Check]]

ROUNDOFF = {"highest": FLOAT32_ROUNDOFF, "medium": BFLOAT16_ROUNDOFF}
"""float32 matmul precision -> the arithmetic its products are formed in."""


@contextlib.contextmanager
def matmul_precision(name: str) -> Iterator[None]:
    old = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(name)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(old)


def _to(batch: tuple[torch.Tensor, ...], device: str, dtype: torch.dtype) -> list[torch.Tensor]:
    return [part.to(device=device, dtype=dtype if part.is_floating_point() else part.dtype) for part in batch]


def _without_dropout(model: nn.Module) -> nn.Module:
    # The mask is another random stream on every device.
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    return model


def gradients(example: ModuleType, device: str, dtype: torch.dtype, noise: Noise | None = None) -> Results:
    """Loss and all gradients of one training step from the same weights and batch."""
    model = _without_dropout(example.make_model(seed=0)).to(device=device, dtype=dtype)
    batch = _to(example.make_batch(0), device, dtype)
    with noise(model) if noise else contextlib.nullcontext():
        loss = example.loss_of(model, *batch)
        loss.backward()
    results = {"loss": loss.detach()}
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            results[f"grad {name}"] = parameter.grad
    return results


def loss_curve(
    example: ModuleType, device: str, dtype: torch.dtype, noise: Noise | None = None, steps: int = 6
) -> Results:
    """The losses of the first steps of plain gradient descent."""
    model = _without_dropout(example.make_model(seed=0)).to(device=device, dtype=dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    with noise(model) if noise else contextlib.nullcontext():
        for step in range(steps):
            loss = example.loss_of(model, *_to(example.make_batch(step), device, dtype))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return {"loss curve": torch.stack(losses)}


def embeddings(example: ModuleType, device: str, dtype: torch.dtype, noise: Noise | None = None) -> Results:
    model = example.make_model().to(device=device, dtype=dtype)
    batch = [part.to(device) for part in example.make_batch()]
    with torch.no_grad(), noise(model) if noise else contextlib.nullcontext():
        return {"embeddings": example.embed(model, *batch)}


def compared(compute: Callable[..., Results], example_name: str, precision: str) -> Case:
    """`compute` on the device in float32 at a matmul precision, against float64 on the CPU."""

    def case(device: str) -> list[Check]:
        example = importlib.import_module(example_name)
        exact, bounds = reference_and_bounds(
            lambda noise: compute(example, "cpu", torch.float64, noise), ROUNDOFF[precision]
        )
        with matmul_precision(precision):
            got = compute(example, device, torch.float32)
        return [within(name, got[name], exact[name], bounds[name]) for name in exact]

    return case


def same_neighbours(device: str) -> list[Check]:
    """The nearest neighbour of each sentence, at the device's default precision."""
    example = importlib.import_module("sentence_neighbours")
    want = example.neighbours(embeddings(example, "cpu", torch.float32)["embeddings"])
    got = example.neighbours(embeddings(example, device, torch.float32)["embeddings"].cpu())
    return [Check("neighbours", 0.0 if got == want else float("inf"), f"got {got}, expected {want}")]


STEPPED = (
    "digits_cnn",
    "gpt_characters",
    "resnet18",
    "llama_block",
    "vit",
    "unet",
    "bert",
    "t5",
    "whisper",
    "gru_tagger",
    "dlrm",
    "gnn",
    "mixture_of_experts",
    "diffusion_step",
)
"""The examples of which one step's gradients are compared."""

SEEDS = (0, 1, 2, 3)


def trained(example_name: str, measure: str, autocast: bool, **settings: int) -> Case:
    """What training reaches, over several seeds: the means agree within the noise of the seeds.

    The seeds' own spread (of both devices) states the noise: the means of n runs differ by about
    s * sqrt(2 / n); four times that is the bound.
    """

    def case(device: str) -> list[Check]:
        example = importlib.import_module(example_name)
        reached: dict[str, list[float]] = {}
        for where in ("cpu", device):
            reached[where] = [example.train(where, seed=seed, autocast=autocast, **settings)[measure] for seed in SEEDS]
        ours, theirs = reached[device], reached["cpu"]
        spread = max(statistics.stdev(ours), statistics.stdev(theirs))
        bound = 4 * spread * (2 / len(SEEDS)) ** 0.5
        difference = abs(statistics.mean(ours) - statistics.mean(theirs))
        note = (
            f"{device} {statistics.mean(ours):.4f}, cpu {statistics.mean(theirs):.4f}, "
            f"spread of {len(SEEDS)} seeds {spread:.4f}"
        )
        return [Check(measure, difference / max(bound, 1e-12), note)]

    return case


def model_cases() -> dict[str, Case]:
    """All cases by their stable dotted names."""
    cases: dict[str, Case] = {}
    for precision, label in (("highest", "float32.highest"), ("medium", "float32.default")):
        for example in STEPPED:
            cases[f"model.{example}.{label}.gradients"] = compared(gradients, example, precision)
        for example in ("digits_cnn", "gpt_characters"):
            cases[f"model.{example}.{label}.loss_curve"] = compared(loss_curve, example, precision)
        cases[f"model.sentence_neighbours.{label}.embeddings"] = compared(embeddings, "sentence_neighbours", precision)
    cases["model.sentence_neighbours.float32.default.neighbours"] = same_neighbours
    for autocast, label in ((False, "float32.default"), (True, "bfloat16.autocast")):
        cases[f"model.digits_cnn.{label}.accuracy"] = trained("digits_cnn", "accuracy", autocast, epochs=5)
        cases[f"model.gpt_characters.{label}.final_loss"] = trained(
            "gpt_characters", "final_loss", autocast, steps=24 if autocast else 80
        )
    return cases
