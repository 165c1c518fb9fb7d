// Elementwise operators of one tensor.
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

constexpr Promotion kKeep = Promotion::kDefault;
constexpr Promotion kFloat = Promotion::kIntToFloat;

/// A function that StableHLO has by itself, in floating point.
LowerFunction float_function(OpKind kind) {
  return unary(kFloat, [kind](const Pointwise& p) { return p.b.unary(kind, p.x[0]); });
}

/// A function of the chlo dialect, which the compiler fuses like any other.
LowerFunction chlo_function(std::string_view name) {
  return real_or_library(unary(kFloat, [target = "chlo." + std::string(name)](const Pointwise& p) {
    return p.b.custom_call(target, {p.x[0]}, {p.x[0]->type})[0];
  }));
}

/// Rounding is the identity on integers.
LowerFunction rounding(OpKind kind) {
  return unary(kKeep, [kind](const Pointwise& p) {
    return p.is_float() ? p.b.unary(kind, p.x[0]) : p.x[0];
  });
}

Value* trunc(const Pointwise& p, Value* x) {
  return p.b.select(p.b.compare(x, p.full(0.0), "LT"), p.b.ceil(x), p.b.floor(x));
}

Value* absolute(const Pointwise& p) {
  return c10::isIntegralType(p.common, true) && !c10::isSignedType(p.common) ? p.x[0]
                                                                             : p.b.abs(p.x[0]);
}

/// Of a complex number a real one.
void magnitude(Lowering& op) {
  const Tensor self = op.tensor("self");
  if (!c10::isComplexType(self.dtype)) {
    return pointwise(op, {"self"}, kKeep, PointwiseResult::kCommon, absolute);
  }
  TORCH_CHECK(!op.op_name().ends_with("abs_"),
              "In-place abs is not supported for complex tensors.");
  op.result(op.b.abs(self.value), ResultLayout::kOperands, {self});
}

Value* sign(const Pointwise& p) {
  Value* x = p.x[0];
  if (p.common == DType::Bool) return x;
  // PyTorch: sign(nan) is 0, sign(-0.0) is 0.
  Value* zero = p.full_int(0);
  Value* positive = p.b.select(p.b.compare(x, zero, "GT"), p.full_int(1), zero);
  if (!c10::isSignedType(p.common)) return positive;
  return p.b.select(p.b.compare(x, zero, "LT"), p.full_int(-1), positive);
}

Value* negate(const Pointwise& p) {
  TORCH_CHECK(p.common != DType::Bool,
              "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
              "invert a mask, use the `~` or `logical_not()` operator instead.");
  return p.b.negate(p.x[0]);
}

Value* bitwise_not(const Pointwise& p) {
  TORCH_CHECK(c10::isIntegralType(p.common, true), "\"bitwise_not_cpu\" not implemented for '",
              c10::toString(p.common), "'");
  return p.b.not_(p.x[0]);
}

Value* logarithm_of_base(const Pointwise& p, double base) {
  // log(x) / log(base), rounded twice; exact powers stay exact only for base 2 by luck, so the
  // quotient is formed in float64, which is far finer than float32's spacing.
  if (p.compute == DType::Float) {
    Value* x = p.op.convert(p.x[0], DType::Double);
    Value* scale = p.b.splat({ElementType::kF64, p.shape}, std::log(base));
    return p.op.convert(p.b.divide(p.b.log(x), scale), DType::Float);
  }
  return p.b.divide(p.b.log(p.x[0]), p.full(std::log(base)));
}

Value* exp2(const Pointwise& p) {
  return p.b.power(p.full(2.0), p.x[0]);
}

Value* nan_to_num(const Pointwise& p) {
  Value* x = p.x[0];
  if (!p.is_float()) return x;
  double largest = std::numeric_limits<double>::max();
  if (p.common == DType::Float) largest = std::numeric_limits<float>::max();
  if (p.common == DType::BFloat16) largest = 3.3895313892515355e38;  // 2^127 (2 - 2^-7)
  if (p.common == DType::Half) largest = 65504;
  const auto replacement = [&](std::string_view name, double fallback) {
    return p.op.has(name) ? p.scalar(name) : p.full(fallback);
  };
  const double inf = std::numeric_limits<double>::infinity();
  Value* y = p.b.select(p.is_nan(x), replacement("nan", 0.0), x);
  y = p.b.select(p.b.compare(x, p.full(inf), "EQ"), replacement("posinf", largest), y);
  return p.b.select(p.b.compare(x, p.full(-inf), "EQ"), replacement("neginf", -largest), y);
}

Value* sinc(const Pointwise& p) {
  Value* x = p.b.multiply(p.x[0], p.full(std::numbers::pi));
  Value* quotient = p.b.divide(p.b.sine(x), x);
  return p.b.select(p.b.compare(x, p.full(0.0), "EQ"), p.full(1.0), quotient);
}

Value* logit(const Pointwise& p) {
  Value* x = p.x[0];
  if (p.op.has("eps")) {
    Value* eps = p.scalar("eps");
    Value* upper = p.b.subtract(p.full(1.0), eps);
    x = p.b.select(p.b.compare(x, eps, "LT"), eps, x);
    x = p.b.select(p.b.compare(x, upper, "GT"), upper, x);
  }
  return p.b.log(p.b.divide(x, p.b.subtract(p.full(1.0), x)));
}

// 1 / (x (1 - x)) inside; past the ends NaN without eps, 0 with it.
Value* logit_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[1];
  Value* one = p.full(1.0);
  Value* low = p.op.has("eps") ? p.scalar("eps") : p.full(0.0);
  Value* inside = b.and_(b.compare(x, low, "GE"), b.compare(x, b.subtract(one, low), "LE"));
  Value* slope = b.divide(p.x[0], b.multiply(x, b.subtract(one, x)));
  const double past = p.op.has("eps") ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  return b.select(inside, slope, p.full(past));
}

