"""Random numbers: reproducible, different from each other, and of the distribution that was asked for.

Statistics of n draws lie within 6 standard errors of their expectation with probability 1 - 2e-9; a
device's stream is fixed by the seed, so a case that passes once passes again.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.nn import functional as F

from ..sources.own_cases import own
from ..trial import Trial
from . import FLOATS

N = 100_000
ERRORS = 6.0

Draw = Callable[[torch.device], torch.Tensor]

DRAWS: dict[str, Draw] = {
    "rand": lambda d: torch.rand(64, device=d),
    "randn": lambda d: torch.randn(64, device=d),
    "randint": lambda d: torch.randint(0, 1 << 20, (64,), device=d),
    "randperm": lambda d: torch.randperm(257, device=d),
    "uniform": lambda d: torch.empty(64, device=d).uniform_(-2, 3),
    "normal": lambda d: torch.empty(64, device=d).normal_(1, 2),
    "bernoulli": lambda d: torch.bernoulli(torch.full((256,), 0.4, device=d)),
    "dropout": lambda d: F.dropout(torch.ones(256, device=d), 0.3),
    "exponential": lambda d: torch.empty(64, device=d).exponential_(),
    "multinomial": lambda d: torch.multinomial(torch.ones(50, device=d), 20),
    "rand_like": lambda d: torch.rand_like(torch.ones(8, 8, device=d)),
    "randn_like": lambda d: torch.randn_like(torch.ones(8, 8, device=d).t()),
    "cauchy": lambda d: torch.empty(64, device=d).cauchy_(),
    "geometric": lambda d: torch.empty(64, device=d).geometric_(0.2),
    "log_normal": lambda d: torch.empty(64, device=d).log_normal_(),
    "random": lambda d: torch.empty(64, dtype=torch.int64, device=d).random_(0, 1 << 16),
    "poisson": lambda d: torch.poisson(torch.full((64,), 4.0, device=d)),
    "rrelu": lambda d: F.rrelu(-torch.ones(64, device=d), training=True),
}


def _define(name: str, draw: Draw) -> None:
    @own(f"random.{name}.seeded.repeats")
    def repeats(t: Trial, dtype: torch.dtype) -> None:
        torch.manual_seed(1234)
        first, second = draw(t.device), draw(t.device)
        torch.manual_seed(1234)
        again = draw(t.device)
        t.record(first)
        t.require(torch.equal(first, again), "value", "the same seed gave other numbers")
        t.require(not torch.equal(first, second), "value", "two draws in a row are equal: the seed does not advance")
        torch.manual_seed(1235)
        t.require(not torch.equal(first, draw(t.device)), "value", "another seed gave the same numbers")

    @own(f"random.{name}.forked.restored")
    def forked(t: Trial, dtype: torch.dtype) -> None:
        kind = t.device.type
        torch.manual_seed(7)
        with torch.random.fork_rng(devices=[0] if kind != "cpu" else [], device_type=kind if kind != "cpu" else "cuda"):
            inside = draw(t.device)
            draw(t.device)
        t.require(torch.equal(inside, draw(t.device)), "value", "fork_rng did not restore the state")


for _name, _draw in DRAWS.items():
    _define(_name, _draw)


def _mean(t: Trial, values: torch.Tensor, mean: float, deviation: float, what: str = "mean") -> None:
    error = deviation / math.sqrt(values.numel())
    got = float(values.double().mean())
    t.require(
        abs(got - mean) <= ERRORS * error,
        "value",
        f"{what} of {values.numel()} draws is {got}, expected {mean} +- {ERRORS * error:.3g}",
    )


def _moments(t: Trial, x: torch.Tensor, mean: float, deviation: float, fourth: float = 3.0) -> None:
    """Mean and variance; `fourth` is the kurtosis, which a variance's error follows from."""
    x = x.cpu().double().reshape(-1)
    _mean(t, x, mean, deviation)
    _mean(t, (x - mean) ** 2, deviation**2, deviation**2 * math.sqrt(max(fourth - 1, 0.1)), "variance")
    half = x.numel() // 2
    product = (x[:half] - mean) * (x[half : 2 * half] - mean)
    _mean(t, product, 0.0, deviation**2, "covariance of two halves")
    neighbours = (x[:-1] - mean) * (x[1:] - mean)
    _mean(t, neighbours, 0.0, deviation**2, "covariance of neighbours")


