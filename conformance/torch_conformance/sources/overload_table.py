"""One call of each overload that PyTorch's databases do not reach, as arguments of `torch.ops.aten`.

An operator's out= and in-place forms take the same arguments and need no entry of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from ..oracle.operator import cotangent


@dataclasses.dataclass(frozen=True)
class Call:
    """`arguments()` makes (args, kwargs) anew, the same each time."""

    arguments: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]
    draws: bool = False
    """Results are random: shapes and dtypes are compared."""
    typed: bool = False
    """The reference is the CPU's result in the same dtype."""
    features: tuple[str, ...] = ()
    """What of a device's claims it needs."""


def call(*args: Any, draws: bool = False, typed: bool = False, features: tuple[str, ...] = (), **kwargs: Any) -> Call:
    """Tensors among the arguments are copied at each call."""
    return Call(lambda: (args, kwargs), draws, typed, features)


def x(*shape: int, salt: int = 0) -> torch.Tensor:
    """Numbers of both signs with magnitudes from 0.5 to 1, all but a few of them different."""
    ramp = torch.arange(1, torch.Size(shape).numel() + 1).double().reshape(shape)
    return (cotangent(torch.empty(shape), salt).double() * (1 + ramp / (8 * ramp.numel()))).float()


def positive(*shape: int, salt: int = 0) -> torch.Tensor:
    return x(*shape, salt=salt).abs()


