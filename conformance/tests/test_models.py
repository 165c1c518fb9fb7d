"""The suite accepts the CPU against itself and rejects wrong results."""

import pathlib
import sys

import pytest
import torch
from torch_conformance.checks import within
from torch_conformance.model_cases import compared, gradients, model_cases

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))


@pytest.mark.parametrize("precision", ["highest", "medium"])
def test_the_cpu_conforms(precision):
    for check in compared(gradients, "llama_block", precision)("cpu"):
        assert check.passed, (check.name, check.margin, check.note)


def test_bounds_are_tight_enough_to_see_one_dropped_scale():
    """RMSNorm that forgets eps, softmax off by 0.1 %: what a wrong kernel looks like."""
    softmax = torch.nn.functional.scaled_dot_product_attention

    def wrong(*args, **kwargs):
        return softmax(*args, **kwargs) * 1.001

    torch.nn.functional.scaled_dot_product_attention = wrong
    try:
        checks = compared(
            lambda example, device, dtype, noise=None: (
                gradients(example, device, dtype, noise)
                if dtype == torch.float32
                else right(example, device, dtype, noise)
            ),
            "llama_block",
            "highest",
        )("cpu")
    finally:
        torch.nn.functional.scaled_dot_product_attention = softmax
    assert not all(check.passed for check in checks)


def right(example, device, dtype, noise):
    """The reference side, with the true function."""
    wrong = torch.nn.functional.scaled_dot_product_attention
    torch.nn.functional.scaled_dot_product_attention = torch._C._nn.scaled_dot_product_attention
    try:
        return gradients(example, device, dtype, noise)
    finally:
        torch.nn.functional.scaled_dot_product_attention = wrong


def test_a_nan_or_a_shape_never_passes():
    want, bound = torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)
    assert not within("nan", torch.tensor([0.0, float("nan"), 0.0]), want, bound).passed
    assert not within("shape", torch.zeros(2), want, bound).passed
    assert within("same", torch.zeros(3), want, bound).margin == 0.0


def test_names_are_stable():
    assert len(model_cases()) == 39
    assert all(name.startswith("model.") for name in model_cases())
