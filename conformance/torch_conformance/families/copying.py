"""Tensors that leave the device and come back: copies, files, pickles, DLPack."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import torch
import torch.utils.dlpack

from ..sources.own_cases import own
from ..tensors import dtype_name
from ..trial import NotClaimedError, Trial
from . import DTYPES, numbers


@own("copying.round_trip.dense.bits", DTYPES)
def round_trip(t: Trial, dtype: torch.dtype) -> None:
    x = numbers("cpu", 5, 7, dtype=dtype)
    t.equal(x.to(t.device), x)
    t.require(torch.equal(x.to(t.device).cpu(), x), "value", "to the device and back")
    t.require(torch.equal(x.t().to(t.device).cpu(), x.t()), "value", "a transposed tensor")
    t.require(torch.equal(x[1:4, 2:6].to(t.device).cpu(), x[1:4, 2:6]), "value", "a slice")


@own("copying.cast.on_the_way.bits", (torch.float32, torch.int64, torch.bfloat16))
def cast_on_the_way(t: Trial, dtype: torch.dtype) -> None:
    """Moving and casting in one call is moving, then casting."""
    x = numbers("cpu", 4, 5, dtype=dtype)
    for target in (torch.float32, torch.bfloat16, torch.int32, torch.bool):
        t.equal(x.to(t.device, target), x.to(target), dtype_name(target))
        back = x.to(t.device).to("cpu", target)
        t.require(back.dtype == target and torch.equal(back, x.to(target)), "value", f"to the CPU as {target}")


@own("copying.copy_.broadcast.value")
def copy_broadcasts(t: Trial, dtype: torch.dtype) -> None:
    target = torch.zeros(3, 4, device=t.device)
    target.copy_(torch.arange(4.0))
    target[1].copy_(torch.tensor(9.0))
    want = torch.arange(4.0).repeat(3, 1)
    want[1] = 9
    t.equal(target, want)
    into = torch.zeros(3, 4)
    into.copy_(target.t().contiguous().t())
    t.require(torch.equal(into, want), "value", f"copied to the CPU: {into.tolist()}")


@own("copying.to.same.identity")
def to_the_same_device(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 3)
    t.require(x.to(t.device) is x, "alias", "to() the tensor's own device made a copy")
    y = x.to(t.device, copy=True)
    y.zero_()
    t.equal(x, numbers("cpu", 3))


@own("copying.deepcopy.tensors.independent")
def deep_copies(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 4, 4)
    pair = [x, x.t()]
    copied = copy.deepcopy(pair)
    copied[0].zero_()
    t.equal(x, numbers("cpu", 4, 4))
    t.require(bool((copied[1] == 0).all()), "alias", "two views of one tensor became two tensors")
    layer = torch.nn.Linear(3, 2).to(t.device)
    twin = copy.deepcopy(layer)
    with torch.no_grad():
        layer.weight.zero_()
    t.require(bool((twin.weight != 0).any()), "alias", "a copied module shares its weight")


@own("copying.pickle.tensor.value", (torch.float32, torch.bfloat16, torch.int64))
def pickled(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 3, 4, dtype=dtype)[1:]
    t.equal(pickle.loads(pickle.dumps(x)), numbers("cpu", 3, 4, dtype=dtype)[1:])


def _saved(value: Any) -> io.BytesIO:
    stream = io.BytesIO()
    torch.save(value, stream)
    stream.seek(0)
    return stream


@own("copying.save.devices.value", DTYPES)
def saved_and_loaded(t: Trial, dtype: torch.dtype) -> None:
    x = numbers("cpu", 4, 6, dtype=dtype)
    there = _saved(x.to(t.device))
    t.equal(torch.load(there), x)
    there.seek(0)
    here = torch.load(there, map_location="cpu")
    t.require(here.device.type == "cpu" and torch.equal(here, x), "value", "loaded to the CPU")
    t.equal(torch.load(_saved(x), map_location=t.device), x)


@own("copying.save.views.shared")
def saved_views(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 4, 6)
    loaded = torch.load(_saved({"whole": x, "part": x[1:3, ::2], "turned": x.t()}))
    t.equal(loaded["part"], numbers("cpu", 4, 6)[1:3, ::2])
    t.require(loaded["turned"].stride() == (1, 6), "layout", f"strides {loaded['turned'].stride()}")
    loaded["whole"].zero_()
    t.require(bool((loaded["part"] == 0).all()), "alias", "views were saved as tensors of their own")


@own("copying.state_dict.module.value")
def state_dicts(t: Trial, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    first = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).to(t.device)
    second = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3)).to(t.device)
    optimizer = torch.optim.Adam(first.parameters())
    first(torch.ones(5, 4, device=t.device)).sum().backward()
    optimizer.step()
    second.load_state_dict(torch.load(_saved(first.state_dict())))
    for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
        t.require(torch.equal(a, b), "value", "load_state_dict")
    again = torch.optim.Adam(second.parameters())
    again.load_state_dict(torch.load(_saved(optimizer.state_dict())))
    state = again.state[next(iter(second.parameters()))]
    t.require(state["exp_avg"].device.type == t.device.type, "device", f"moments on {state['exp_avg'].device}")


@own("copying.dlpack.device.value", (torch.float32, torch.int64, torch.bfloat16), features=("dlpack",))
def dlpack(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 4, 6, dtype=dtype)[1:, ::2]
    y = torch.utils.dlpack.from_dlpack(x)
    t.equal(y, numbers("cpu", 4, 6, dtype=dtype)[1:, ::2])
    y.fill_(1)
    t.require(bool((x == 1).all()), "alias", "from_dlpack made a copy")


@own("copying.round_trip.large.bits", (torch.float32, torch.uint8))
def large_tensors(t: Trial, dtype: torch.dtype) -> None:
    """More than a page, more than a buffer, and no multiple of either."""
    x = (torch.arange(1_000_003) % 251).to(dtype)
    t.require(torch.equal(x.to(t.device).cpu(), x), "value", "to the device and back")
    t.require(torch.equal(x.to(t.device)[1:].clone().cpu(), x[1:]), "value", "a copy on the device")


@own("copying.storage.resized.value")
def storages_grow(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 6)
    x.untyped_storage().resize_(4 * 100)
    t.equal(x, numbers("cpu", 6))
    t.equal(x.as_strided((2, 3), (3, 1)), numbers("cpu", 2, 3))


@own("copying.numpy.host.value")
def numpy_needs_the_host(t: Trial, dtype: torch.dtype) -> None:
    x = numbers(t.device, 3)
    t.require(x.cpu().numpy().tolist() == [1, 2, 3], "value", "numpy of the CPU copy")
    if t.device.type != "cpu":
        t.raises(TypeError, x.numpy)


@own("copying.print.tensor.text")
def printed(t: Trial, dtype: torch.dtype) -> None:
    text = repr(numbers(t.device, 2, 2))
    t.require("1., 2." in text and "3., 4." in text, "value", f"printed as {text}")
    t.require(str(t.device.type) in text or t.device.type == "cpu", "value", f"printed without its device: {text}")


def _pins() -> None:
    if not torch.accelerator.is_available():
        raise NotClaimedError("memory is pinned for an accelerator")


@own("copying.pinned.memory.value", features=("pinned_memory",))
def pinned(t: Trial, dtype: torch.dtype) -> None:
    _pins()
    x = torch.arange(1000.0).pin_memory()
    t.require(x.is_pinned(), "value", "pin_memory() is not pinned")
    y = x.to(t.device, non_blocking=True)
    t.equal(y, torch.arange(1000.0))


@own("copying.loader.batches.value")
def data_loader(t: Trial, dtype: torch.dtype) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(24.0).view(12, 2), torch.arange(12))
    seen = [(x.to(t.device), y.to(t.device)) for x, y in torch.utils.data.DataLoader(data, batch_size=5)]
    t.equal(torch.cat([x for x, _ in seen]), torch.arange(24.0).view(12, 2))
    t.equal(torch.cat([y for _, y in seen]), torch.arange(12))


@own("copying.loader.pinned.value", features=("pinned_memory",))
def pinned_loader(t: Trial, dtype: torch.dtype) -> None:
    _pins()
    for workers in (0, 2):
        data = torch.utils.data.TensorDataset(torch.arange(12.0))
        loader = torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True, num_workers=workers)
        parts = []
        for (x,) in loader:
            t.require(x.is_pinned(), "value", f"a batch of {workers} workers is not pinned")
            parts.append(x.to(t.device, non_blocking=True))
        t.equal(torch.cat(parts), torch.arange(12.0))
