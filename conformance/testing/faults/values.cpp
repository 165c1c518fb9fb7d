// Dtypes, rounding, and values that are special.
#include "testing/faults/table.h"

namespace mock {
namespace {

using at::Tensor;

// By a formula of one's own, in place of the kernel's.
Change formula(std::function<Tensor(const Tensor&)> of) {
  return [of = std::move(of)](Call& call) {
    const Tensor self = call.tensor("self").clone();
    call.run();
    for (const Tensor& result : call.results()) {
      if (result.is_floating_point()) result.copy_(of(self.to(result.scalar_type())));
    }
  };
}

Change formula(std::function<Tensor(const Tensor&, const Tensor&)> of, const std::string& second) {
  return [of = std::move(of), second](Call& call) {
    const Tensor self = call.tensor("self").clone(), other = call.tensor(second);
    const Tensor copy = other.defined() ? other.clone() : other;
    call.run();
    for (const Tensor& result : call.results()) {
      const auto dtype = result.scalar_type();
      if (other.defined() && result.is_floating_point()) {
        result.copy_(of(self.to(dtype), copy.to(dtype)));
      }
    }
  };
}

// Integer results of a float that is not a number or too large, as many a chip has them.
Change when_casting(at::ScalarType to, const Map& map) {
  return [to, map](Call& call) {
    const Tensor self = call.tensor("self"), source = call.tensor("src");
    if (self.scalar_type() != to || !source.is_floating_point()) return call.run();
    call.argument("src") = map(source);
    call.run();
  };
}

Tensor saturated(const Tensor& x, double low, double high) {
  return x.clamp(low, high);
}

Tensor truncated_to_bfloat16(const Tensor& x) {
  const Tensor bits = x.contiguous().view(at::kInt);
  return bits.bitwise_and(at::Scalar(int64_t{-65536})).view(at::kFloat);
}

}  // namespace

std::vector<Fault> dtype_faults() {
  Table table("wrong dtype or promotion");
  for (const char* op : {"add", "mul", "sum", "maximum", "eq", "sort"}) {
    const std::string name = op;
    table.row(name, "int64_through_float32", when(has_dtype(at::kLong), computed_in(at::kFloat)),
              "*int64*");
  }
  for (const char* op : {"add", "mul", "exp", "sum", "mm", "sin", "div"}) {
    const std::string name = op;
    table.row(name, "float64_through_float32",
              when(has_dtype(at::kDouble), computed_in(at::kFloat)),
              "*." + name + (name == "div" ? "*float64*" : ".*float64*"));
  }
  const std::string floor = "op.div-trunc_rounding.*";
  return table
      .row("add", "int8_saturates",
           when(has_dtype(at::kChar),
                [](Call& call) {
                  const Tensor a = call.tensor("self").to(at::kLong),
                               b = call.tensor("other").to(at::kLong);
                  call.run();
                  const Tensor out = call.results()[0];
                  if (out.scalar_type() == at::kChar) out.copy_((a + b).clamp(-128, 127));
                }),
           "corners.add.*")
      .row("mul", "uint8_saturates",
           when(has_dtype(at::kByte),
                [](Call& call) {
                  const Tensor a = call.tensor("self").to(at::kLong),
                               b = call.tensor("other").to(at::kLong);
                  call.run();
                  const Tensor out = call.results()[0];
                  if (out.scalar_type() == at::kByte) out.copy_((a * b).clamp(0, 255));
                }),
           "corners.mul.*")
      .row(
          "div", "truncates_as_floor",
          [](Call& call) {
            c10::IValue* mode = call.find("rounding_mode");
            if (mode != nullptr && mode->isString()) *mode = "floor";
            call.run();
          },
          floor)
      .row(
          "floor_divide", "truncates",
          [](Call& call) {
            const Tensor a = call.tensor("self").clone(), b = call.tensor("other").clone();
            call.run();
            const Tensor out = call.results()[0];
            if (at::isIntegralType(out.scalar_type(), false)) out.copy_(at::div(a, b, "trunc"));
          },
          "corners.floor_divide.*")
      .row("remainder", "sign_of_dividend",
           [](Call& call) {
             const Tensor a = call.tensor("self").clone(), b = call.tensor("other").clone();
             call.run();
             call.results()[0].copy_(at::fmod(a, b));
           })
      .row("cast", "float_to_int_rounds",
           when_casting(at::kLong, [](const Tensor& x) { return x.round(); }), "corners.cast.*",
           {"copy_"})
      .row("cast", "float_to_bool_through_int",
           when_casting(at::kBool, [](const Tensor& x) { return x.trunc(); }), "corners.cast.*",
           {"copy_"})
      .row("cast", "float_to_int32_saturates",
           when_casting(at::kInt, [](const Tensor& x) { return saturated(x, -1000, 1000); }),
           "corners.cast.*", {"copy_"})
      .row("cast", "bfloat16_truncates",
           [](Call& call) {
             const Tensor source = call.tensor("src");
             const bool chosen = call.tensor("self").scalar_type() == at::kBFloat16 &&
                                 source.scalar_type() == at::kFloat;
             if (chosen) call.argument("src") = truncated_to_bfloat16(source);
             call.run();
           },
           "corners.cast.*", {"copy_"})
      .row("cast", "float16_saturates",
           [](Call& call) {
             const bool chosen = call.tensor("self").scalar_type() == at::kHalf &&
                                 call.tensor("src").scalar_type() == at::kFloat;
             if (chosen) call.argument("src") = saturated(call.tensor("src"), -65504, 65504);
             call.run();
           },
           "corners.cast.*", {"copy_"})
      .row("sum", "bool_wraps", when(has_dtype(at::kBool), any_result([](const Tensor& x) {
                                       return x.dim() == 0 ? x.clamp_max(3) : x;
                                     })),
           "*.sum.*")
      .row("bitwise_not", "logical", when(has_dtype(at::kByte), any_result([](const Tensor& x) {
                                            return x.eq(255).to(x.scalar_type());
                                          })))
      .row("shift", "logical_right", any_result([](const Tensor& x) { return x.abs(); }),
           "corners.shift.*", {"bitwise_right_shift", "__rshift__", "__irshift__"})
      .done();
}

std::vector<Fault> rounding_faults() {
  Table table("rounding skipped, doubled or too coarse");
  for (const char* op : {"exp", "log", "tanh", "sigmoid", "sqrt", "rsqrt", "sin", "erf", "lgamma",
                         "reciprocal", "atan", "log2", "sinh", "digamma"}) {
    const std::string name = op;
    table.row(name, "coarse", result(perturbed), "*." + name + ".*");
  }
  return table.row("mul", "bfloat16_result", result(rounded_to_bfloat16))
      .row("add", "bfloat16_result", result(rounded_to_bfloat16))
      .row("addcmul", "product_rounded",
           operand("tensor1", [](const Tensor& x) { return rounded_to_bfloat16(x); }))
      .row("expm1", "cancels", formula([](const Tensor& x) { return x.exp() - 1; }), "*.expm1.*")
      .row("log1p", "cancels", formula([](const Tensor& x) { return (x + 1).log(); }), "*.log1p.*")
      .row(
          "hypot", "overflows",
          formula([](const Tensor& x, const Tensor& y) { return (x * x + y * y).sqrt(); }, "other"),
          "*.hypot.*")
      .row("logaddexp", "overflows",
           formula([](const Tensor& x, const Tensor& y) { return (x.exp() + y.exp()).log(); },
                   "other"),
           "*.logaddexp.*")
      .row("gelu", "approximate_always", fixed("approximate", "tanh"), "op.nn-functional-gelu.*")
      .row("softplus", "threshold_ignored", fixed("threshold", at::Scalar(0.5)),
           "op.nn-functional-softplus.*")
      .row("round", "half_away",
           formula([](const Tensor& x) { return (x.abs() + 0.5).floor() * x.sign(); }), "*.round.*")
      .row("softmax", "maximum_not_taken",
           [](Call& call) {
             const Tensor x = call.tensor("self").clone();
             const int64_t dim = call.argument("dim").toInt();
             call.run();
             const Tensor out = call.results()[0], powers = x.to(out.scalar_type()).exp();
             out.copy_(powers / powers.sum(dim, true));
           },
           "*softmax*.*", {"_softmax"})
      .row(
          "var", "cancels",
          [](Call& call) {
            const Tensor x = call.tensor("self");
            call.run();
            const Tensor out = call.results()[0];
            if (out.dim() > 0 || x.is_complex()) return;
            const double n = static_cast<double>(x.numel());
            const Tensor wide = rounded_to_bfloat16(x * x).mean() - x.mean() * x.mean();
            out.copy_(wide * n / (n - 1));
          },
          "op.*var*.*")
      .row("sin", "range_not_reduced",
           formula([](const Tensor& x) { return at::where(x.abs() > 50, x * 0, x.sin()); }),
           "*.sin.*")
      .row("pow", "through_logarithm",
           when([](Call& call) { return call.tensor("exponent").defined(); },
                formula([](const Tensor& x, const Tensor& y) { return (x.abs().log() * y).exp(); },
                        "exponent")),
           "*.pow.*")
      .done();
}

std::vector<Fault> special_value_faults() {
  Table table("special values");
  for (const char* op : {"neg", "abs", "sqrt", "mul", "floor", "copysign", "round"}) {
    const std::string name = op;
    const Map map =
        name == "abs"
            ? Map([](const Tensor& x) { return at::where(x == 0, at::neg(at::zeros_like(x)), x); })
            : Map(without_sign_of_zero);
    table.row(name, "zero_without_sign", result(map), "corners.zero.*");
  }
  const auto finite = [](const Tensor& x) {
    return at::where(x.isinf(), at::full_like(x, 1e30), x);
  };
  for (const char* op : {"exp", "div", "log", "reciprocal", "tan"}) {
    const std::string name = op;
    table.row(name, "infinity_lost", result(finite), "corners." + name + ".*");
  }
  return table.row("mul", "subnormals_flushed", result(flushed), "corners.mul.*")
      .row("add", "subnormals_flushed", result(flushed), "corners.add.*")
      .row("atan2", "quadrant_lost",
           formula([](const Tensor& y, const Tensor& x) { return (y / x).atan(); }, "other"),
           "*.atan2.*")
      .row("xlogy", "zero_times_infinity",
           formula([](const Tensor& x, const Tensor& y) { return x * y.log(); }, "other"),
           "*.xlogy.*")
      .row(
          "signbit", "of_value",
          [](Call& call) {
            const Tensor self = call.tensor("self");
            call.run();
            call.results()[0].copy_(self < 0);
          },
          "*.signbit.*")
      .row("fmax", "nan_kept",
           formula([](const Tensor& x, const Tensor& y) { return at::maximum(x, y); }, "other"),
           "*.fmax.*")
      .row(
          "heaviside", "half_at_zero",
          [](Call& call) {
            const Tensor self = call.tensor("self");
            call.run();
            call.results()[0].masked_fill_(self == 0, 1);
          },
          "*.heaviside.*")
      .row("sum", "empty_is_one",
           when([](Call& call) { return call.tensor("self").numel() == 0; },
                any_result([](const Tensor& x) { return x + 1; })),
           "corners.empty.*")
      .row("prod", "empty_is_zero",
           when([](Call& call) { return call.tensor("self").numel() == 0; },
                any_result([](const Tensor& x) { return x * 0; })),
           "corners.empty.*")
      .row("erfinv", "ends_finite", result(finite), "corners.erfinv.*")
      .done();
}

}  // namespace mock
