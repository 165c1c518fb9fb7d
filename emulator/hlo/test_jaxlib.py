"""StableHLO text against jaxlib: programs that JAX lowers, read and printed by tpu-hlo.

For each program, in both of jaxlib's forms: tpu-hlo parses it; both forms that tpu-hlo prints parse
and verify in jaxlib and mean the same as the original. The pretty form is also the same text.
"""

import os
import pathlib
import re
import subprocess

import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")
pytest.importorskip("jaxlib", reason="jaxlib is not installed")

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jax.experimental import pallas as pl
from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

TOOL = os.environ.get("TPU_HLO_TOOL")
pytestmark = pytest.mark.skipif(not TOOL, reason="TPU_HLO_TOOL does not name the tpu-hlo program")

CONTEXT = mlir.make_ir_context()
stablehlo.register_stablehlo_passes()


def run_tool(text: str, form: str) -> str:
    """What tpu-hlo prints for a program, in `form` (pretty or generic)."""
    command = [TOOL, "--parse", "-", "--form", form]
    result = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr + "\n" + text
    return result.stdout


def parse(text: str) -> ir.Module:
    """The program in jaxlib, verified."""
    try:
        module = ir.Module.parse(text, CONTEXT)
        module.operation.verify()
    except ir.MLIRError as error:
        raise AssertionError(f"{error}\n{text}") from error
    return module


# Attributes that say how a program is distributed or where it comes from, which the IR drops.
DROPPED = re.compile(r"(jax|sdy|tf)\.|mhlo\.(num_|sharding|layout)|(arg|res)_attrs$")
# What ops mean where they do not say so.
DEFAULTS = {
    "func.func": {"sym_visibility": '"public"'},
    "stablehlo.custom_call": {
        "has_side_effect": "false",
        "api_version": "1 : i32",
        "called_computations": "[]",
    },
}


def strip(operation: ir.Operation) -> None:
    """Removes what tpu-hlo does not keep, from an op and all ops inside it."""
    for region in operation.regions:
        for block in region:
            for inner in block.operations:
                strip(inner.operation)
    is_call = operation.name == "stablehlo.custom_call"  # Keeps all it has.
    defaults = DEFAULTS.get(operation.name, {})
    for name in list(operation.attributes):
        is_default = name in defaults and str(operation.attributes[name]) == defaults[name]
        if is_default or (DROPPED.match(name) and not is_call):
            del operation.attributes[name]


def canonical(text: str) -> str:
    """jaxlib's generic text of the program, without what the IR does not hold."""
    module = parse(text)
    strip(module.operation)
    return module.operation.get_asm(print_generic_op_form=True)


def evaluate(text: str) -> list:
    """The program's results in StableHLO's reference interpreter, on counted inputs."""
    module = parse(text)
    with CONTEXT:
        pipeline = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
        passmanager.PassManager.parse(pipeline).run(module.operation)
        main = module.body.operations[0]
        inputs = []
        for kind in main.type.inputs:
            shape = ir.RankedTensorType(kind).shape
            values = np.sin(np.arange(np.prod(shape, dtype=int)) * 7.0).astype(np.float32)
            inputs.append(ir.DenseElementsAttr.get(values.reshape(shape)))
        return [np.array(result) for result in stablehlo.eval_module(module, inputs)]


def pretty_without_dropped(text: str) -> str:
    """jaxlib's pretty text after the same stripping."""
    module = parse(text)
    strip(module.operation)
    printed = module.operation.get_asm()
    return re.sub(r"func\.func (?!private)", "func.func public ", printed).strip()


def check(text: str, same_text: bool = True) -> None:
    """The properties that the module's first lines state, for one text of a program."""
    pretty, generic = run_tool(text, "pretty"), run_tool(text, "generic")
    assert run_tool(pretty, "pretty") == pretty
    assert run_tool(generic, "generic") == generic
    assert run_tool(generic, "pretty") == pretty
    if "chlo.top_k" in text:  # Becomes a sort.
        for expected, found in zip(evaluate(text), evaluate(pretty), strict=True):
            np.testing.assert_array_equal(expected, found)
        parse(generic)
        return
    wanted = canonical(text)
    assert canonical(pretty) == wanted
    assert canonical(generic) == wanted
    if same_text:
        assert pretty.strip() == pretty_without_dropped(text)


def check_both_forms(module: ir.Module) -> None:
    check(module.operation.get_asm())
    check(module.operation.get_asm(print_generic_op_form=True))


