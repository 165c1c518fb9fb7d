"""One run of a case on the device: what it checks with, and what came of it."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch

from . import _core
from .oracle.noise import LARGE, RUNS, RUNS_OF_LARGE
from .tensors import as_doubles, as_integers, bits, dtype_name, host

if TYPE_CHECKING:
    from .adapter import Adapter

Spread = Callable[[int], list[torch.Tensor]]
"""Spreads of results, from a number of disturbed runs (oracle/noise.py)."""


class CheckError(Exception):
    """A check failed. `cause` groups failures: value, dtype, shape, device, layout, error, ..."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class NotApplicableError(Exception):
    """The case turned out not to exist: PyTorch itself refuses these arguments."""


class NotClaimedError(Exception):
    """The device has nothing of the kind that the case is about."""


@dataclasses.dataclass
class Trial:
    """`device` in one execution `mode`; checks raise `CheckError`."""

    device: torch.device
    adapter: Adapter
    mode: str
    margin: float = 0.0
    informative: bool = False
    """Whether the results compared were neither all 0 nor all NaN."""
    inputs: str = ""
    """Digest of what the results should depend on, if the case says so."""

    def __post_init__(self) -> None:
        self._hasher = hashlib.blake2b(digest_size=8)
        self._hashed = False

    @property
    def digest(self) -> str:
        """Of all results that were compared, or empty."""
        return self._hasher.hexdigest() if self._hashed else ""

    def record(self, result: torch.Tensor) -> None:
        """Makes the result's bits part of what modes are compared by."""
        self._hasher.update(bits(result))
        self._hashed = True
        if not self.informative and result.numel():
            values = host(result)
            unknown = values != values  # noqa: PLR0124 - NaN
            some = bool(unknown.any())
            self.informative = bool((~unknown & (values != 0)).any()) or (some and not bool(unknown.all()))

    # Checks ----------------------------------------------------------------------------------------

    def require(self, holds: bool, cause: str, message: str) -> None:
        if not holds:
            raise CheckError(cause, message)

    def require_claimed(self, tensors: Iterable[Any]) -> None:
        """The case is not the device's if one of its tensors has a dtype or layout that it does not claim."""
        for tensor in tensors:
            if isinstance(tensor, torch.Tensor) and not self.adapter.claims.holds(tensor):
                raise NotClaimedError(f"a tensor of {tensor.dtype}, {tensor.layout}")

    def same_metadata(self, got: Any, want: torch.Tensor, label: str = "result") -> None:
        """Type, device, dtype and shape."""
        self.require(isinstance(got, torch.Tensor), "type", f"{label} is a {type(got).__name__}, expected a tensor")
        self.require(got.device.type == self.device.type, "device", f"{label} is on {got.device}, not {self.device}")
        self.require(got.dtype == want.dtype, "dtype", f"{label} is {got.dtype}, expected {want.dtype}")
        self.require(
            got.shape == want.shape, "shape", f"{label} has shape {tuple(got.shape)}, expected {tuple(want.shape)}"
        )

    def close(
        self, got: torch.Tensor, exact: torch.Tensor, spread: Spread | None = None, label: str = "result"
    ) -> None:
        """Values within the rule's bound."""
        self.all_close([got], [exact], spread, label)

    def all_close(
        self, got: list[torch.Tensor], exact: list[torch.Tensor], spread: Spread | None = None, label: str = "result"
    ) -> None:
        """Values of each result within the rule's bound. `spread` is only asked for if rounding the
        results alone does not explain the differences, as most of the time it does; the margin is
        then measured with it."""
        self.require(len(got) == len(exact), "type", f"{len(got)} results, expected {len(exact)}")
        for result in got:
            self.record(result)
        widths: list[torch.Tensor] | None = None
        large = sum(reference.numel() for reference in exact) > LARGE
        for runs in (0, *(RUNS_OF_LARGE if large else RUNS)) if spread is not None else (0,):
            if runs:
                assert spread is not None
                widths = spread(runs)
            margins = [
                self._compare(result, reference, None if widths is None else widths[number])
                for number, (result, reference) in enumerate(zip(got, exact, strict=True))
            ]
            if all(comparison.margin <= 1 for comparison in margins):
                break
        for number, comparison in enumerate(margins):
            self._accept(comparison, f"{label} {number}" if len(got) > 1 else label)

    def equal(self, got: torch.Tensor, want: torch.Tensor, label: str = "result") -> None:
        """Metadata and bits; NaNs of any payload are one value, and -0.0 is not 0.0."""
        self.same_metadata(got, want, label)
        self.record(got)
        a, b = host(got), host(want)
        if bits(a) == bits(b):
            return
        if not a.dtype.is_floating_point and not a.is_complex():
            self._accept(self._compare(got, want, None), label)
        x, y = as_doubles(a), as_doubles(b)
        different = ~((x == y) | ((x != x) & (y != y)))  # noqa: PLR0124 - NaN
        signs = torch.from_numpy(x).signbit() != torch.from_numpy(y).signbit()
        different |= signs.numpy() & (x == y) & (x == 0)
        if different.any():
            at = int(different.argmax())
            raise CheckError("value", f"{label} at {at}: got {x[at]!r}, expected {y[at]!r} exactly")

    def raises(self, expected: type[BaseException] | tuple[type[BaseException], ...], call: Callable[[], Any]) -> str:
        """Requires that `call` fails, at once or when the device is waited for; returns the text."""
        try:
            call()
            self.synchronize()
        except expected as error:
            return str(error)
        except NotImplementedError:
            raise
        except Exception as error:
            raise CheckError(
                "error", f"raised {type(error).__name__} ({_first_line(error)}), expected {expected}"
            ) from None
        raise CheckError("error", f"raised nothing, expected {expected}")

    def synchronize(self) -> None:
        """Waits for the device."""
        self.adapter.synchronize()

    def _compare(self, got: torch.Tensor, exact: torch.Tensor, spread: torch.Tensor | None) -> Any:
        width = as_doubles(torch.zeros(0) if spread is None else spread)
        if not any(t.is_floating_point() or t.is_complex() for t in (got, exact)):
            return _core.compare_integers(as_integers(got), as_integers(exact), width)
        reference = exact.to(torch.complex128) if got.is_complex() else exact
        compare = _core.compare_complex if got.is_complex() else _core.compare_reals
        flushes = self.adapter.flushes_subnormals
        return compare(dtype_name(got.dtype), as_doubles(got), as_doubles(reference), width, flushes)

    def _accept(self, comparison: Any, label: str) -> None:
        self.margin = max(self.margin, comparison.margin)
        if comparison.margin > 1:
            raise CheckError("value", f"{label} {comparison.note} (margin {_margin_text(comparison.margin)})")


def _margin_text(margin: float) -> str:
    return "infinite" if math.isinf(margin) else f"{margin:.3g}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:200]
