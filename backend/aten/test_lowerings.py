"""What samples of PyTorch's operator database do not show of the lowerings."""

import numpy
import pytest
import torch
from torch.nn import functional as F

DEVICE = "tpu"


def numbers(*shape: int, seed: int = 3) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_infinity_stays_in_its_bin():
    x = numbers(1, 2, 7, 7)
    x[0, 0, 0, 0], x[0, 1, 6, 6] = torch.inf, torch.nan
    for pool in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
        torch.testing.assert_close(pool(x.to(DEVICE), 3).cpu(), pool(x, 3), equal_nan=True)


@pytest.mark.parametrize("mode", ["replicate", "reflect", "circular"])
@pytest.mark.parametrize("pad", [(1, 2, 0, 1), (4, 4, 3, 3), (-1, 2, 1, -1)])
def test_gradient_of_padding(mode, pad):
    grads = []
    for device in ("cpu", DEVICE):
        leaf = numbers(2, 3, 5, 6).to(device).requires_grad_()
        padded = F.pad(leaf, pad, mode=mode)
        padded.backward(numbers(*padded.shape, seed=5).to(device))
        grads.append(leaf.grad.cpu())
    torch.testing.assert_close(grads[1], grads[0])


@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "bilinear", "bicubic", "area"])
@pytest.mark.parametrize("size", [(3, 4), (9, 13), (5, 6), (1, 1)])
def test_resizing_up_and_down(mode, size):
    results = []
    for device in ("cpu", DEVICE):
        x = numbers(2, 3, 5, 6).to(device).requires_grad_()
        y = F.interpolate(x, size=size, mode=mode)
        y.backward(numbers(*y.shape, seed=5).to(device))
        results.append((y.detach().cpu(), x.grad.cpu()))
    torch.testing.assert_close(results[1], results[0])


def test_pooling_takes_the_first_maximum_and_the_last_nan():
    x = torch.zeros(1, 1, 4, 4)
    x[0, 0, 3, 1], x[0, 0, 3, 2] = torch.nan, torch.nan
    for pool in (lambda t: F.max_pool2d(t, 2, return_indices=True), lambda t: F.adaptive_max_pool2d(t, 2, True)):
        want, got = pool(x), pool(x.to(DEVICE))
        assert torch.equal(got[1].cpu(), want[1])


def test_fractional_pooling_follows_its_samples():
    x, samples = numbers(2, 3, 9, 10), torch.rand(2, 3, 2, generator=torch.Generator().manual_seed(1))
    want = F.fractional_max_pool2d(x, 2, output_size=(4, 5), return_indices=True, _random_samples=samples)
    got = F.fractional_max_pool2d(
        x.to(DEVICE), 2, output_size=(4, 5), return_indices=True, _random_samples=samples.to(DEVICE)
    )
    assert all(torch.equal(a.cpu(), b) for a, b in zip(got, want, strict=True))


def test_an_infinite_gradient_skips_the_fused_step():
    parameter = torch.nn.Parameter(numbers(4).to(DEVICE))
    optimizer = torch.optim.Adam([parameter], lr=0.1, fused=True)
    scaler = torch.amp.GradScaler(DEVICE, init_scale=8.0)
    before = parameter.detach().clone()
    for factor in (torch.inf, 1.0):
        optimizer.zero_grad()
        scaler.scale((parameter * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        changed = not torch.equal(parameter.detach(), before)
        assert changed == (factor == 1.0)
    assert scaler.get_scale() == 4.0


def test_a_form_that_writes_what_the_functional_one_writes_too():
    x = numbers(6).to(DEVICE)
    noise = torch.zeros_like(x)
    y = torch.ops.aten.rrelu_with_noise_(x, noise, 0.25, 0.25, True)
    assert y is x
    negative = numbers(6) <= 0
    assert torch.equal(noise.cpu(), torch.where(negative, 0.25, 1.0))
    assert torch.equal(x.cpu(), torch.where(negative, numbers(6) * 0.25, numbers(6)))


def test_order_statistics_of_ties_and_nans():
    x = torch.tensor([[3.0, 1.0, 3.0, 1.0], [2.0, torch.nan, 0.0, 5.0], [7.0, 7.0, 7.0, 7.0]])
    for function in (torch.median, torch.nanmedian, torch.mode):
        want, got = function(x, 1), function(x.to(DEVICE), 1)
        torch.testing.assert_close(got.values.cpu(), want.values, equal_nan=True)
    assert torch.mode(x.to(DEVICE), 1).indices.cpu().tolist()[0] == 3
    assert torch.equal(x.nanmedian(), x.to(DEVICE).nanmedian().cpu())


def test_multinomial_follows_its_weights():
    torch.manual_seed(0)
    weights = torch.tensor([0.0, 1.0, 3.0], device=DEVICE)
    drawn = torch.bincount(torch.multinomial(weights, 4000, replacement=True), minlength=3).cpu()
    assert drawn[0] == 0
    assert 2800 < drawn[2] < 3200
    each = torch.multinomial(weights.expand(2000, 3), 2)
    assert bool((each != 0).all())
    assert bool((each[:, 0] != each[:, 1]).all())
    assert 1400 < int((each[:, 0] == 2).sum()) < 1600
    with pytest.raises(RuntimeError, match="sum of probabilities"):
        torch.multinomial(torch.zeros(3, device=DEVICE), 1).cpu()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_empty_and_padded(mode):
    indices, offsets = torch.tensor([1, 2, 4, 5, 4, 2]), torch.tensor([0, 3, 3, 5])
    results = []
    for device in ("cpu", DEVICE):
        leaf = numbers(7, 3).to(device).requires_grad_()
        bags = F.embedding_bag(indices.to(device), leaf, offsets.to(device), mode=mode, padding_idx=2)
        bags.backward(numbers(4, 3, seed=5).to(device))
        results.append((bags.detach().cpu(), leaf.grad.cpu()))
    torch.testing.assert_close(results[1], results[0])
    nine, start = torch.tensor([9], device=DEVICE), torch.tensor([0], device=DEVICE)
    with pytest.raises(IndexError):
        F.embedding_bag(nine, numbers(7, 3).to(DEVICE), start).cpu()


def test_remainders_of_any_size():
    generator = torch.Generator().manual_seed(7)
    exponents = torch.randint(-140, 120, (2, 4096), generator=generator).double()
    x, y = (torch.randn(2, 4096, generator=generator).double() * 2**exponents).float()
    y[:4] = torch.tensor([0.0, torch.inf, torch.nan, 1.0])
    # The CPU's own vector kernel gives NaN for quotients beyond 2^127; numbers of float32 are exact in float64.
    want = torch.from_numpy(numpy.fmod(x.double().numpy(), y.double().numpy())).float()
    assert torch.equal(torch.fmod(x.to(DEVICE), y.to(DEVICE)).cpu().nan_to_num(7), want.nan_to_num(7))
    with_sign = torch.where((want != 0) & ((want < 0) != (y < 0)), want + y, want)
    assert torch.equal(torch.remainder(x.to(DEVICE), y.to(DEVICE)).cpu().nan_to_num(7), with_sign.nan_to_num(7))