def f32(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def of(dtype, *shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


UNARY = [
    "abs", "cbrt", "ceil", "cos", "exp", "expm1", "floor", "is_finite", "log", "log1p", "logistic",
    "neg", "round", "rsqrt", "sign", "sin", "sqrt", "tan", "tanh", "erf", "erf_inv", "erfc",
    "lgamma", "digamma", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh",
    "square", "bessel_i1e",
]  # fmt: skip
BINARY = [
    "add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2", "nextafter", "zeta", "igamma",
]  # fmt: skip
FLOATS = [jnp.float32, jnp.bfloat16, jnp.float16]
SMALL_FLOATS = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
SMALL_FLOATS += ["float8_e4m3b11fnuz"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32"]


def conv(lhs_dilation=(1, 1), groups=1, batch_groups=1, layout=("NHWC", "HWIO", "NHWC")):
    def run(x, k):
        return lax.conv_general_dilated(
            x, k, (2, 1), ((1, 1), (0, 2)), lhs_dilation, (1, 2), layout,
            groups, batch_groups, lax.Precision.HIGHEST,
        )  # fmt: skip

    return run


def mlp_loss(weights, x, y):
    hidden = jax.nn.gelu(x @ weights[0] + weights[1], approximate=False)
    logits = jax.nn.log_softmax(hidden @ weights[2])
    return -jnp.mean(jnp.sum(logits * y, axis=-1))


def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, precision="highest") / 8.0
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights.astype(v.dtype), v)


def layer_norm(x, scale, bias):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + bias


def recurrent(weights, xs):
    def step(carry, x):
        carry = jnp.tanh(carry @ weights + x)
        return carry, carry.sum()

    return lax.scan(step, jnp.zeros(xs.shape[1:]), xs)


def newton(x):
    return lax.while_loop(
        lambda c: (c[1] < 20) & (jnp.abs(c[0] ** 2 - 2) > 1e-6),
        lambda c: ((c[0] + 2 / c[0]) / 2, c[1] + 1),
        (x, 0),
    )


def loop_with_call(x):
    inner = jax.jit(lambda v: jnp.sin(v) * 2)
    return lax.fori_loop(0, 5, lambda i, v: inner(v) + i, x)


def scatter_all(x, i, u):
    at = x.at[i]
    return at.set(u), at.add(u), at.multiply(u), at.min(u), at.max(u), x.at[:, 1].add(u[:, 0].sum())


def random_all(key):
    keys = jax.random.split(key, 3)
    return (
        jax.random.normal(keys[0], (3, 4)),
        jax.random.uniform(keys[1], (5,), minval=-1.0),
        jax.random.randint(keys[2], (2,), 0, 9),
        jax.random.bernoulli(key, 0.3, (4,)),
        jax.random.permutation(key, 8),
        jax.random.categorical(key, jnp.zeros((2, 3))),
    )


def rng_bits(state):
    return [
        lax.rng_bit_generator(state, (3, 5), dtype=dtype, algorithm=algorithm)
        for dtype in (jnp.uint32, jnp.uint8)
        for algorithm in (lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY)
    ]


def windows(x):
    return (
        lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 2), "SAME", window_dilation=(1, 2)),
        lax.reduce_window((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]),
                          (2, 2), (1, 1), "VALID"),
        jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1, reverse=True), lax.cumlogsumexp(x),
    )  # fmt: skip


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum()


def shapes(x):
    return (
        x.T, x[::-1], x[1:3, ::2], x.reshape(2, -1), jnp.concatenate([x, x + 1]), x[None],
        jnp.pad(x, ((1, 0), (2, 3))), lax.pad(x, 0.0, ((0, 0, 1), (-1, 2, 0))),
        jnp.broadcast_to(x, (3, 4, 6)), jnp.roll(x, 2), jnp.tile(x, (2, 1)), jnp.repeat(x, 2, 1),
        lax.dynamic_slice(x, (1, 2), (2, 2)), lax.dynamic_update_slice(x, x[:1], (1, 0)),
        jnp.triu(x), jnp.diag(x[:4, :4]), x[2, 3], jnp.squeeze(x[:, :1]),
    )  # fmt: skip


def reductions(x):
    return (
        x.sum(), x.max(0), x.min(1), x.prod(), x.mean(), x.std(0), x.argmax(1), x.argmin(0),
        (x > 0).any(), (x > 0).all(0), jax.nn.logsumexp(x), jnp.median(x), jnp.linalg.norm(x),
        lax.reduce((x, x), (x[0, 0],) * 2, lambda a, b: (a[0] + b[0], a[1] - b[1]), (0,)),
        lax.reduce_xor(x.astype(jnp.int32), (0, 1)),
    )  # fmt: skip


