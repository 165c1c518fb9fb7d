"""What PyTorch asks of a backend beside operators: the device module, the accelerator interface, guards.

A device that claims no features is asked for all of it; each missing piece is one case, so that the
list of failures is the map of what is implemented.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ..sources.own_cases import own
from ..trial import NotClaimedError, Trial

Probe = Callable[[Any, torch.device], bool]


def _returns(call: Callable[[], object]) -> bool:
    call()
    return True


MODULE: dict[str, Probe] = {
    "is_available": lambda m, d: m.is_available() is True,
    "device_count": lambda m, d: m.device_count() >= 1,
    "current_device": lambda m, d: m.current_device() in range(m.device_count()),
    "set_device": lambda m, d: m.set_device(m.current_device()) is None,
    "synchronize": lambda m, d: m.synchronize() is None,
    "manual_seed": lambda m, d: m.manual_seed(1) is None,
    "manual_seed_all": lambda m, d: m.manual_seed_all(1) is None,
    "get_rng_state": lambda m, d: m.get_rng_state().dtype == torch.uint8,
    "is_initialized": lambda m, d: m.is_initialized() is True,
    "get_amp_supported_dtype": lambda m, d: torch.bfloat16 in m.get_amp_supported_dtype(),
    "current_stream": lambda m, d: m.current_stream() is not None,
    "in_bad_fork": lambda m, d: m._is_in_bad_fork() is False,
}

ACCELERATOR: dict[str, Callable[[torch.device], bool]] = {
    "is_available": lambda d: torch.accelerator.is_available(),
    "current_accelerator": lambda d: torch.accelerator.current_accelerator().type == d.type,  # type: ignore[union-attr]
    "device_count": lambda d: torch.accelerator.device_count() >= 1,
    "current_device_index": lambda d: torch.accelerator.current_device_index() >= 0,
    "current_stream": lambda d: torch.accelerator.current_stream() is not None,
    "synchronize": lambda d: _returns(torch.accelerator.synchronize),
    "memory_allocated": lambda d: torch.accelerator.memory_allocated() >= 0,
    "empty_cache": lambda d: _returns(torch.accelerator.empty_cache),
    "max_memory_allocated": lambda d: torch.accelerator.max_memory_allocated() >= 0,
}

OBJECTS: dict[str, Callable[[torch.device], bool]] = {
    "generator": lambda d: torch.Generator(device=d).device.type == d.type,
    "stream": lambda d: torch.Stream(device=d).device.type == d.type,
    "event": lambda d: torch.Event(device=d).device.type == d.type,
    "storage": lambda d: torch.empty(3, device=d).untyped_storage().device.type == d.type,
    "tensor_method": lambda d: getattr(torch.ones(2), d.type)().device.type == d.type,
    "module_method": lambda d: next(getattr(torch.nn.Linear(1, 1), d.type)().parameters()).device.type == d.type,
    "is_device": lambda d: getattr(torch.ones(2, device=d), f"is_{d.type}") is True,
    "with_device": lambda d: _with_device(d),
    "set_default_device": lambda d: _default_device(d),
    "parameter": lambda d: torch.nn.Parameter(torch.ones(2, device=d)).device.type == d.type,
    "new_tensor": lambda d: torch.ones(2, device=d).new_tensor([1.0]).device.type == d.type,
    "index": lambda d: torch.ones(2, device=f"{d.type}:0").device.index == 0,
    "meta": lambda d: torch.empty_like(torch.ones(2, device="meta"), device=d).device.type == d.type,
    "profiler": lambda d: _profiled(d),
    "compile_eager": lambda d: _compiled(d),
    "fake": lambda d: _fake(d),
}


def _with_device(d: torch.device) -> bool:
    with torch.device(d):
        return torch.ones(2).device.type == d.type


def _default_device(d: torch.device) -> bool:
    torch.set_default_device(d)
    try:
        return torch.ones(2).device.type == d.type
    finally:
        torch.set_default_device(None)


def _profiled(d: torch.device) -> bool:
    with torch.profiler.profile() as profile:
        torch.ones(4, device=d).add(1)
    return any(event.key == "aten::add" for event in profile.key_averages())


def _compiled(d: torch.device) -> bool:
    compiled = torch.compile(lambda x: x * 2 + 1, backend="eager")
    return compiled(torch.ones(3, device=d)).tolist() == [3.0, 3.0, 3.0]


def _fake(d: torch.device) -> bool:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return (torch.ones(2, 3, device=d) @ torch.ones(3, 4, device=d)).shape == (2, 4)


def _no_module(d: torch.device) -> Any:
    if d.type == "cpu":
        raise NotClaimedError("the CPU is no accelerator")
    return getattr(torch, d.type)


for _name, _probe in MODULE.items():

    @own(f"hooks.module.{_name}.present", (None,), features=("device_module",))
    def module(t: Trial, dtype: None, name: str = _name, probe: Probe = _probe) -> None:
        t.require(probe(_no_module(t.device), t.device), "value", f"torch.{t.device.type}.{name} gave something else")


for _name, _check in ACCELERATOR.items():

    @own(f"hooks.accelerator.{_name}.present", (None,), features=("accelerator",))
    def accelerator(t: Trial, dtype: None, name: str = _name, check: Callable[[torch.device], bool] = _check) -> None:
        _no_module(t.device)
        t.require(check(t.device), "value", f"torch.accelerator.{name} gave something else")


for _name, _check in OBJECTS.items():

    @own(
        f"hooks.objects.{_name}.present",
        (None,),
        features=(_name,) if _name in ("profiler", "fake", "compile_eager") else (),
    )
    def objects(t: Trial, dtype: None, name: str = _name, check: Callable[[torch.device], bool] = _check) -> None:
        if name in ("generator", "stream", "event", "is_device", "index", "tensor_method", "module_method"):
            _no_module(t.device)
        t.require(check(t.device), "value", f"{name} gave something else")
