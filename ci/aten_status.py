"""Prints the part of docs/status.md that tells of PyTorch's operators.

PyTorch's dispatcher is asked what the device registers, so the list cannot differ from what runs.
"""

import collections

import torch
from torch_tpu import _loader


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
    print("| operator | overloads | in place |\n|---|---|---|")
    for base in sorted(operators):
        functional = base.removesuffix("_")
        if functional != base and functional in operators:
            continue  # in the row of its functional form
        print(f"| `{base}` | {code(operators[base])} | {code(operators.get(base + '_', set()))} |")


if __name__ == "__main__":
    main()
