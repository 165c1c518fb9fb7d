"""Registers the device with PyTorch."""

from __future__ import annotations

import os
import warnings


class _State:
    loaded = False


def load() -> None:
    """The entry point that ``import torch`` calls.

    Never raises, as that would make ``import torch`` fail: trouble becomes a warning, and the
    device is then absent.
    """
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") != "1":
        return
    try:
        register()
    except Exception as error:  # whatever it is, torch itself must still import
        warnings.warn(
            f"<TorchTpu/Loader/> the device 'tpu' is not available: {type(error).__name__}: {error}",
            stacklevel=2,
        )


def register() -> None:
    """Makes ``torch.device("tpu")`` and ``torch.tpu`` exist. Repeated calls do nothing."""
    if _State.loaded:
        return
    import torch
    from torch.utils import backend_registration

    taken = torch._C._get_privateuse1_backend_name()
    if taken != "privateuseone":
        raise RuntimeError(f"PyTorch's slot for an external device is taken by '{taken}'; one process can have one")
    # First what can fail: loading the libraries leaves PyTorch as it was.
    from torch_tpu import _device
    from torch_tpu._device import _dlpack, _exit, _precision

    backend_registration.rename_privateuse1_backend("tpu")
    torch._register_device_module("tpu", _device)
    _register_submodules(_device)
    backend_registration.generate_methods_for_privateuse1_backend(for_storage=False)
    torch.set_autocast_dtype("tpu", torch.bfloat16)
    _precision.follow_torch_setting()
    _dlpack.answer_for_device()
    _exit.drain_at_exit()
    _State.loaded = True


def _register_submodules(module: object) -> None:
    """``import torch.tpu.emulator`` works like ``torch.tpu.emulator``."""
    import sys
    import types

    for name, value in vars(module).items():
        if isinstance(value, types.ModuleType) and not name.startswith("_"):
            sys.modules[f"torch.tpu.{name}"] = value