// -x log x; 0 at 0, minus infinity below.
Value* entropy(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[0];
  Value* zero = p.full(0.0);
  Value* y = b.multiply(b.negate(x), b.log(x));
  y = b.select(b.compare(x, zero, "EQ"), zero, y);
  y = b.select(b.compare(x, zero, "LT"), p.full(-std::numeric_limits<double>::infinity()), y);
  return b.select(p.is_nan(x), x, y);
}

// Rounds to 10^-decimals; a negative number of decimals to tens, hundreds, ...
Value* round_decimals(const Pointwise& p) {
  Builder& b = p.b;
  TORCH_CHECK(p.is_float() || c10::isIntegralType(p.common, false),
              "\"round_cpu\" not implemented for '", c10::toString(p.common), "'");
  if (!p.is_float()) return p.x[0];
  const int64_t decimals = p.op.integer("decimals");
  Value* scale = p.full(std::pow(10.0, std::abs(static_cast<double>(decimals))));
  if (decimals < 0) return b.multiply(b.round_nearest_even(b.divide(p.x[0], scale)), scale);
  return b.divide(b.round_nearest_even(b.multiply(p.x[0], scale)), scale);
}

// The phase; of a real number 0 or pi, and of NaN itself.
void angle(Lowering& op) {
  const Tensor self = op.tensor("self");
  if (c10::isComplexType(self.dtype)) {
    Builder& b = op.b;
    return op.result(b.atan2(b.imag(self.value), b.real(self.value)), ResultLayout::kOperands,
                     {self});
  }
  pointwise(op, {"self"}, kFloat, PointwiseResult::kCommon, [](const Pointwise& p) {
    Value* x = p.x[0];
    Value* phase =
        p.b.select(p.b.compare(x, p.full(0.0), "LT"), p.full(std::numbers::pi), p.full(0.0));
    return p.b.select(p.is_nan(x), x, phase);
  });
}

Value* conjugate(const Pointwise& p) {
  Value* x = p.x[0];
  return p.is_complex() ? p.b.complex(p.b.real(x), p.b.negate(p.b.imag(x))) : x;
}

}  // namespace

void add_pointwise_unary(Table& table) {
  const Table rows = {
      {"abs", magnitude},
      {"neg", unary(kKeep, negate)},
      {"_conj_physical", unary(kKeep, conjugate)},
      {"conj_physical.out", unary(kKeep, conjugate)},
      {"conj_physical_", unary(kKeep, conjugate)},
      {"angle", angle},
      {"sign", unary(kKeep, sign)},
      {"sgn", real_or_library(unary(kKeep, sign))},
      {"bitwise_not", unary(kKeep, bitwise_not)},
      {"logical_not",
       unary(
           kKeep, [](const Pointwise& p) { return p.b.compare(p.x[0], p.full_int(0), "EQ"); },
           PointwiseResult::kBool)},
      {"exp", float_function(OpKind::kExponential)},
      {"expm1", float_function(OpKind::kExponentialMinusOne)},
      {"exp2", unary(kFloat, exp2)},
      {"log", float_function(OpKind::kLog)},
      {"log1p", float_function(OpKind::kLogPlusOne)},
      {"log2", unary(kFloat, [](const Pointwise& p) { return logarithm_of_base(p, 2); })},
      {"log10", unary(kFloat, [](const Pointwise& p) { return logarithm_of_base(p, 10); })},
      {"sqrt", float_function(OpKind::kSqrt)},
      {"rsqrt", float_function(OpKind::kRsqrt)},
      {"sin", float_function(OpKind::kSine)},
      {"cos", float_function(OpKind::kCosine)},
      {"tan", float_function(OpKind::kTan)},
      {"tanh", float_function(OpKind::kTanh)},
      {"sigmoid", float_function(OpKind::kLogistic)},
      {"asin", chlo_function("asin")},
      {"acos", chlo_function("acos")},
      {"atan", chlo_function("atan")},
      {"sinh", chlo_function("sinh")},
      {"cosh", chlo_function("cosh")},
      {"asinh", chlo_function("asinh")},
      {"acosh", chlo_function("acosh")},
      {"atanh", chlo_function("atanh")},
      {"erf", chlo_function("erf")},
      {"erfc", chlo_function("erfc")},
      {"erfinv", chlo_function("erf_inv")},
      {"lgamma", chlo_function("lgamma")},
      {"digamma", chlo_function("digamma")},
      {"floor", rounding(OpKind::kFloor)},
      {"ceil", rounding(OpKind::kCeil)},
      {"round", rounding(OpKind::kRoundNearestEven)},
      {"trunc",
       unary(kKeep, [](const Pointwise& p) { return p.is_float() ? trunc(p, p.x[0]) : p.x[0]; })},
      {"frac",
       unary(kKeep, [](const Pointwise& p) { return p.b.subtract(p.x[0], trunc(p, p.x[0])); })},
      {"reciprocal",
       unary(kFloat, [](const Pointwise& p) { return p.b.divide(p.full(1.0), p.x[0]); })},
      {"isnan",
       unary(
           kKeep, [](const Pointwise& p) { return p.is_nan(p.x[0]); }, PointwiseResult::kBool)},
      {"nan_to_num", unary(kKeep, nan_to_num)},
      {"sinc", unary(kFloat, sinc)},
      {"logit", unary(kFloat, logit)},
      {"logit_backward", elementwise({"grad_output", "self"}, kFloat, logit_backward)},
      {"special_entr", unary(kFloat, entropy)},
      {"round.decimals", unary(kKeep, round_decimals)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