@own("random.uniform.moments.statistics", FLOATS)
def uniform(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(11)
    x = torch.empty(N, dtype=dtype, device=t.device).uniform_(-2, 3)
    t.require(bool((x >= -2).all()) and bool((x <= 3).all()), "value", "outside of the range")
    if dtype == torch.float32:
        t.require(bool((x < 3).all()), "value", "the upper end is not part of the range")
        t.require(x.unique().numel() > N * 0.97, "value", "too few different numbers")
    _moments(t, x, 0.5, 5 / math.sqrt(12), 1.8)
    tenths = torch.histc(x.cpu().float(), 10, -2, 3).double() / N
    t.require(
        bool((tenths - 0.1).abs().max() < ERRORS * math.sqrt(0.09 / N) + 0.004 * (dtype != torch.float32)),
        "value",
        f"tenths {tenths.tolist()}",
    )


@own("random.rand.moments.statistics")
def rand(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(12)
    x = torch.rand(N, device=t.device)
    t.require(bool((x >= 0).all()) and bool((x < 1).all()), "value", "outside of [0, 1)")
    _moments(t, x, 0.5, 1 / math.sqrt(12), 1.8)


@own("random.normal.moments.statistics", FLOATS)
def normal(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(13)
    x = torch.empty(N, dtype=dtype, device=t.device).normal_(1, 2)
    _moments(t, x, 1, 2)
    z = (x.cpu().double() - 1) / 2
    _mean(t, z**3, 0, math.sqrt(15), "third moment")
    _mean(t, z**4, 3, math.sqrt(96), "fourth moment")
    inside = (z.abs() < 1).double()
    _mean(t, inside, 0.6826895, 0.47, "share within one deviation")


@own("random.normal.tensors.statistics")
def normal_of_tensors(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(14)
    mean = torch.arange(4.0, device=t.device).repeat(N // 4)
    x = torch.normal(mean, torch.full_like(mean, 0.5))
    _moments(t, x - mean, 0, 0.5)


@own("random.randint.moments.statistics", (torch.int64, torch.int32))
def randint(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(15)
    x = torch.randint(-3, 7, (N,), dtype=dtype, device=t.device)
    t.require(
        int(x.min()) == -3 and int(x.max()) == 6, "value", f"range {int(x.min())}..{int(x.max())}, expected -3..6"
    )
    counts = torch.bincount(x.cpu().long() + 3, minlength=10).double() / N
    t.require(bool((counts - 0.1).abs().max() < ERRORS * math.sqrt(0.09 / N)), "value", f"shares {counts.tolist()}")


@own("random.randperm.permutation.statistics")
def randperm(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(16)
    x = torch.randperm(5000, device=t.device)
    t.require(torch.equal(x.cpu().sort().values, torch.arange(5000)), "value", "no permutation")
    firsts = torch.stack([torch.randperm(8, device=t.device)[0] for _ in range(800)]).cpu()
    shares = torch.bincount(firsts, minlength=8).double() / 800
    t.require(
        bool((shares - 0.125).abs().max() < ERRORS * math.sqrt(0.11 / 800)),
        "value",
        f"first elements {shares.tolist()}",
    )


@own("random.bernoulli.moments.statistics")
def bernoulli(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(17)
    for p in (0.1, 0.5, 0.93):
        x = torch.empty(N, device=t.device).bernoulli_(p)
        t.require(bool(((x == 0) | (x == 1)).all()), "value", "neither 0 nor 1")
        _mean(t, x.cpu(), p, math.sqrt(p * (1 - p)))
    ends = torch.bernoulli(torch.tensor([0.0, 1.0], device=t.device).repeat(500))
    t.require(
        torch.equal(ends.cpu(), torch.tensor([0.0, 1.0]).repeat(500)), "value", "probabilities 0 and 1 are certain"
    )


@own("random.dropout.moments.statistics", FLOATS)
def dropout(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(18)
    x = torch.ones(N, dtype=dtype, device=t.device, requires_grad=True)
    y = F.dropout(x, 0.25)
    kept = (y != 0).float().cpu()
    _mean(t, kept, 0.75, math.sqrt(0.1875))
    scale = torch.tensor(1 / 0.75, dtype=torch.float64)
    t.close(y[y != 0].max(), scale)
    y.sum().backward()
    assert x.grad is not None
    t.require(torch.equal(x.grad != 0, y != 0), "value", "the gradient has another mask")
    t.require(bool((F.dropout(x, 0.25, training=False) == 1).all()), "value", "dropout in evaluation")
    t.require(bool((F.dropout(x, 1.0) == 0).all()), "value", "dropout of everything")


@own("random.exponential.moments.statistics")
def exponential(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(19)
    x = torch.empty(N, device=t.device).exponential_(2.0)
    t.require(bool((x >= 0).all()), "value", "negative")
    _moments(t, x, 0.5, 0.5, 9)


@own("random.geometric.moments.statistics")
def geometric(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(20)
    x = torch.empty(N, device=t.device).geometric_(0.3)
    t.require(bool((x >= 1).all()) and bool((x == x.floor()).all()), "value", "no counts from 1 on")
    _mean(t, x.cpu(), 1 / 0.3, math.sqrt(0.7) / 0.3)


@own("random.cauchy.median.statistics")
def cauchy(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(21)
    x = torch.empty(N, device=t.device).cauchy_(1, 2).cpu()
    _mean(t, (x < 1).double(), 0.5, 0.5, "share below the median")
    _mean(t, (x < 3).double(), 0.75, 0.433, "share below the third quartile")


@own("random.log_normal.moments.statistics")
def log_normal(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(22)
    _moments(t, torch.empty(N, device=t.device).log_normal_(0.5, 0.25).log(), 0.5, 0.25)


@own("random.multinomial.shares.statistics")
def multinomial(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(23)
    weights = torch.tensor([1.0, 0.0, 3.0, 6.0], device=t.device)
    drawn = torch.multinomial(weights, 40000, replacement=True).cpu()
    shares = torch.bincount(drawn, minlength=4).double() / 40000
    want = torch.tensor([0.1, 0, 0.3, 0.6], dtype=torch.float64)
    t.require(bool((shares - want).abs().max() < ERRORS * 0.5 / 200), "value", f"shares {shares.tolist()}")
    once = torch.multinomial(torch.ones(30, device=t.device), 30).cpu()
    t.require(torch.equal(once.sort().values, torch.arange(30)), "value", "drawn twice without replacement")


@own("random.poisson.moments.statistics")
def poisson(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(24)
    _moments(t, torch.poisson(torch.full((N,), 4.0, device=t.device)), 4, 2, 3.25)


@own("random.generator.own.stream", features=("generators",))
def own_generator(t: Trial, dtype: torch.dtype) -> None:
    """A generator of one's own does not touch the default one."""
    generator = torch.Generator(device=t.device)
    generator.manual_seed(5)
    torch.manual_seed(6)
    a = torch.rand(16, device=t.device)
    torch.manual_seed(6)
    x = torch.rand(16, device=t.device, generator=generator)
    b = torch.rand(16, device=t.device)
    t.require(torch.equal(a, b), "value", "another generator moved the default stream")
    state = generator.get_state()
    y = torch.rand(16, device=t.device, generator=generator)
    generator.set_state(state)
    t.require(torch.equal(y, torch.rand(16, device=t.device, generator=generator)), "value", "set_state")
    generator.manual_seed(5)
    t.require(torch.equal(x, torch.rand(16, device=t.device, generator=generator)), "value", "manual_seed")
    t.require(generator.initial_seed() == 5, "value", f"initial_seed() is {generator.initial_seed()}")


@own("random.state.device.restored", features=("generators",))
def device_state(t: Trial, dtype: torch.dtype) -> None:
    module = getattr(torch, t.device.type)
    if not hasattr(module, "get_rng_state"):
        module = torch
    torch.manual_seed(3)
    torch.rand(5, device=t.device)
    state = module.get_rng_state()
    a = torch.rand(33, device=t.device)
    module.set_rng_state(state)
    t.require(torch.equal(a, torch.rand(33, device=t.device)), "value", "set_rng_state(get_rng_state())")


@own("random.checkpoint.dropout.grad")
def checkpoint_repeats_dropout(t: Trial, dtype: torch.dtype) -> None:
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(8)
    x = torch.ones(512, device=t.device, requires_grad=True)
    y = checkpoint(lambda v: F.dropout(v, 0.5), x, use_reentrant=False)
    y.sum().backward()
    assert x.grad is not None
    t.require(torch.equal(x.grad, y.detach()), "value", "recomputation drew another mask")
