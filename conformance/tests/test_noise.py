"""The rule: it accepts what is right however it is computed, and rejects what is slightly wrong."""

import math

import pytest
import torch
from torch.nn import functional as F
from torch_conformance.adapter import from_table
from torch_conformance.oracle.noise import arithmetic_for, spread_of
from torch_conformance.trial import CheckError, Trial


def trial(**more):
    adapter = from_table({"device": "cpu", **more}, "test")
    return Trial(torch.device("cpu"), adapter, "default")


def judge(got, compute, *operands, matmul="float32"):
    """The margin of `got` against `compute` in float64."""
    wide = [x.double() for x in operands]
    exact = [compute(*wide)]
    arithmetic = arithmetic_for(got.dtype, matmul)
    t = trial()
    t.all_close([got], exact, lambda runs: spread_of(lambda: [compute(*wide)], exact, arithmetic, runs))
    return t.margin


def numbers(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_sums_in_any_order_are_right(dtype):
    x = numbers(2000, dtype=dtype)
    assert judge(x.sum(), lambda x: x.sum(), x) <= 1
    one_by_one = torch.zeros((), dtype=torch.float32)
    for value in x.float():
        one_by_one = one_by_one + value
    assert judge(one_by_one.to(dtype), lambda x: x.sum(), x) <= 1


def test_a_sum_that_lost_one_element_is_wrong():
    x = numbers(2000)
    with pytest.raises(CheckError):
        judge(x[:-1].sum(), lambda x: x.sum(), x)


def test_a_long_sum_in_a_narrow_accumulator_is_wrong():
    x = torch.ones(3000, dtype=torch.bfloat16)
    total = torch.zeros((), dtype=torch.bfloat16)
    for value in x:
        total = total + value
    with pytest.raises(CheckError):
        judge(total, lambda x: x.sum(), x)


def test_cancellation_widens_the_bound():
    a = torch.tensor([1.0, 1e-3])
    got = (1 + a * 2.0**-12) - 1
    assert judge(got, lambda a: (1 + a * 2.0**-12) - 1, a) <= 1
    with pytest.raises(CheckError):
        judge(a * 2.0**-12 * (1 + 1e-5), lambda a: a * 2.0**-12, a)


@pytest.mark.parametrize("matmul", ["float32", "tf32", "bfloat16x3", "bfloat16"])
def test_products_are_judged_by_the_declared_precision(matmul):
    bits, too_few = {"float32": (24, 12), "tf32": (11, 6), "bfloat16x3": (16, 10), "bfloat16": (8, 4)}[matmul]

    def narrowed(x, bits):
        mantissa, exponent = torch.frexp(x)
        return torch.ldexp((mantissa * 2.0**bits).round() / 2.0**bits, exponent)

    a, b = numbers(20, 300, seed=1), numbers(300, 10, seed=2)
    assert judge(narrowed(a, bits) @ narrowed(b, bits), torch.mm, a, b, matmul=matmul) <= 1
    with pytest.raises(CheckError):
        judge(narrowed(a, too_few) @ narrowed(b, too_few), torch.mm, a, b, matmul=matmul)


def test_a_product_that_lost_a_column_is_wrong():
    a, b = numbers(20, 64, seed=1), numbers(64, 10, seed=2)
    with pytest.raises(CheckError):
        judge(a[:, :-1] @ b[:-1], torch.mm, a, b, matmul="bfloat16")


def test_softmax_and_layer_norm_slightly_off_are_wrong():
    x = numbers(8, 32)
    assert judge(x.softmax(-1), lambda x: x.softmax(-1), x) <= 1
    with pytest.raises(CheckError):
        judge(x.softmax(-1) * 1.0001, lambda x: x.softmax(-1), x)
    assert judge(F.layer_norm(x, (32,)), lambda x: F.layer_norm(x, (32,)), x) <= 1
    with pytest.raises(CheckError):
        judge(F.layer_norm(x, (32,), eps=1e-3), lambda x: F.layer_norm(x, (32,)), x)


def test_a_jump_is_not_judged_where_rounding_decides():
    x = torch.tensor([3.0])
    third = x / 3 * 3
    assert judge((third - 2**-23).floor(), lambda x: (x / 3 * 3).floor(), torch.tensor([3.0])) <= 1
    with pytest.raises(CheckError):
        judge(torch.tensor([2.0]), lambda x: (x + 0.5).floor(), torch.tensor([3.0]))


def test_special_values_are_exact():
    for got, want in ((math.nan, 1.0), (1.0, math.nan), (math.inf, 1.0), (-math.inf, math.inf)):
        with pytest.raises(CheckError):
            trial().close(torch.tensor([got]), torch.tensor([want], dtype=torch.float64))
    trial().close(torch.tensor([math.nan, math.inf]), torch.tensor([math.nan, math.inf], dtype=torch.float64))


def test_equal_sees_the_sign_of_zero_and_one_bit():
    with pytest.raises(CheckError):
        trial().equal(torch.tensor([0.0]), torch.tensor([-0.0]))
    with pytest.raises(CheckError):
        trial().equal(torch.tensor([1.0 + 2**-23]), torch.tensor([1.0]))
    trial().equal(torch.tensor([math.nan, 1.0]), torch.tensor([math.nan, 1.0]))