def i(*values: Any, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.tensor(values[0] if len(values) == 1 and isinstance(values[0], list) else values, dtype=dtype)


def _spread(shape: tuple[int, ...], highest: int) -> torch.Tensor:
    """Indices below `highest`, each several times."""
    return (torch.arange(torch.Size(shape).numel()) * 7 % highest).reshape(shape)


def _resizing(name: str, sizes: list[int], to: list[int], *extra: Any) -> dict[str, Call]:
    """A resize of [2, 3, *sizes] and its gradient; one scale a dimension, not given."""
    scales = [None] * len(sizes)
    return {
        name: call(x(2, 3, *sizes), to, *extra, *scales),
        f"{name}_backward": call(x(2, 3, *to), to, [2, 3, *sizes], *extra, *scales),
    }


def _padding(name: str, sizes: list[int]) -> dict[str, Call]:
    padding = [1, 2] * len(sizes)
    return {
        name: call(x(2, 3, *sizes), padding),
        f"{name}_backward": call(x(2, 3, *(size + 3 for size in sizes)), x(2, 3, *sizes), padding),
    }


def _loss(name: str, *numbers: Any) -> dict[str, Call]:
    """Pointwise losses, without a reduction and averaged."""
    return {
        name: call(positive(4, 3, salt=1) / 2, positive(4, 3, salt=2) / 2, *_first(name), 1, *numbers),
        f"{name}_backward": call(
            x(4, 3), positive(4, 3, salt=1) / 2, positive(4, 3, salt=2) / 2, *_first(name), 0, *numbers
        ),
    }


def _first(name: str) -> tuple[Any, ...]:
    return (positive(3, salt=3),) if name == "binary_cross_entropy" else ()


def _pool_backward(name: str, dims: int, *middle: Any) -> Call:
    """The gradient of a max pooling with window and stride 2, whose maxima are where the table says."""
    whole, pooled = (4,) * dims, (2,) * dims
    return call(x(2, 3, *pooled), x(2, 3, *whole), *middle, _spread((2, 3, *pooled), 4**dims))


def _fused(*states: int, steps: int = 1) -> tuple[list[torch.Tensor], ...]:
    """Parameters, gradients and states of two tensors; states are positive."""
    shapes = ((3, 2), (4,))
    lists = [[x(*s, salt=n) for s in shapes] for n in (0, 1)]
    lists += [[positive(*s, salt=n) for s in shapes] if n else [] for n in states]
    return (*lists, *([[torch.tensor(3.0) for _ in shapes]] * steps))


_ADAM: dict[str, Any] = {"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-6, "maximize": False}
_SGD: dict[str, Any] = {"weight_decay": 0.1, "momentum": 0.9, "dampening": 0.1, "nesterov": True, "maximize": False}
_ADAGRAD: dict[str, Any] = {"lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-6, "maximize": False}
_BOTH: dict[str, Any] = {"grad_scale": torch.tensor(4.0), "found_inf": torch.tensor(0.0)}
_BAGS = (i(0, 2, 1, 2, 4, 0), i(0, 2, 2, 5))
_SHIFT = (i(8, -8, 3, 1), i(1, 2, 0, 3))
_STATISTICS = (positive(3, salt=4), x(3, salt=5))

TABLE: dict[str, Call] = {
    # Integers and booleans.
    "__lshift__.Scalar": call(_SHIFT[0], 2),
    "__rshift__.Scalar": call(_SHIFT[0], 2),
    "__ilshift__.Scalar": call(_SHIFT[0], 2),
    "__irshift__.Scalar": call(_SHIFT[0], 2),
    "__ilshift__.Tensor": call(*_SHIFT),
    "__irshift__.Tensor": call(*_SHIFT),
    "eq.Scalar": call(_SHIFT[0], 3),
    "ne.Scalar": call(_SHIFT[0], 3),
    "lt.Scalar": call(_SHIFT[0], 3),
    "le.Scalar": call(_SHIFT[0], 3),
    "gt.Scalar": call(_SHIFT[0], 3),
    "ge.Scalar": call(_SHIFT[0], 3),
    "remainder.Scalar_Tensor": call(7, i(3, -3, 5)),
    "pow.Scalar": call(2, i(3, 0, 5)),
    "_int_mm": call(i([[1, -2], [3, 4]], dtype=torch.int8), i([[5, 6], [-7, 8]], dtype=torch.int8)),
    # Elementwise.
    "_add_relu.Tensor": call(x(4, 3), x(4, 3, salt=1), alpha=2),
    "_add_relu.Scalar": call(x(4, 3), 0.25, 2),
    "clamp": call(x(4, 3), -0.7, 0.6),
    "clamp_min": call(x(4, 3), -0.7),
    "clamp_max": call(x(4, 3), 0.6),
    "elu": call(x(4, 3), 1.5, 1.25, 0.75),
    "elu_backward": call(x(4, 3), 1.5, 1.25, 0.75, False, x(4, 3, salt=1)),
    "gelu_backward": call(x(4, 3), x(4, 3, salt=1), approximate="tanh"),
    "glu": call(x(4, 6), 1),
    "glu_backward": call(x(4, 3), x(4, 6, salt=1), 1),
    "glu_jvp": call(x(4, 3), x(4, 6, salt=1), x(4, 6, salt=2), 1),
    "glu_backward_jvp": call(x(4, 6), x(4, 3, salt=1), x(4, 6, salt=2), x(4, 3, salt=3), x(4, 6, salt=4), 1),
    "hardshrink_backward": call(x(4, 3), x(4, 3, salt=1), 0.6),
    "hardsigmoid": call(3 * x(4, 3)),
    "hardsigmoid_backward": call(x(4, 3), 3.5 * x(4, 3, salt=1)),
    "hardswish": call(3.5 * x(4, 3)),
    "hardtanh": call(x(4, 3), -0.75, 0.75),
    "hardtanh_backward": call(x(4, 3), x(4, 3, salt=1), -0.75, 0.75),
    "leaky_relu": call(x(4, 3), 0.1),
    "leaky_relu_backward": call(x(4, 3), x(4, 3, salt=1), 0.1, False),
    "log_sigmoid_backward": call(x(4, 3), x(4, 3, salt=1), torch.exp(-x(4, 3, salt=1).abs())),
    "logit_backward": call(x(4, 3), positive(4, 3, salt=1) / 2, 0.3),
    "mish": call(x(4, 3)),
    "sigmoid_backward": call(x(4, 3), positive(4, 3) / 2),
    "silu": call(x(4, 3)),
    "silu_backward": call(x(4, 3), x(4, 3, salt=1)),
    "softplus_backward": call(x(4, 3), x(4, 3, salt=1), 2, 1.4),
    "softshrink_backward": call(x(4, 3), x(4, 3, salt=1), 0.6),
    "tanh_backward": call(x(4, 3), positive(4, 3) / 2),
    "threshold": call(x(4, 3), 0.6, -7),
    "threshold_backward": call(x(4, 3), x(4, 3, salt=1), 0.6),
    "rrelu_with_noise": call(x(4, 3), torch.ones(4, 3), 0.1, 0.3, True, draws=True),
    # Softmax and normalization.
    "_softmax": call(x(4, 3), 1, False),
    "_log_softmax": call(x(4, 3), 1, False),
    "_softmax_backward_data": call(x(4, 3), positive(4, 3) / 3, 1, torch.float32),
    "_log_softmax_backward_data": call(x(4, 3), -positive(4, 3), 1, torch.float32),
    "_masked_softmax": call(x(2, 3, 4, 4), x(2, 3, 4, 4, salt=1) > 0.6, 3, 2),
    "_masked_softmax_backward": call(x(4, 4), positive(4, 4, salt=1) / 4, x(4, 4, salt=2) > 0.6, 1),
    "_batch_norm_with_update": call(x(5, 3, 2), *_STATISTICS, x(3), positive(3), 0.1, 1e-3),
    "_native_batch_norm_legit": call(x(5, 3, 2), *_STATISTICS, x(3), positive(3), True, 0.1, 1e-3),
    "_native_batch_norm_legit.no_stats": call(x(5, 3, 2), *_STATISTICS, True, 0.1, 1e-3),
    "_native_batch_norm_legit_no_training": call(x(5, 3, 2), *_STATISTICS, x(3), positive(3), 0.1, 1e-3),
    "batch_norm_update_stats": call(x(5, 3, 2), x(3), positive(3), 0.1),
    "_weight_norm_interface": call(x(4, 3), positive(4, 1), 0),
    "_weight_norm_interface_backward": call(x(4, 3), x(4, 3, salt=1), positive(4, 1), positive(4, 1, salt=1), 0),
    "embedding_renorm_": call(2 * x(5, 3), i(1, 3, 1), 0.5, 2.0),
    # Losses.
    **_loss("binary_cross_entropy"),
    **_loss("huber_loss", 0.2),
    **_loss("mse_loss"),
    **_loss("smooth_l1_loss", 0.2),
    "multi_margin_loss": call(x(4, 3), i(0, 2, 1, 2), 1, 1, positive(3), 1),
    "multi_margin_loss_backward": call(x(4), x(4, 3), i(0, 2, 1, 2), 2, 1, positive(3), 0),
    "multilabel_margin_loss_forward": call(x(2, 4), i([[1, 2, -1, 0], [3, -1, 2, 2]]), 1),
    "multilabel_margin_loss_backward": call(
        torch.tensor(0.5),
        x(2, 4),
        i([[1, 2, -1, 0], [3, -1, 2, 2]]),
        1,
        torch.tensor([[0.0, 1, 1, 0], [0, 0, 0, 1]]),
    ),
    "nll_loss_forward": call(x(4, 3), i(0, 2, 1, 2), positive(3), 1, -100),
    "nll_loss_backward": call(torch.tensor(0.5), x(4, 3), i(0, 2, 1, 2), positive(3), 1, -100, torch.tensor(3.0)),
    "nll_loss2d_forward": call(x(2, 3, 2, 2), _spread((2, 2, 2), 3), positive(3), 1, -100),
    "nll_loss2d_backward": call(
        torch.tensor(0.5), x(2, 3, 2, 2), _spread((2, 2, 2), 3), positive(3), 1, -100, torch.tensor(3.0)
    ),
    # Resizing and padding.
    **_resizing("upsample_nearest1d", [4], [6]),
    **_resizing("upsample_nearest2d", [4, 3], [6, 7]),
    **_resizing("upsample_nearest3d", [2, 4, 3], [3, 6, 7]),
    **_resizing("_upsample_nearest_exact1d", [4], [6]),
    **_resizing("_upsample_nearest_exact2d", [4, 3], [6, 7]),
    **_resizing("_upsample_nearest_exact3d", [2, 4, 3], [3, 6, 7]),
    **_resizing("upsample_linear1d", [4], [6], True),
    **_resizing("upsample_bilinear2d", [4, 3], [6, 7], False),
    **_resizing("upsample_trilinear3d", [2, 4, 3], [3, 6, 7], False),
    **_resizing("upsample_bicubic2d", [4, 3], [6, 7], False),
    **_resizing("_upsample_bilinear2d_aa", [6, 7], [4, 3], False),
    **_resizing("_upsample_bicubic2d_aa", [6, 7], [4, 3], False),
    **_resizing("_upsample_lanczos2d_aa", [6, 7], [4, 3], False),
    "upsample_bilinear2d.vec": call(x(2, 3, 4, 3), [6, 7], False, None),
    "upsample_nearest2d.vec": call(x(2, 3, 4, 3), None, [1.5, 2.0]),
    **_padding("reflection_pad1d", [4]),
    **_padding("reflection_pad2d", [4, 3]),
    **_padding("reflection_pad3d", [3, 4, 3]),
    **_padding("replication_pad1d", [4]),
    **_padding("replication_pad2d", [4, 3]),
    **_padding("replication_pad3d", [3, 4, 3]),
    # Pooling and patches.
    "adaptive_avg_pool1d": call(x(2, 3, 7), [3]),
    "adaptive_avg_pool2d": call(x(2, 3, 5, 7), [2, 3]),
    "adaptive_avg_pool3d": call(x(2, 3, 3, 5, 7), [2, 2, 3]),
    "_adaptive_avg_pool3d_backward": call(x(2, 3, 2, 2, 3), x(2, 3, 3, 5, 7)),
    "adaptive_avg_pool3d_backward.grad_input": call(
        x(2, 3, 2, 2, 3), x(2, 3, 3, 5, 7), grad_input=torch.empty(2, 3, 3, 5, 7)
    ),
    "adaptive_max_pool2d": call(x(2, 3, 5, 7), [2, 3]),
    "adaptive_max_pool3d": call(x(2, 3, 3, 5, 7), [2, 2, 3]),
    "adaptive_max_pool2d_backward": _pool_backward("adaptive_max_pool2d", 2),
    "adaptive_max_pool3d_backward": _pool_backward("adaptive_max_pool3d", 3),
    "avg_pool1d": call(x(2, 3, 7), [3], [2], [1]),
    "avg_pool2d_backward": call(x(2, 3, 2, 2), x(2, 3, 4, 4), [2, 2], [2, 2], [0, 0], False, True, None),
    "avg_pool3d_backward": call(x(2, 3, 2, 2, 2), x(2, 3, 4, 4, 4), [2] * 3, [2] * 3, [0] * 3, False, True, None),
    "max_pool2d_with_indices": call(x(2, 3, 5, 6), [3, 2], [2, 2], [1, 0], [1, 2], True),
    "max_pool3d_with_indices": call(x(2, 3, 4, 5, 6), [2, 3, 2], [2] * 3, [1, 1, 0], [1, 1, 2], True),
    "max_pool2d_with_indices_backward": _pool_backward("max_pool2d", 2, [2, 2], [2, 2], [0, 0], [1, 1], False),
    "max_pool3d_with_indices_backward": _pool_backward("max_pool3d", 3, [2] * 3, [2] * 3, [0] * 3, [1] * 3, False),
    "fractional_max_pool2d": call(x(2, 3, 6, 7), [2, 2], [3, 4], positive(2, 3, 2) - 0.5),
    "fractional_max_pool3d": call(x(2, 3, 6, 7, 5), [2] * 3, [3, 4, 2], positive(2, 3, 3) - 0.5),
    "fractional_max_pool2d_backward": call(x(2, 3, 2, 2), x(2, 3, 4, 4), [2, 2], [2, 2], _spread((2, 3, 2, 2), 16)),
    "fractional_max_pool3d_backward": call(
        x(2, 3, 2, 2, 2), x(2, 3, 4, 4, 4), [2] * 3, [2] * 3, _spread((2, 3, 2, 2, 2), 64)
    ),
    "max_unpool2d": call(x(2, 3, 2, 2), i([0, 3, 9, 14]).expand(2, 3, 4).reshape(2, 3, 2, 2), [4, 4]),
    "max_unpool3d": call(
        x(2, 3, 1, 2, 2), i([0, 3, 9, 14]).expand(2, 3, 4).reshape(2, 3, 1, 2, 2), [2, 3, 3], [2] * 3, [0] * 3
    ),
    "im2col": call(x(2, 3, 5, 6), [2, 3], [1, 2], [1, 0], [2, 1]),
    "col2im": call(x(2, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
    # Products and convolutions.
    "_addmm_activation": call(x(4, 2), x(4, 3, salt=1), x(3, 2, salt=2), beta=0.5, alpha=2),
    "_slow_conv2d_forward": call(x(2, 3, 5, 6), x(4, 3, 2, 3), [2, 3], x(4), [2, 1], [1, 0]),
    "_slow_conv2d_backward.output_mask": call(
        x(2, 4, 3, 4), x(2, 3, 5, 6), x(4, 3, 2, 3), [2, 3], [2, 1], [1, 0], [True, True, True]
    ),
    "_slow_conv2d_backward.grad_input": call(
        x(2, 4, 3, 4),
        x(2, 3, 5, 6),
        x(4, 3, 2, 3),
        [2, 3],
        [2, 1],
        [1, 0],
        grad_input=torch.empty(2, 3, 5, 6),
        grad_weight=torch.empty(4, 3, 2, 3),
        grad_bias=torch.empty(4),
    ),
    "slow_conv3d_forward": call(x(2, 3, 4, 5, 6), x(4, 3, 2, 2, 3), [2, 2, 3], x(4), [2, 1, 1], [1, 0, 0]),
    "slow_conv_dilated2d": call(x(2, 3, 5, 6), x(4, 3, 2, 3), [2, 3], x(4), [1, 1], [1, 0], [2, 1]),
    "slow_conv_dilated3d": call(x(2, 3, 4, 5, 6), x(4, 3, 2, 2, 3), [2, 2, 3], x(4), [1] * 3, [0] * 3, [2, 1, 1]),
    "slow_conv_transpose2d": call(x(2, 3, 4, 5), x(3, 4, 2, 3), [2, 3], x(4), [2, 1], [1, 0], [1, 0], [1, 1]),
    "slow_conv_transpose3d": call(
        x(2, 3, 2, 4, 5), x(3, 4, 2, 2, 3), [2, 2, 3], x(4), [1, 2, 1], [0, 1, 0], [0, 1, 0], [1] * 3
    ),
    "_compute_linear_combination": call(x(2, 4, 3), x(3, 2)),
    "_cholesky_solve_helper": call(x(3, 2), torch.eye(3) + positive(3, 3).tril() / 4, False),
    # Order, sets, indices.
    "_aminmax": call(x(4, 3)),
    "_aminmax.dim": call(x(4, 3), 1, True),
    "_cummax_helper": call(x(4, 3), torch.empty(4, 3), torch.empty(4, 3, dtype=torch.int64), 0),
    "_cummin_helper": call(x(4, 3), torch.empty(4, 3), torch.empty(4, 3, dtype=torch.int64), 0),
    "_logcumsumexp": call(x(4, 3), 0),
    "_unique": call(i(3, 1, 3, 2), True, True),
    "unique_dim_consecutive": call(i([[1, 1, 2], [1, 1, 2]]), 1, True, True),
    "nanmedian": call(x(4, 3)),
    "nanmedian.dim": call(x(3, 5), 1, False),
    "median.dim": call(x(3, 5), 1, True),
    "sort.stable": call(x(4, 3), stable=True, dim=0, descending=True),
    "bucketize.Scalar": call(0.6, i(0, 1, 2, 3)),
    "searchsorted.Scalar": call(i(0, 1, 2, 3), 2.0, right=True),
    "isin.Tensor_Scalar": call(i(1, 2, 3), 2),
    "isin.Scalar_Tensor": call(2, i(1, 2, 3)),
    "histogram.bin_ct": call(x(20), 4, range=[-1.5, 1.5]),
    "_histogramdd_bin_edges": call(x(20, 2), [3, 4], range=[-1.5, 1.5, -1.5, 1.5]),
    "_histogramdd_from_bin_cts": call(x(20, 2), [3, 4], range=[-1.5, 1.5, -1.5, 1.5]),
    "_convert_indices_from_coo_to_csr": call(i(0, 0, 1, 3), 4),
    "_convert_indices_from_csr_to_coo": call(i(0, 2, 3, 3, 4), i(0, 2, 1, 0)),
    "_index_put_impl_": call(x(4, 3), [i(0, 2, 0)], x(3, 3, salt=1), True),
    "index.Tensor": call(x(4, 3), [i(0, 2, 0)]),
    "index_fill_.int_Tensor": call(x(4, 3), 0, i(0, 2), torch.tensor(7.0)),
    "scatter.src": call(x(4, 3), 0, i([[0, 2, 1], [3, 1, 0]]), x(4, 3, salt=1)),
    "scatter.value": call(x(4, 3), 0, i([[0, 2, 1], [3, 1, 0]]), 7.0),
    "scatter.value_reduce": call(x(4, 3), 0, i([[0, 2, 1], [3, 1, 0]]), 2.0, reduce="multiply"),
    "repeat_interleave.Tensor": call(i(1, 0, 3)),
    "nonzero_static": call(i(0, 3, 0, 1), size=3, fill_value=-1),
    "prod.dim_int": call(x(4, 3), 0),
    "norm.ScalarOpt_dim": call(x(4, 3), 3, [0], False),
    "norm.ScalarOpt_dim_dtype": call(x(4, 3), 3, [0], False, dtype=torch.float64),
    "_embedding_bag_dense_backward": call(
        x(4, 3), _BAGS[0], i(0, 0, 2, 2, 2, 3), i(2, 0, 3, 1), i(0, 0, 0, 0), 5, False, 1, None
    ),
    "_unique2": call(i(3, 1, 3, 2), True, True, True),
    "median": call(x(4, 3)),
    "_linalg_eigvals": call(torch.diag(torch.tensor([3.0, 2.0, 1.0]))),
    # Jagged tensors: rows of several lengths, one after the other.
    "_jagged_to_padded_dense_forward": call(x(6, 3), [i(0, 2, 2, 6)], [3], 0.5),
    "_padded_dense_to_jagged_forward": call(x(3, 3, 2), [i(0, 2, 2, 5)], 5),
    # Attention, in the CPU's fused forms.
    "_transform_bias_rescale_qkv": call(x(2, 4, 24), x(24), 2),
    "_native_multi_head_attention": call(
        x(2, 4, 8), x(2, 4, 8), x(2, 4, 8), 8, 2, x(24, 8) / 4, x(24), x(8, 8) / 4, x(8)
    ),
    "_transformer_encoder_layer_fwd": call(
        x(2, 4, 8),
        8,
        2,
        x(24, 8) / 4,
        x(24),
        x(8, 8) / 4,
        x(8),
        True,
        False,
        1e-3,
        positive(8),
        x(8),
        positive(8),
        x(8),
        x(6, 8) / 4,
        x(6),
        x(8, 6) / 4,
        x(8),
    ),
    "_scaled_dot_product_flash_attention_for_cpu": call(
        x(1, 2, 4, 8), x(1, 2, 4, 8, salt=1), x(1, 2, 4, 8, salt=2), 0.0, True
    ),
    # Products of narrow numbers.
    "_scaled_mm": call(
        x(16, 16).to(torch.float8_e4m3fn),
        x(16, 16, salt=1).to(torch.float8_e4m3fn).t(),
        torch.tensor(0.5),
        torch.tensor(2.0),
        out_dtype=torch.bfloat16,
        typed=True,
    ),
    "_weight_int8pack_mm": call(
        x(4, 32).bfloat16(), _spread((16, 32), 16).to(torch.int8), positive(16).bfloat16(), typed=True
    ),
    "_convert_weight_to_int4pack_for_cpu": call(_spread((32, 64), 15).int(), 1),
    "_dyn_quant_pack_4bit_weight": call(
        _spread((32, 32), 255).to(torch.uint8), positive(32, 1), None, 64, 64, 32, typed=True
    ),
    # Quantization in floats.
    "fake_quantize_per_tensor_affine_cachemask": call(x(4, 3), 0.1, 2, -4, 5),
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams": call(
        x(4, 3), torch.tensor([0.1]), i([2], dtype=torch.int32), torch.tensor([1]), -4, 5
    ),
    "fake_quantize_per_channel_affine_cachemask": call(
        x(4, 3), torch.tensor([0.1, 0.2, 0.3]), i([2, 0, 1], dtype=torch.int32), 1, -4, 5
    ),
    "_fake_quantize_learnable_per_tensor_affine": call(x(4, 3), torch.tensor([0.1]), torch.tensor([2.0]), -4, 5, 1.0),
    "_fake_quantize_learnable_per_tensor_affine_backward": call(
        x(4, 3), x(4, 3, salt=1), torch.tensor([0.1]), torch.tensor([2.0]), -4, 5, 1.0
    ),
    "_fake_quantize_learnable_per_channel_affine": call(
        x(4, 3), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([2.0, 0, 1]), 1, -4, 5, 1.0
    ),
    "_fake_quantize_learnable_per_channel_affine_backward": call(
        x(4, 3), x(4, 3, salt=1), torch.tensor([0.1, 0.2, 0.3]), torch.tensor([2.0, 0, 1]), 1, -4, 5, 1.0
    ),
    "_fused_moving_avg_obs_fq_helper": call(
        x(4, 3),
        i([1]),
        i([1]),
        torch.tensor([-1.0]),
        torch.tensor([1.0]),
        torch.tensor([0.1]),
        i([2], dtype=torch.int32),
        0.1,
        -8,
        7,
        0,
    ),
    # Optimizers.
    "_amp_foreach_non_finite_check_and_unscale_": call([x(4, 3), x(3)], torch.tensor([0.0]), torch.tensor([0.25])),
    "_amp_update_scale_": call(torch.tensor([4.0]), i([1], dtype=torch.int32), torch.tensor([0.0]), 2.0, 0.5, 2),
    "_fused_adam_": call(*_fused(2, 3, 0), lr=0.1, amsgrad=False, **_ADAM),
    "_fused_adam_.tensor_lr": call(*_fused(2, 3, 4), lr=torch.tensor(0.1), amsgrad=True, **_ADAM, **_BOTH),
    "_fused_adamw_": call(*_fused(2, 3, 4), lr=0.1, amsgrad=True, **_ADAM, **_BOTH),
    "_fused_adamw_.tensor_lr": call(*_fused(2, 3, 0), lr=torch.tensor(0.1), amsgrad=False, **_ADAM),
    "_fused_sgd_": call(*_fused(2, steps=0), lr=0.1, is_first_step=False, **_SGD, **_BOTH),
    "_fused_sgd_.tensor_lr": call(*_fused(2, steps=0), lr=torch.tensor(0.1), is_first_step=True, **_SGD),
    "_fused_adagrad_": call(*_fused(2), lr=0.1, **_ADAGRAD),
    "_fused_adagrad_.tensor_lr": call(*_fused(2), lr=torch.tensor(0.1), **_ADAGRAD),
    # Made from numbers.
    "eye.m_out": call(3, 4, out=torch.empty(3, 4)),
    "range.out": call(1, 7, 2, out=torch.empty(4)),
    "fill_.Tensor": call(x(4, 3), torch.tensor(7.0)),
    # Storage.
    "_reshape_alias": call(x(4, 3), [2, 2], [3, 1]),
    "is_set_to": call(x(4, 3), x(4, 3)),
    "set_": call(x(4, 3)),
    "set_.source_Tensor": call(x(4, 3), x(2, 2, salt=1)),
    # Conditions that hold.
    "_assert_async": call(torch.tensor(True)),
    "_assert_async.msg": call(torch.tensor(True), "it holds"),
    "_functional_assert_async.msg": call(torch.tensor(True), "it holds", torch.empty(0)),
    # What PyTorch's own tests call.
    "_foobar": call(x(4, 3)),
    "_test_functorch_fallback": call(x(4, 3), x(4, 3, salt=1)),
    "_test_optional_filled_intlist": call(i(1, 2), [2, 3]),
    "_test_optional_floatlist": call(x(2), [2.0, 3.0]),
    "_test_optional_intlist": call(i(1, 2), [2, 3]),
    # Random.
    "poisson": call(positive(4, 3) * 8, draws=True),
    "random_.from": call(x(4, 3), 3, 7, draws=True),
    "bernoulli": call(positive(4, 3) / 2, draws=True),
    "bernoulli_.Tensor": call(x(4, 3), positive(4, 3) / 2, draws=True),
    "binomial": call(torch.full((4,), 10.0), positive(4) / 2, draws=True),
    "multinomial": call(positive(4, 3), 2, draws=True),
    "normal.Tensor_Tensor": call(x(4), positive(4), draws=True),
    "normal.Tensor_float": call(x(4), 2.0, draws=True),
    "normal.float_Tensor": call(2.0, positive(4), draws=True),
    "random_": call(x(4, 3), draws=True),
    "random_.to": call(x(4, 3), 7, draws=True),
    "randperm": call(5, device="cpu", draws=True),
    "randperm.generator_out": call(5, generator=None, out=torch.empty(5, dtype=torch.int64), draws=True),
    "_sample_dirichlet": call(positive(4, 3), draws=True),
    "_standard_gamma": call(positive(4, 3), draws=True),
    "_standard_gamma_grad": call(positive(4), positive(4, salt=1)),
    "_dirichlet_grad": call(positive(4, 3) / 3, positive(4, 3), torch.full((4, 3), 3.0)),
    # Composites of the core set.
    "bitwise_and.Scalar": call(_SHIFT[0], 3),
    "bitwise_or.Scalar": call(_SHIFT[0], 3),
    "bitwise_xor.Scalar": call(_SHIFT[0], 3),
    "copy": call(x(4, 3), x(4, 3, salt=1)),
    "div.Scalar_mode": call(x(4, 3), 0.3, rounding_mode="floor"),
    "fmod.Scalar": call(x(4, 3), 0.3),
    "var.dim": call(x(4, 3), [0], True),
}
