"""How PyTorch's operators round: which ones do, and how much.

Every operator above is a program of leaf operators below the autograd layer. Each leaf is in one of
these classes; an unknown one is `Rounding.ELEMENTARY`.
"""

from __future__ import annotations

import enum
import functools
import math
from typing import Any

import torch

from ..words import words

aten = torch.ops.aten


class Rounding(enum.Enum):
    EXACT = "gives what it was given, or compares it"
    ELEMENTARY = "rounds each result; ill-conditioned where its derivative is large"
    LINEAR = "sums its operand; the error is measured by the sum of absolute values"
    PRODUCT = "sums products; the error is measured by |A| |B|"
    NORMWISE = "backward stable in the norm of its matrices, not componentwise"
    COORDINATES = "interpolates at positions computed as a multiple of a size"
    CANCELLING = "subtracts numbers as large as the products of its operands"
    SERIES = "a special function: a series or a continued fraction of dozens of terms"


_EXACT = words(
    """
    abs neg positive sign sgn signbit ceil floor round trunc frac fmod eq ne lt le gt ge equal isnan isinf isfinite
    isposinf isneginf logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not
    bitwise_left_shift bitwise_right_shift maximum minimum fmax fmin clamp clamp_min clamp_max max min amax amin
    aminmax argmax argmin cummax cummin _cummax_helper _cummin_helper sort topk kthvalue median nanmedian mode
    searchsorted bucketize unique_dim _unique2 unique_consecutive where masked_fill masked_scatter masked_select
    nonzero nonzero_static index_select gather take index index_fill index_copy scatter copy clone _to_copy to cat
    stack flip roll repeat repeat_interleave constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d
    replication_pad1d replication_pad2d replication_pad3d tril triu diag_embed diagonal_scatter select_scatter
    slice_scatter as_strided_scatter fill fill_ zero_ zeros ones full empty empty_like empty_strided new_empty
    new_empty_strided new_zeros new_ones new_full zeros_like ones_like full_like arange eye scalar_tensor lift_fresh
    lift_fresh_copy _local_scalar_dense relu threshold hardtanh max_pool2d_with_indices max_pool3d_with_indices
    adaptive_max_pool2d adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d max_unpool2d max_unpool3d
    embedding channel_shuffle pixel_shuffle pixel_unshuffle native_channel_shuffle im2col bernoulli heaviside any
    all copysign nextafter isin tril_indices triu_indices bincount nan_to_num complex view_as_real view_as_complex
    _conj_physical conj_physical real imag resolve_conj resolve_neg zeros_like_ masked_select_backward _pin_memory
    _unsafe_view unsafe_split unsafe_split_with_sizes unsafe_chunk contiguous clone_ rot90 block_diag one_hot put
    index_put tensor_split narrow_copy pad_sequence
    """
)

_LINEAR = words(
    """
    sum nansum mean cumsum trace index_add scatter_add index_put_accumulate avg_pool2d avg_pool3d
    _adaptive_avg_pool2d _adaptive_avg_pool3d col2im embedding_dense_backward upsample_nearest1d_backward
    upsample_nearest2d_backward upsample_nearest3d_backward max_pool2d_with_indices_backward _embedding_bag
    im2col_backward
    """
)

_PRODUCT = words(
    """
    mm _foreach_mm bmm addbmm dot vdot mv linear matmul convolution convolution_backward _convolution _trilinear
    _cdist_forward_ convolution_overrideable mkldnn_convolution slow_conv3d thnn_conv2d einsum _conv_depthwise2d
    slow_conv_transpose2d slow_conv_dilated2d _slow_conv2d_forward _slow_conv2d_backward slow_conv3d_forward
    slow_conv_dilated3d slow_conv_transpose3d
    """
)

_NORMWISE = words(
    """
    _linalg_svd linalg_eig _linalg_eigvals linalg_eigvals _linalg_eigh linalg_cholesky_ex cholesky linalg_qr geqrf
    orgqr linalg_householder_product linalg_lu_factor_ex linalg_lu linalg_lu_solve lu_unpack _linalg_solve_ex
    linalg_inv_ex inverse _linalg_det _linalg_slogdet linalg_lstsq linalg_ldl_factor_ex linalg_ldl_solve
    linalg_solve_triangular linalg_pinv triangular_solve cholesky_inverse cholesky_solve ormqr linalg_matrix_exp
    _fft_c2c _fft_r2c _fft_c2r _linalg_check_errors histc
    """
)

PRODUCTS_INSIDE = frozenset(["linalg_pinv"])
"""Of the matrix decompositions: those that multiply what they have decomposed, at the declared precision."""

_COORDINATES = words(
    """
    upsample_bilinear2d upsample_bicubic2d upsample_linear1d upsample_trilinear3d _upsample_bilinear2d_aa
    _upsample_bicubic2d_aa _upsample_lanczos2d_aa upsample_bilinear2d_backward upsample_bicubic2d_backward
    upsample_linear1d_backward upsample_trilinear3d_backward _upsample_bilinear2d_aa_backward
    _upsample_bicubic2d_aa_backward grid_sampler_2d grid_sampler_3d grid_sampler_2d_backward
    grid_sampler_3d_backward _grid_sampler_2d_cpu_fallback _grid_sampler_2d_cpu_fallback_backward
    """
)

