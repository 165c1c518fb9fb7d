"""Bad input raises PyTorch's own exception, names what was wrong, and leaves the process usable."""

import re

import pytest
import torch
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def still_right():
    """After each error later results are right."""
    yield
    x = torch.arange(6.0, device="tpu").view(2, 3)
    assert (x * 2 + 1).sum().item() == 36.0
    assert (x @ x.t())[1, 1].item() == 50.0


def raises(kind, pattern):
    return pytest.raises(kind, match=pattern)


def settled(fn):
    """Errors found on the chip arrive at the next synchronisation."""
    result = fn()
    torch.accelerator.synchronize()
    return result


X = (2, 3)


def test_shapes_that_do_not_broadcast():
    text = r"size of tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1"
    with raises(RuntimeError, text):
        torch.ones(2, 3, device="tpu") + torch.ones(2, 4, device="tpu")


def test_shapes_of_a_product():
    with raises(RuntimeError, r"shapes cannot be multiplied \(2x3 and 2x3\)"):
        torch.ones(X, device="tpu") @ torch.ones(X, device="tpu")


def test_shapes_of_cat():
    with raises(RuntimeError, r"Sizes of tensors must match except in dimension 0"):
        torch.cat((torch.ones(2, 3, device="tpu"), torch.ones(2, 4, device="tpu")))


def test_in_place_result_larger_than_its_target():
    with raises(RuntimeError, r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        torch.ones(3, device="tpu").add_(torch.ones(2, 3, device="tpu"))


def test_in_place_result_of_another_kind():
    with raises(RuntimeError, r"result type Float can't be cast to the desired output type Long"):
        torch.ones(3, dtype=torch.int64, device="tpu").add_(0.5)


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x.index_select(0, torch.tensor([5], device="tpu")),
        lambda x: x[torch.tensor([0, 9], device="tpu")],
        lambda x: x.gather(1, torch.tensor([[3]], device="tpu")),
        lambda x: F.embedding(torch.tensor([2], device="tpu"), x),
        lambda x: x.index_put((torch.tensor([4], device="tpu"),), x[:1]),
    ],
    ids=["index_select", "indexing", "gather", "embedding", "index_put"],
)
def test_index_out_of_range(fn):
    x = torch.arange(6.0, device="tpu").view(X)
    with raises(IndexError, r"index out of range for dimension \d with size \d"):
        settled(lambda: fn(x))


def test_the_python_line_of_a_late_error_is_named():
    x = torch.arange(6.0, device="tpu")
    with raises(IndexError, re.escape("test_errors.py")):
        x.index_select(0, torch.tensor([6], device="tpu"))
        torch.accelerator.synchronize()


def test_an_in_place_write_out_of_range_changes_nothing():
    x = torch.zeros(3, device="tpu")
    with raises(IndexError, "out of range"):
        x.index_fill_(0, torch.tensor([1, 7], device="tpu"), 5.0)
        torch.accelerator.synchronize()
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_integer_division_by_zero():
    with raises(RuntimeError, "ZeroDivisionError"):
        settled(lambda: torch.ones(2, dtype=torch.int64, device="tpu") // 0)


def test_out_of_memory_lists_the_largest_holders():
    before = torch.tpu.emulator.hbm_capacity()
    torch.accelerator.synchronize()
    torch.accelerator.empty_cache()
    torch.tpu.emulator.set_hbm_capacity(64 << 20)
    try:
        held = torch.zeros(1024, 4096, device="tpu")
        with raises(torch.OutOfMemoryError, r"f32\[1024,4096\]|1024x4096xf32"):
            torch.zeros(8192, 4096, device="tpu")
        assert held.sum().item() == 0.0
    finally:
        torch.tpu.emulator.set_hbm_capacity(before)


def test_device_index():
    with raises(ValueError, "tpu:1"):
        torch.accelerator.set_device_index(1)


def test_unsupported_dtype():
    with raises(NotImplementedError, "ComplexHalf"):
        torch.zeros(2, dtype=torch.complex32, device="tpu")


def test_an_operator_without_lowering_is_named():
    with raises(NotImplementedError, "aten::_to_sparse"):
        torch.ones(2, 3, device="tpu").to_sparse()


def test_two_devices():
    with raises(RuntimeError, "Expected all tensors to be on the same device"):
        torch.ones(3, device="tpu") + torch.ones(3)


def test_write_to_expanded_memory():
    with raises(RuntimeError, "more than one element of the written-to tensor refers to a single memory location"):
        torch.zeros(2, 1, device="tpu").expand(2, 3).add_(1)


def test_subtraction_refuses_bools():
    x, mask = torch.ones(3, device="tpu"), torch.ones(3, dtype=torch.bool, device="tpu")
    for call in (lambda: x - mask, lambda: mask - x, lambda: mask - mask, lambda: x.sub_(mask)):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            call()
    assert (x - 1).tolist() == [0, 0, 0]


def test_a_negative_deviation_is_refused():
    with pytest.raises(RuntimeError, match=r"normal expects std >= 0\.0"):
        torch.empty(3, device="tpu").normal_(0, -1).cpu()
    assert torch.empty(3, device="tpu").normal_(2, 0).tolist() == [2, 2, 2]


def test_a_process_has_one_device():
    for make in (torch.ones, torch.empty, torch.arange):
        with pytest.raises(ValueError, match="one TPU"):
            make(2, device="tpu:7")
    with pytest.raises(ValueError, match="one TPU"):
        torch.ones(2).to("tpu:7")
    assert torch.ones(2, device="tpu:0").sum().item() == 2


def test_a_number_that_a_narrow_integer_does_not_hold():
    x = torch.tensor([1, 2], dtype=torch.uint8, device="tpu")
    for use in (lambda: x.clamp(max=300), lambda: x**300, lambda: x.to(torch.int8).fill_(-129)):
        with raises(RuntimeError, "without overflow"):
            use()
    assert (x + 300).tolist() == [45, 46]  # wrapped, as everywhere else
    assert (x == 257).tolist() == [True, False]


def test_what_the_device_has_not_is_named():
    x = torch.ones(3, device="tpu")
    with pytest.raises(NotImplementedError, match="sparse layouts"):
        x.to_sparse()
    with pytest.raises(NotImplementedError, match="sparse layouts"):
        torch.sparse_coo_tensor(torch.tensor([[0]]), torch.tensor([1.0]), device="tpu")
    with pytest.raises(NotImplementedError, match="quantized dtypes"):
        torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)
    with pytest.raises(NotImplementedError, match=r"nested tensors of layout torch\.strided"):
        torch.nested.nested_tensor([x, x]).mul(2)
    with pytest.raises(NotImplementedError, match="ComplexHalf"):
        torch.empty(3, dtype=torch.complex32, device="tpu")
    assert x.sum().item() == 3


def test_out_of_another_dtype_is_refused_where_the_cpu_refuses():
    x, index = torch.ones(3, device="tpu"), torch.zeros(1, dtype=torch.int64, device="tpu")
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double"):
        torch.gather(x, 0, index, out=torch.empty(1, dtype=torch.float64, device="tpu"))
    wide = torch.empty(3, dtype=torch.float64, device="tpu")
    assert torch.add(x, x, out=wide).tolist() == [2, 2, 2]
