"""Runs programs with jaxlib's StableHLO reference interpreter, for test_against_jax.py.

Reads directories, one a line, that hold program.mlir and 0.bin, 1.bin, ... (its inputs); writes the
results to DIR/expected/0.bin, ... and prints a line a directory: `ok`, or `error` and why. It is a
program of its own because the interpreter ends the process on what it does not implement.
"""

import pathlib
import sys

import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

# Types that numpy has not: what they are converted to, bit for bit or extended, and how.
UNSIGNED_OF_WIDTH = {8: "ui8", 16: "ui16"}


def read_attribute(path: pathlib.Path, tensor: ir.RankedTensorType) -> ir.Attribute:
    """A tensor of raw bytes as a dense attribute."""
    data = path.read_bytes()
    if not data:
        return ir.Attribute.parse(f"dense<> : {tensor}")
    if str(tensor.element_type) == "i1":
        values = np.frombuffer(data, np.int8).astype(bool)
        shape = [tensor.get_dim_size(d) for d in range(tensor.rank)]
        text = str(values.reshape(shape).tolist()).lower()
        return ir.Attribute.parse(f"dense<{text}> : {tensor}")
    return ir.Attribute.parse(f'dense<"0x{data.hex().upper()}"> : {tensor}')


def as_numpy_type(value: ir.Value) -> ir.Value:
    """`value`, by way of an integer of its width if numpy does not know its type."""
    tensor = ir.RankedTensorType(value.type)
    name = str(tensor.element_type)
    shape = [tensor.get_dim_size(d) for d in range(tensor.rank)]
    if name in ("i4", "ui4"):
        wide = ir.Type.parse(name.replace("4", "8"))
        return stablehlo.convert(ir.RankedTensorType.get(shape, wide), value)
    if name == "bf16" or name.startswith("f8"):
        bits = ir.Type.parse("ui16" if name == "bf16" else "ui8")
        return stablehlo.bitcast_convert(ir.RankedTensorType.get(shape, bits), value)
    return value


def evaluate(directory: pathlib.Path) -> None:
    """Runs DIR/program.mlir and writes DIR/expected."""
    module = ir.Module.parse((directory / "program.mlir").read_text())
    main = next(f for f in module.body.operations if f.name.value == "main")
    block = main.regions[0].blocks[0]
    ret = block.operations[len(block.operations) - 1]
    with ir.InsertionPoint(ret):
        results = [as_numpy_type(value) for value in ret.operands]
    for i, value in enumerate(results):
        ret.operands[i] = value
    inputs = [argument.type for argument in block.arguments]
    signature = ir.FunctionType.get(inputs, [value.type for value in results])
    main.attributes["function_type"] = ir.TypeAttr.get(signature)
    module.operation.verify()
    arguments = [read_attribute(directory / f"{i}.bin", ir.RankedTensorType(t)) for i, t in enumerate(inputs)]
    expected = directory / "expected"
    expected.mkdir(exist_ok=True)
    for i, result in enumerate(stablehlo.eval_module(module, arguments)):
        (expected / f"{i}.bin").write_bytes(np.array(result).tobytes())


def main() -> None:
    """The loop over standard input."""
    context = mlir.make_ir_context()
    with context, ir.Location.unknown():
        for line in sys.stdin:
            try:
                evaluate(pathlib.Path(line.strip()))
                print("ok", flush=True)
            except Exception as error:  # whatever it is, the test decides
                print("error " + " ".join(str(error).split()), flush=True)


if __name__ == "__main__":
    main()
