"""What the suite is told about a device: a TOML file, every line of which is optional.

device = "tpu"                 # torch.device's name
import = ["torch_tpu"]         # modules that make the device known
float32_matmul = "bfloat16"    # operands of float32 products: float32, tf32, bfloat16x3, bfloat16
flushes_subnormals = false
provenance = "profiler"        # which operators the host computed: "profiler", "none", or
                               # "module:function", which returns the names since its last call
memory = "module:function"     # bytes of the device in use; torch.accelerator's if absent

[claims]
dtypes = ["float32", "bfloat16", "int64", "bool"]   # all if absent
layouts = ["strided"]          # likewise; sparse_coo, sparse_csr, ...
operators = ["*"]              # patterns over operator names, as in case names
except = ["linalg-*"]
features = ["streams"]         # all if absent; `torch-conformance list --features` names them

[modes.eager]                  # an execution mode; without any there is one, "default"
[modes.fused]
environment = {VENDOR_FUSE = "1"}         # set before the process starts
context = "vendor.modes:fused"            # or: called for a context manager around each case

[equal_bits]
modes = [["eager", "fused"]]   # these promise the same bits
"""

from __future__ import annotations

import contextlib
import dataclasses
import fnmatch
import importlib
import pathlib
from collections.abc import Callable
from typing import Any

import torch

from .tensors import dtype_name
from .toml_file import read_toml

MATMULS = ("float32", "tf32", "bfloat16x3", "bfloat16")
MANDATORY_DTYPES = ("float32", "int64", "bool")
"""Core operators in these can't be left unclaimed."""


class AdapterError(Exception):
    """An adapter that can't be used; the text is one line for the user."""


@dataclasses.dataclass(frozen=True)
class Mode:
    name: str
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    context: str = ""

    def enter(self) -> contextlib.AbstractContextManager[Any]:
        """A context in which the device runs in this mode; the environment is the process's."""
        return resolve(self.context, f"modes.{self.name}.context")() if self.context else contextlib.nullcontext()


@dataclasses.dataclass(frozen=True)
class Claims:
    dtypes: tuple[str, ...] | None = None
    operators: tuple[str, ...] = ("*",)
    exceptions: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    layouts: tuple[str, ...] | None = None

    def holds(self, tensor: torch.Tensor) -> bool:
        """Whether the device claims tensors of this dtype and layout."""
        dtype, layout = dtype_name(tensor.dtype), str(tensor.layout).removeprefix("torch.")
        held = self.dtypes is None or dtype in self.dtypes or dtype in MANDATORY_DTYPES
        return held and (self.layouts is None or layout in self.layouts)

    def covers(self, op: str, dtype: str, features: tuple[str, ...] = ()) -> bool:
        if self.dtypes is not None and dtype not in self.dtypes and dtype != "none":
            return False
        if not any(fnmatch.fnmatchcase(op, pattern) for pattern in self.operators):
            return False
        if any(fnmatch.fnmatchcase(op, pattern) for pattern in self.exceptions):
            return False
        return self.features is None or all(feature in self.features for feature in features)


@dataclasses.dataclass(frozen=True)
class Adapter:
    device: str
    imports: tuple[str, ...] = ()
    float32_matmul: str = "float32"
    flushes_subnormals: bool = False
    provenance: str = "profiler"
    memory: str = ""
    claims: Claims = dataclasses.field(default_factory=Claims)
    modes: tuple[Mode, ...] = (Mode("default"),)
    equal_bits: tuple[tuple[str, ...], ...] = ()
    source: str = ""

    def load(self) -> torch.device:
        """Imports the device's modules and tries the device. Raises `AdapterError`."""
        for module in self.imports:
            try:
                importlib.import_module(module)
            except Exception as error:  # a vendor's module may raise anything
                raise AdapterError(f"module '{module}' does not import: {type(error).__name__}: {error}") from error
        try:
            torch.empty(1, device=self.device)
        except Exception as error:
            first = (str(error).splitlines() or [""])[0]
            raise AdapterError(
                f"device '{self.device}' can't hold a tensor: {type(error).__name__}: {first}"
            ) from error
        return torch.device(self.device)

    def synchronize(self) -> None:
        """Waits for all work of the device."""
        kind = torch.device(self.device).type
        module = getattr(torch, kind, None)
        if kind != "cpu" and module is not None and hasattr(module, "synchronize"):
            module.synchronize()

    def partners(self, mode: str) -> set[str]:
        """The other modes that promise the same bits as `mode`."""
        return {other for group in self.equal_bits if mode in group for other in group} - {mode}

    def memory_in_use(self) -> int | None:
        """Bytes that tensors hold on the device; None where the device does not say."""
        if self.memory:
            return int(resolve(self.memory, "memory")())
        accelerator = torch.accelerator.current_accelerator()
        if accelerator is None or accelerator.type != torch.device(self.device).type:
            return None
        try:
            return int(torch.accelerator.memory_allocated())
        except Exception:  # not implemented, in whatever way
            return None


