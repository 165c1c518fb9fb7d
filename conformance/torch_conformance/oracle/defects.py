"""What PyTorch 2.13's own CPU kernels get wrong, found by this suite: cases that no device is asked."""

from __future__ import annotations

import fnmatch

DEFECTS: dict[str, str] = {
    "op.fft-ihfft2.out.*": "ihfft2 leaves out= unwritten for a single dimension",
    "op.fft-ihfftn.out.*": "ihfftn leaves out= unwritten for a single dimension",
    "corners.erf.special.bfloat16.*": "erf gives 0 for the smallest normal numbers in bfloat16",
    "op.matrix_exp.*.bfloat16.*": "matrix_exp gives NaN in bfloat16 (pytorch issue 114080)",
    "op.nn-functional-soft_margin_loss.*.float16.*": "soft_margin_loss takes exp(-x y) in float16, where it overflows",
    "op.renorm.*.complex64.grad*": "the gradient of renorm by the infinity norm is NaN in complex64",
    "op.matrix_exp.*.float16.*": "matrix_exp gives NaN in float16, as in bfloat16",
}
"""By pattern over case names; why."""


def defect_of(case: str) -> str | None:
    """Why PyTorch itself fails the case, or None."""
    for pattern, reason in DEFECTS.items():
        if fnmatch.fnmatchcase(case, pattern):
            return reason
    return None