def sorts(x):
    return (
        jnp.sort(x, 0), jnp.argsort(x), -jnp.sort(-x), lax.sort((x, -x), num_keys=2),
        jnp.unique(x, size=3), jnp.searchsorted(x[0], x[1]), lax.top_k(x, 2),
    )  # fmt: skip


def constants(x):
    return (
        x + np.float32(0.1), x * jnp.inf, x - jnp.nan, x + np.arange(24, dtype=np.float32) / 7,
        x[:1] + np.linspace(0, 1, 24 * 5, dtype=np.float32)[:24], np.ones((0, 3), np.float32) + 1,
        np.arange(500, dtype=np.int32) * 3 + x.astype(jnp.int32)[0, 0], np.array([True, False]),
        np.arange(130) % 3 == jnp.arange(130), np.complex64(1 + 2j) * x, np.uint8(200), np.int8(-3),
        np.array([1 + 1j, -2j], np.complex64), np.float32(1e-42) * x, np.float32(3.4e38) * x,
    )  # fmt: skip


def switches(i, x):
    branches = [lambda v: v, lambda v: -v, lambda v: jnp.where(v > 0, v, 0.5 * v)]
    return lax.switch(i, branches, x), lax.cond(i > 0, jnp.sin, jnp.cos, x)


def integer_ops(x, y):
    return (
        x & y, x | y, x ^ y, ~x, x << y, x >> y, lax.shift_right_logical(x, y), x // y, x % y,
        lax.population_count(x), lax.clz(x), x == y, x < y, jnp.minimum(x, y), jnp.abs(x),
        lax.clamp(x, y, x), lax.div(x, y), lax.rem(x, y), jnp.sign(x), x.sum(), x @ y,
    )  # fmt: skip


def small_integer_ops(x, y):
    return x + y, x * y, x - y, x.astype(jnp.int32), (x.astype(jnp.int8) - 3).astype(x.dtype)


def complex_ops(x, y):
    z = lax.complex(x, y)
    return (
        z * z, z / (z + 1), jnp.exp(z), jnp.abs(z), z.real, z.imag, jnp.conj(z), jnp.sqrt(z),
        jnp.log(z), jnp.tanh(z), jnp.sin(z), jnp.equal(z, y), z.sum(), z @ z,
        jnp.power(z, 2.5), jnp.sign(z),
    )  # fmt: skip


def conversions(x):
    kinds = [jnp.bfloat16, jnp.float16, jnp.int8, jnp.uint32, jnp.bool_, jnp.complex64]
    return (
        *(x.astype(kind) for kind in kinds),
        *(x.astype(kind).astype(jnp.float32) for kind in SMALL_FLOATS),
        lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8),
        lax.reduce_precision(x, 5, 2),
    )  # fmt: skip


def linear_algebra(x):
    s = x @ x.T
    return (
        lax.linalg.cholesky(s), lax.linalg.triangular_solve(s, x, left_side=True, lower=True),
        lax.linalg.triangular_solve(s, s, transpose_a=True), jnp.linalg.eigh(s), jnp.linalg.qr(x),
        jnp.linalg.svd(x), jnp.linalg.inv(s), jnp.linalg.det(s), jnp.linalg.solve(s, x),
    )  # fmt: skip


def einsums(x, y):
    return (
        jnp.einsum("ij,kj->ik", x, y), jnp.einsum("ij,ij->i", x, y),
        jnp.einsum("ij,kl->ijkl", x, y),
        jnp.dot(x, y.T, precision="high"), jnp.dot(x, y.T, preferred_element_type=jnp.float32),
        jnp.vdot(x, y), jnp.outer(x[0], y[0]), lax.dot(x, y.T),
    )  # fmt: skip


def ffts(x):
    z = jnp.fft.fft(x)
    return z, jnp.fft.ifft(z), jnp.fft.rfft(x), jnp.fft.irfft(z), jnp.fft.fft2(x)


def gathers(x, i):
    return (
        x[i], x[:, i], jnp.take(x, i, axis=1, mode="clip"), jnp.take_along_axis(x, i[:, None], 1),
        x.at[i].get(mode="fill", fill_value=0), x[i, i], jax.vmap(lambda a, b: a[b])(x, i),
    )  # fmt: skip


def barrier(x, y):
    return lax.optimization_barrier((x, y)), lax.optimization_barrier(x)