def resolve(path: str, key: str) -> Callable[..., Any]:
    """The function that "module:attribute.attribute" names."""
    module, _, attribute = path.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for name in attribute.split("."):
            value = getattr(value, name)
    except (ImportError, AttributeError) as error:
        raise AdapterError(f'{key} = "{path}": {error}') from error
    if not callable(value):
        raise AdapterError(f'{key} = "{path}" is no function')
    return value


def _expect(table: dict[str, Any], allowed: dict[str, type], where: str) -> None:
    for key, value in table.items():
        if key not in allowed:
            raise AdapterError(f"{where}: unknown key '{key}'; known are {', '.join(sorted(allowed))}")
        if not isinstance(value, allowed[key]):
            raise AdapterError(f"{where}: '{key}' is a {type(value).__name__}, expected a {allowed[key].__name__}")


def _texts(table: dict[str, Any], key: str, where: str) -> tuple[str, ...] | None:
    if key not in table:
        return None
    if not all(isinstance(item, str) for item in table[key]):
        raise AdapterError(f"{where}: '{key}' holds something else than texts")
    return tuple(table[key])


def _modes(tables: dict[str, Any], where: str) -> tuple[Mode, ...]:
    modes = []
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise AdapterError(f"{where}: modes.{name} is no table")
        _expect(table, {"environment": dict, "context": str}, f"{where}: modes.{name}")
        environment = {key: str(value) for key, value in table.get("environment", {}).items()}
        modes.append(Mode(name, environment, table.get("context", "")))
    return tuple(modes) or (Mode("default"),)


def from_table(table: dict[str, Any], where: str) -> Adapter:
    """An adapter from parsed TOML. Raises `AdapterError` that names the key."""
    kinds = {"device": str, "import": list, "float32_matmul": str, "flushes_subnormals": bool, "provenance": str}
    kinds |= {"memory": str, "claims": dict, "modes": dict, "equal_bits": dict}
    _expect(table, kinds, where)
    matmul = table.get("float32_matmul", "float32")
    if matmul not in MATMULS:
        raise AdapterError(f"{where}: float32_matmul is '{matmul}', expected one of {', '.join(MATMULS)}")
    claims = table.get("claims", {})
    lists: dict[str, type] = dict.fromkeys(("dtypes", "layouts", "operators", "except", "features"), list)
    _expect(claims, lists, f"{where}: claims")
    modes = _modes(table.get("modes", {}), where)
    _expect(table.get("equal_bits", {}), {"modes": list}, f"{where}: equal_bits")
    equal = tuple(tuple(group) for group in table.get("equal_bits", {}).get("modes", []))
    for name in (name for group in equal for name in group):
        if name not in {mode.name for mode in modes}:
            raise AdapterError(f"{where}: equal_bits names mode '{name}', which is not defined")
    if "device" not in table:
        raise AdapterError(f'{where}: no device; add: device = "NAME"')
    return Adapter(
        device=table["device"],
        imports=_texts(table, "import", where) or (),
        float32_matmul=matmul,
        flushes_subnormals=table.get("flushes_subnormals", False),
        provenance=table.get("provenance", "profiler"),
        memory=table.get("memory", ""),
        claims=Claims(
            _texts(claims, "dtypes", where),
            _texts(claims, "operators", where) or ("*",),
            _texts(claims, "except", where) or (),
            _texts(claims, "features", where),
            _texts(claims, "layouts", where),
        ),
        modes=modes,
        equal_bits=equal,
        source=where,
    )


def read_adapter(path: pathlib.Path | None, device: str | None, modules: list[str]) -> Adapter:
    """From a file, the command line, or both; the command line wins."""
    table = read_toml(path, "adapter", AdapterError) if path else {}
    if device is not None:
        table["device"] = device
    if modules:
        table["import"] = [*table.get("import", []), *modules]
    return from_table(table, str(path) if path else "command line")
