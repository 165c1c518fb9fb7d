"""Prints the part of docs/status.md that tells of PyTorch's operators.

PyTorch's dispatcher is asked what the device registers, so the list cannot differ from what runs.
"""

import collections

import torch
from torch_tpu import _C, _loader


def registered() -> dict[str, set[str]]:
    """ATen's operators that the device registers, and their overloads."""
    operators: dict[str, set[str]] = collections.defaultdict(set)
    for full_name in torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1"):
        namespace, _, name = full_name.partition("::")
        base, _, overload = name.partition(".")
        if namespace == "aten":
            operators[base].add(overload or "default")
    return operators


def code(names: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def main() -> None:
    _loader.register()
    operators = registered()
    print("\n## PyTorch\n")
    print(f"The device registers {sum(map(len, operators.values()))} overloads of {len(operators)} operators.")
    print("Operators that PyTorch composes of these run too. Any other raises `NotImplementedError`.\n")
    print("Most are lowered to StableHLO. `library` marks those that PyTorch's CPU kernels run as custom calls,")
    print("on the device's memory (backend/eager/library_operator.h).\n")
    print("| operator | overloads | in place | route |\n|---|---|---|---|")
    from_library = {name.partition(".")[0].removesuffix("_") for name in _C.library_operators()}
    for base in sorted(operators):
        functional = base.removesuffix("_")
        if functional != base and functional in operators:
            continue  # in the row of its functional form
        in_place = code(operators.get(base + "_", set()))
        route = "library" if functional in from_library else ""
        print(f"| `{base}` | {code(operators[base])} | {in_place} | {route} |")


if __name__ == "__main__":
    main()
