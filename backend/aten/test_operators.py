"""Every operator of PyTorch's own database that has a lowering, against the CPU.

Samples reach the device with their strides and offsets. An operator without a lowering raises
NotImplementedError and is counted; the count of those that run has a floor, so that a registration
that breaks cannot pass as 'nothing to test'.
"""

import collections
import os
import warnings

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

SAMPLES = int(os.environ.get("TPU_TEST_SAMPLES", "3"))
DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool)

# Values of these are not defined: uninitialised memory, or random numbers of another stream.
UNDEFINED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal",
    "rand_like", "randint", "randint_like", "randn", "randn_like", "uniform", "randperm",
    "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.alpha_dropout", "nn.functional.feature_alpha_dropout",
    "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu", "nn.functional.multi_head_attention_forward", "pca_lowrank",
    "svd_lowrank", "linalg.eigh", "torch.ops.aten._safe_softmax.default",
}  # fmt: skip

# The order of equal elements is not defined, so neither are their positions.
POSITIONS_UNDEFINED = {"sort", "topk", "kthvalue", "median", "nanmedian", "mode"}
# About the host: a CUDA compiler, a CPU index tensor, a device argument; or integer "gradients".
HOST_ONLY = {"jiterator", "tensor_split", "to", "argsort", "native_dropout_backward"}

outcomes: collections.Counter[str] = collections.Counter()


def move(value, device):
    """`value` on the device, tensors with their strides and storage offset."""
    if isinstance(value, torch.Tensor):
        if value.layout != torch.strided:
            return value.to(device)
        storage = torch.empty(0, dtype=value.dtype, device=device)
        whole = torch.as_strided(value.detach(), (value.untyped_storage().nbytes() // value.itemsize,), (1,), 0)
        storage = whole.to(device)
        moved = torch.as_strided(storage, value.shape, value.stride(), value.storage_offset())
        return moved.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(move(item, device) for item in value)
    if isinstance(value, dict):
        return {key: move(item, device) for key, item in value.items()}
    if isinstance(value, torch.device):
        return torch.device(device)
    return value


def tensors_of(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_of(item)


def compare(got, want, name):
    if not isinstance(want, torch.Tensor):
        if isinstance(want, (list, tuple)):
            assert len(got) == len(want)
            for g, w in zip(got, want, strict=True):
                compare(g, w, name)
        elif isinstance(want, float):
            assert got == pytest.approx(want, rel=1e-5, abs=1e-6, nan_ok=True)
        elif not isinstance(want, (torch.device, torch.Generator)):
            assert got == want
        return
    assert got.device.type == "tpu", f"{name}: the result is on {got.device}"
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    torch.testing.assert_close(got.cpu(), want, equal_nan=True, **tolerance(want.dtype))


def tolerance(dtype):
    if dtype in (torch.bfloat16,):
        return {"rtol": 2e-2, "atol": 2e-2}
    if dtype in (torch.float32,):
        return {"rtol": 1e-4, "atol": 1e-4}
    return {"rtol": 1e-7, "atol": 1e-7} if dtype.is_floating_point else {"rtol": 0, "atol": 0}


def rounded_from_float32(op, sample, want):
    """The float32 result, rounded: the CPU's own bfloat16 sums lose more than the device's do."""

    def wide(value):
        is_narrow = isinstance(value, torch.Tensor) and value.dtype == torch.bfloat16
        return value.float() if is_narrow else value

    if not isinstance(want, torch.Tensor) or want.dtype != torch.bfloat16:
        return want
    args = [wide(value) for value in sample.args]
    kwargs = {key: wide(value) for key, value in sample.kwargs.items()}
    try:
        exact = op(wide(sample.input), *args, **kwargs)
    except (RuntimeError, TypeError):
        return want  # a list of operands, or a dtype argument
    exact = exact[0] if isinstance(exact, tuple) else exact
    return exact.to(want.dtype) if exact.shape == want.shape else want


def run_samples(op, dtype):
    ran = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for index, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=False)):
            if index == SAMPLES:
                break
            if sample.kwargs.get("dropout_p", 0.0) > 0.0:
                continue
            want = op(sample.input, *sample.args, **sample.kwargs)
            sample_on_device = [move(v, "tpu") for v in (sample.input, sample.args, sample.kwargs)]
            x, args, kwargs = sample_on_device
            if "device" in kwargs:
                kwargs["device"] = "tpu"
            got = op(x, *args, **kwargs)
            if op.name in POSITIONS_UNDEFINED and isinstance(want, tuple):
                got, want = got[0], want[0]
            name = f"{op.name} {dtype} sample {index}"
            try:
                compare(got, want, name)
            except AssertionError:
                if dtype != torch.bfloat16:
                    raise
                compare(got, rounded_from_float32(op, sample, want), name)
            ran += 1
    return ran


def cases():
    for op in op_db:
        if op.name in UNDEFINED or op.name.split("_")[0] in HOST_ONLY or op.name in HOST_ONLY:
            continue
        if op.name.startswith(("linalg.", "fft.", "sparse.", "signal.", "special.")):
            continue
        for dtype in DTYPES:
            if dtype in op.dtypes:
                yield pytest.param(op, dtype, id=f"{op.formatted_name}-{str(dtype)[6:]}")


@pytest.fixture(autouse=True)
def full_precision():
    old = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)
    yield
    torch.set_float32_matmul_precision(old)


@pytest.mark.parametrize(("op", "dtype"), cases())
def test_operator(op, dtype):
    try:
        ran = run_samples(op, dtype)
    except NotImplementedError as error:
        outcomes["no lowering"] += 1
        pytest.skip(str(error).splitlines()[0][:160])
    outcomes["equal"] += ran > 0


def test_enough_ran():
    if outcomes.total() < 500:
        pytest.skip("only a part of the operators was selected")
    assert outcomes["equal"] >= 0.99 * outcomes.total(), outcomes