# cos(n arccos x): the angle is off by u, and the cosine of n times it by n u.
_CHEBYSHEV = words(
    """
    special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v
    special_chebyshev_polynomial_w special_shifted_chebyshev_polynomial_t special_shifted_chebyshev_polynomial_u
    special_shifted_chebyshev_polynomial_v special_shifted_chebyshev_polynomial_w
    """
)

# dS = P (dP - sum(dO O)), and both terms are of the size of |dO| |V|: 0 where there is one key.
_ATTENTION = words(
    """
    _scaled_dot_product_flash_attention_for_cpu_backward _scaled_dot_product_attention_math_backward
    _scaled_dot_product_fused_attention_overrideable_backward
    """
)

_SERIES = words(
    """
    igamma igammac digamma polygamma lgamma special_zeta erfinv special_ndtri special_erfcx special_log_ndtr
    special_i0e special_i1 special_i1e i0 special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1
    special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1
    special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_airy_ai
    special_hermite_polynomial_h special_hermite_polynomial_he special_laguerre_polynomial_l
    special_legendre_polynomial_p
    """
)

NARROW = frozenset(
    words(
        """
    adaptive_avg_pool3d _adaptive_avg_pool3d addbmm index_reduce native_batch_norm _native_batch_norm_legit
    _batch_norm_with_update histc grid_sampler_2d grid_sampler_3d _unsafe_masked_index_put_accumulate index_put
    _index_put_impl_ _unsafe_index_put index_put_ scatter_add scatter_reduce index_add upsample_linear1d
    upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d segment_reduce
    """
    )
)
"""Operators whose kernels in PyTorch compute inside in the dtype that they store, so that everyone may."""

_CLASS_OF = {
    name: rounding
    for names, rounding in (
        (_EXACT, Rounding.EXACT),
        (_LINEAR, Rounding.LINEAR),
        (_PRODUCT, Rounding.PRODUCT),
        (_NORMWISE, Rounding.NORMWISE),
        (_COORDINATES, Rounding.COORDINATES),
        (_CHEBYSHEV, Rounding.CANCELLING),
        (_ATTENTION, Rounding.CANCELLING),
        # A density divides by the width of a bin, which is a difference of its edges.
        (["histogram", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"], Rounding.CANCELLING),
        (_SERIES, Rounding.SERIES),
    )
    for name in names
}


@functools.cache
def rounding_of(op: torch._ops.OpOverload) -> Rounding:
    """The class of a leaf operator; its in-place and out= forms are in the same one."""
    name = op._schema.name.split("::")[-1]
    for form in (name, name.removesuffix("_")):
        if form in _CLASS_OF:
            return _CLASS_OF[form]
    if name.endswith("_copy"):  # a view's copying twin
        return Rounding.EXACT
    return Rounding.ELEMENTARY


_ACCUMULATE = {"index_put": 3, "index_put_": 3, "_index_put_impl_": 3, "_unsafe_index_put": 3, "put": 3, "put_": 3}


def accumulates(op: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if a call that otherwise stores adds instead."""
    name = op._schema.name.split("::")[-1]
    if name not in _ACCUMULATE:
        return False
    return bool(args[_ACCUMULATE[name]] if len(args) > _ACCUMULATE[name] else kwargs.get("accumulate", False))


def is_narrow(op: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """True if even sums inside of the operator may be rounded to the result's dtype."""
    name = op._schema.name.split("::")[-1]
    if name.removeprefix("_foreach_").removesuffix("_") in ("add", "sub", "rsub"):
        # The scaled operand is a product of its own.
        return bool(kwargs.get("alpha", 1) != 1)
    if name in ("convolution", "_convolution", "convolution_overrideable"):
        return bool(args[6])  # transposed: scattered, not summed
    return name in NARROW or name.removesuffix("_backward") in NARROW


def fills_inexactly(op: torch._ops.OpOverload, args: tuple[Any, ...], roundoff: float) -> bool:
    """True if the operator stores a number that the dtype of this unit roundoff has to round."""
    if op._schema.name.split("::")[-1] not in ("fill", "fill_", "full", "full_like", "new_full", "scalar_tensor"):
        return False
    return any(isinstance(a, float) and not is_representable(a, roundoff) for a in args)


def is_representable(number: float, roundoff: float) -> bool:
    """Whether a dtype of this unit roundoff holds the number as it is."""
    return not math.isfinite(number) or (math.frexp(number)[0] / roundoff).is_integer()


@functools.cache
def is_view(op: torch._ops.OpOverload) -> bool:
    """True if a result shares an argument's memory without writing to it."""
    return any(ret.alias_info is not None and not ret.alias_info.is_write for ret in op._schema.returns)


def fan_in(inputs: list[torch.Tensor], outputs: list[torch.Tensor]) -> float:
    """About how many numbers go into one result."""
    largest = max((t.numel() for t in inputs), default=1)
    smallest = min((t.numel() for t in outputs if t.numel()), default=1)
    return max(1.0, largest / smallest)


def depth_of(op: torch._ops.OpOverload, args: tuple[Any, ...], outputs: list[torch.Tensor]) -> float:
    """The longest sum in a product: the contracted elements of one result."""
    name = op._schema.name.split("::")[-1]
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if name in ("mm", "bmm", "addmm", "baddbmm", "mv", "dot", "vdot", "addmv", "linear"):
        return float(max(1, tensors[-1].shape[-2] if tensors[-1].dim() > 1 else tensors[-1].shape[0]))
    return fan_in(tensors, outputs) if outputs else 1.0