def checkpointed(x):
    return jax.grad(lambda v: jax.checkpoint(lambda u: jnp.sin(jnp.sin(u)))(v).sum())(x)


def pallas_matmul(x, y):
    def kernel(x_ref, y_ref, o_ref):
        @pl.when(pl.program_id(2) == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        o_ref[...] += x_ref[...] @ y_ref[...]

    return pl.pallas_call(
        kernel,
        grid=(2, 2, 2),
        in_specs=[
            pl.BlockSpec((8, 16), lambda i, j, k: (i, k)),
            pl.BlockSpec((16, 8), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((8, 8), lambda i, j, k: (i, j)),
        out_shape=jax.ShapeDtypeStruct((16, 16), jnp.float32),
        interpret=True,
    )(x, y)


WEIGHTS = (f32(6, 8), f32(8), f32(8, 5))
IMAGES, KERNEL = f32(2, 8, 9, 4), f32(3, 2, 4, 6)

PROGRAMS = {
    "attention": (attention, *[of(jnp.bfloat16, 2, 3, 8, 16)] * 3),
    "attention_gradient": (
        jax.grad(lambda *a: attention(*a).sum(), argnums=(0, 1, 2)), *[f32(1, 2, 4, 8)] * 3,
    ),
    "barrier": (barrier, f32(3), of(jnp.int32, 2)),
    "checkpointed": (checkpointed, f32(4)),
    "complex": (complex_ops, f32(4, 4), f32(4, 4)),
    "constants": (constants, f32(5, 24)),
    "conversions": (conversions, f32(3, 4)),
    "convolution": (conv(), IMAGES, KERNEL),
    "convolution_transposed": (conv(lhs_dilation=(2, 3)), IMAGES, KERNEL),
    "convolution_grouped": (conv(groups=2), IMAGES, f32(3, 2, 2, 6)),
    "convolution_batch_groups": (conv(batch_groups=2), IMAGES, KERNEL),
    "convolution_nchw": (
        conv(layout=("NCHW", "OIHW", "NCHW")), f32(2, 4, 8, 9), f32(6, 4, 3, 2),
    ),
    "convolution_gradient": (
        jax.grad(lambda x, k: conv()(x, k).sum(), argnums=(0, 1)), IMAGES, KERNEL,
    ),
    "einsum": (einsums, f32(4, 4), f32(4, 4)),
    "fft": (ffts, f32(4, 8)),
    "gather": (gathers, f32(4, 5), of(jnp.int32, 4)),
    "jacobian": (jax.jacfwd(lambda x: jnp.sin(x) * x.sum()), f32(3)),
    "layer_norm": (layer_norm, f32(4, 6), f32(6), f32(6)),
    "layer_norm_gradient": (
        jax.grad(lambda *a: (layer_norm(*a) ** 2).sum(), argnums=(0, 1, 2)),
        f32(4, 6), f32(6), f32(6),
    ),
    "linear_algebra": (linear_algebra, f32(4, 4)),
    "loop_with_call": (loop_with_call, f32(3)),
    "max_pool_gradient": (jax.grad(max_pool), f32(1, 4, 6, 2)),
    "mlp": (mlp_loss, WEIGHTS, f32(4, 6), f32(4, 5)),
    "mlp_gradient": (jax.value_and_grad(mlp_loss), WEIGHTS, f32(4, 6), f32(4, 5)),
    "newton": (newton, f32()),
    "no_results": (lambda x: (), f32(3)),
    "pallas_matmul": (pallas_matmul, f32(16, 32), f32(32, 16)),
    "random": (random_all, of(jnp.uint32, 2)),
    "reductions": (reductions, f32(4, 6)),
    "reductions_bf16": (reductions, of(jnp.bfloat16, 4, 6)),
    "rng_bit_generator": (rng_bits, of(jnp.uint32, 4)),
    "scalar": (lambda x: x * 2, f32()),
    "scan": (recurrent, f32(3, 3), f32(5, 2, 3)),
    "scan_gradient": (jax.grad(lambda w, x: recurrent(w, x)[1].sum()), f32(3, 3), f32(5, 2, 3)),
    "scatter": (scatter_all, f32(4, 5), of(jnp.int32, 3), f32(3, 5)),
    "shapes": (shapes, f32(4, 6)),
    "sorts": (lambda x: sorts(x)[:-1], f32(3, 5)),
    "switches": (switches, of(jnp.int32), f32(3)),
    "top_k": (lambda x: lax.top_k(x, 2), f32(3, 5)),
    "vmap_cond": (jax.vmap(lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x)), of(bool, 4), f32(4)),
    "windows": (windows, f32(4, 6)),
    **{f"unary_{name}": (getattr(lax, name), f32(2, 3)) for name in UNARY},
    **{f"binary_{name}": (getattr(lax, name), f32(2, 3), f32(2, 3)) for name in BINARY},
    **{f"float_{kind.__name__}": (lambda x: (jnp.tanh(x) * 0.1 + x @ x).sum(), of(kind, 3, 3))
       for kind in FLOATS},
    **{f"float_{kind}": (lambda x: x.astype(jnp.float32) @ x.astype(jnp.float32).T,
                         of(kind, 3, 4)) for kind in SMALL_FLOATS},
    **{f"integer_{kind}": (small_integer_ops, of(kind, 3, 3), of(kind, 3, 3))
       for kind in ("int4", "uint4")},
    **{f"integer_{kind}": (integer_ops, of(kind, 3, 3), of(kind, 3, 3)) for kind in INTEGERS},
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_program(name):
    function, *arguments = PROGRAMS[name]
    check_both_forms(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))


WIDE = [
    "reductions", "shapes", "constants", "random", "linear_algebra", "newton", "fft",
    "integer_int32", "complex",
]  # fmt: skip


@pytest.mark.parametrize("name", WIDE)
def test_program_in_64_bits(name):
    function, *arguments = PROGRAMS[name]
    wide = {jnp.dtype("float32"): jnp.float64, jnp.dtype("int32"): jnp.int64}
    with jax.enable_x64(True):
        arguments = [of(wide.get(a.dtype, a.dtype), *a.shape) for a in arguments]
        check_both_forms(jax.jit(function).lower(*arguments).compiler_ir("stablehlo"))


def test_locations_are_skipped():
    function, *arguments = PROGRAMS["scan"]
    module = jax.jit(function).lower(*arguments).compiler_ir("stablehlo")
    for generic in (False, True):
        text = module.operation.get_asm(enable_debug_info=True, print_generic_op_form=generic)
        assert "loc(" in text
        check(text)


def test_sharding_is_dropped():
    mesh = jax.make_mesh((1,), ("x",))
    spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    lowered = jax.jit(lambda x: x * 2, in_shardings=spec, donate_argnums=0).lower(f32(4))
    text = lowered.as_text()
    assert "sdy" in text
    parse(run_tool(text, "pretty"))


FLOAT_ENCODINGS = {
    "f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "f8E4M3B11FNUZ": 8,
    "bf16": 16, "f16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


@pytest.mark.parametrize("element", FLOAT_ENCODINGS)
def test_floats_are_spelled_alike(element):
    seed = int(os.environ.get("TPU_TEST_SEED", "20240607"))
    print(f"TPU_TEST_SEED={seed}")
    rng = np.random.default_rng(seed)
    bits = FLOAT_ENCODINGS[element]
    encodings = [int.from_bytes(rng.bytes(bits // 8), "little") for _ in range(2000)]
    decimals = [int(np.float32(n / 1000).view(np.uint32)) for n in range(1, 2000)]
    if bits == 32:
        encodings += decimals
    # Lists of up to 100 elements are printed as numbers.
    lines = []
    for start in range(0, len(encodings), 100):
        part = encodings[start : start + 100]
        numbers = ", ".join(f"0x{encoding:0{bits // 4}X}" for encoding in part)
        value = f"dense<[{numbers}]> : tensor<{len(part)}x{element}>"
        lines.append(f"    %{start} = stablehlo.constant {value}\n")
    check(f"module {{\n  func.func @main() {{\n{''.join(lines)}    return\n  }}\n}}\n")


# Forms that JAX does not lower to, in jaxlib's own spelling.
WRITTEN = sorted(pathlib.Path(__file__).parent.glob("text/testdata/*.mlir"))


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.stem)
def test_written_program(path):
    text = path.read_text()
    check(text)
    check(parse(text).operation.get_asm(print_generic_op_form=True))


def test_random_programs(tmp_path):
    """Our own random programs verify in jaxlib and survive like those that JAX lowers."""
    seed = int(os.environ.get("TPU_TEST_SEED", "20240607"))
    for number in range(seed, seed + 40):
        print(f"TPU_TEST_SEED={number}")
        subprocess.run([TOOL, "--random", str(number), str(tmp_path)], check=True)
        check((tmp_path / "program.mlir").read_text())
