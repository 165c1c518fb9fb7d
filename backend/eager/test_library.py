"""Operators that PyTorch's CPU kernels run on the device's memory."""

import pytest
import torch

DEVICE = "tpu"


def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3), dtype=dtype)


def at_once(function, x: torch.Tensor) -> None:
    """With what the device finds out later."""
    function(x)
    torch.accelerator.synchronize()


def test_values_are_those_of_the_cpu():
    x = numbers(6, 6)
    for function in (torch.special.i0, torch.linalg.eigvalsh, torch.linalg.inv, torch.special.i1, torch.fft.fft):
        assert torch.equal(function(x.to(DEVICE)).cpu(), function(x)), function


def test_every_form_of_an_operator():
    x = numbers(5, 4)
    want = torch.i0(x)
    y = x.to(DEVICE)
    out = torch.empty(0, device=DEVICE)
    assert torch.equal(torch.i0(y.t()).cpu(), want.t())
    assert torch.i0(y, out=out).data_ptr() == out.data_ptr()
    assert torch.equal(out.cpu(), want)
    view = y[1:3]
    assert view.i0_() is view
    assert torch.equal(y.cpu(), torch.cat([x[:1], want[1:3], x[3:]]))


def test_results_lie_in_memory_as_on_the_cpu():
    x = numbers(4, 3)
    for on_cpu, on_device in zip(torch.linalg.svd(x), torch.linalg.svd(x.to(DEVICE)), strict=True):
        assert on_device.stride() == on_cpu.stride()
        assert torch.equal(on_device.cpu(), on_cpu)


def test_optional_operands_lists_and_numbers():
    weight, indices = numbers(7, 3), torch.tensor([1, 2, 4, 5, 4])
    offsets, each = torch.tensor([0, 3]), torch.rand(5, generator=torch.Generator().manual_seed(1))
    for factors in (None, each):
        want = torch.nn.functional.embedding_bag(indices, weight, offsets, mode="sum", per_sample_weights=factors)
        moved = None if factors is None else factors.to(DEVICE)
        got = torch.nn.functional.embedding_bag(
            indices.to(DEVICE), weight.to(DEVICE), offsets.to(DEVICE), mode="sum", per_sample_weights=moved
        )
        torch.testing.assert_close(got.cpu(), want)
    x = numbers(3, 8)
    assert torch.equal(torch.histc(x.to(DEVICE), 5, -1.5, 1.25).cpu(), torch.histc(x, 5, -1.5, 1.25))


def test_random_ones_follow_the_devices_generator():
    rates = torch.full((200,), 4.0, device=DEVICE)
    torch.manual_seed(5)
    first, second = torch.poisson(rates).cpu(), torch.poisson(rates).cpu()
    torch.manual_seed(5)
    assert torch.equal(torch.poisson(rates).cpu(), first)
    assert not torch.equal(first, second)
    assert 3.4 < first.mean() < 4.6


def test_bad_arguments_raise_what_the_cpu_raises():
    x = numbers(2, 3).to(DEVICE)
    for bad in (lambda t: torch.linalg.inv(t), lambda t: torch.linalg.cholesky(t), lambda t: torch.histc(t, -1)):
        with pytest.raises(RuntimeError) as on_cpu:
            bad(x.cpu())
        with pytest.raises(RuntimeError) as on_device:
            at_once(bad, x)
        assert str(on_cpu.value).splitlines()[0] in str(on_device.value)
    assert torch.equal((x + 1).cpu(), x.cpu() + 1)


def test_sizes_that_depend_on_the_data():
    x = torch.tensor([[1, 2], [1, 2], [3, 0], [1, 2]])
    got = torch.unique(x.to(DEVICE), dim=0, return_inverse=True, return_counts=True)
    want = torch.unique(x, dim=0, return_inverse=True, return_counts=True)
    assert all(torch.equal(a.cpu(), b) for a, b in zip(got, want, strict=True))
    assert torch.equal(torch.unique_consecutive(x.to(DEVICE), dim=0).cpu(), torch.unique_consecutive(x, dim=0))


def test_lazy_conjugates_are_resolved():
    a, b = numbers(3, 3, dtype=torch.complex64), numbers(3, dtype=torch.complex64)
    torch.testing.assert_close(torch.dot(a.to(DEVICE)[0].conj(), b.to(DEVICE)).cpu(), torch.dot(a[0].conj(), b))
    torch.testing.assert_close(torch.mv(a.to(DEVICE).mH, b.to(DEVICE)).cpu(), torch.mv(a.mH, b))


def test_operators_that_pytorch_composes_keep_their_gradient():
    x = numbers(4).to(DEVICE).requires_grad_()
    x.square().sum().backward()
    assert torch.equal(x.grad.cpu(), 2 * x.detach().cpu())
