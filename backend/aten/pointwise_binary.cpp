// Elementwise arithmetic of two operands.
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

constexpr Promotion kKeep = Promotion::kDefault;
constexpr Promotion kFloat = Promotion::kIntToFloat;

bool is_integral(const Pointwise& p) {
  return c10::isIntegralType(p.common, true);
}

// alpha may not carry a kind of number that the result could not hold.
void check_alpha(const Pointwise& p, std::string_view name) {
  const auto kind = p.op.scalar_kind(name);
  TORCH_CHECK(kind != ScalarValue::Kind::kBool || p.common == DType::Bool,
              "Boolean alpha only supported for Boolean results.");
  TORCH_CHECK(c10::isFloatingType(p.common) || c10::isComplexType(p.common) ||
                  kind == ScalarValue::Kind::kBool || kind == ScalarValue::Kind::kInt,
              "For integral input tensors, argument alpha must not be a floating point number.");
}

// alpha is an operand and not a constant: a learning rate that changes each step compiles once, and
// a product with 1 is exact and hides behind the memory traffic.
Value* scaled(const Pointwise& p, Value* x, std::string_view alpha) {
  check_alpha(p, alpha);
  return p.common == DType::Bool ? p.b.and_(x, p.scalar(alpha)) : p.b.multiply(x, p.scalar(alpha));
}

Value* add(const Pointwise& p) {
  return p.b.add(p.x[0], scaled(p, p.x[1], "alpha"));
}

// One bool operand is enough to refuse, although the common dtype could subtract.
void check_not_bool(const Pointwise& p) {
  for (const char* name : {"self", "other"}) {
    TORCH_CHECK(p.op.tensor(name).dtype != DType::Bool,
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
                "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  }
}

Value* subtract(const Pointwise& p) {
  check_not_bool(p);
  return p.b.subtract(p.x[0], scaled(p, p.x[1], "alpha"));
}

Value* reverse_subtract(const Pointwise& p) {
  check_not_bool(p);
  return p.b.subtract(p.x[1], scaled(p, p.x[0], "alpha"));
}

Value* multiply(const Pointwise& p) {
  return p.common == DType::Bool ? p.b.and_(p.x[0], p.x[1]) : p.b.multiply(p.x[0], p.x[1]);
}

// Integer division by zero is an error, as on the CPU.
void assert_divisor(const Pointwise& p, Value* divisor) {
  Value* nonzero = p.b.compare(divisor, p.full_int(0), "NE");
  Value* all = p.op.reduce(nonzero, OpKind::kAnd, iota_dims(static_cast<int64_t>(p.shape.size())),
                           /*keepdim=*/false);
  p.b.assert_true(all, "ZeroDivisionError");
}

// Quotient rounded to minus infinity. Integers: StableHLO truncates, so step down where the
// remainder is not zero and the signs differ.
Value* floor_quotient(const Pointwise& p, Value* a, Value* b_) {
  Builder& b = p.b;
  if (is_integral(p)) {
    assert_divisor(p, b_);
    Value* quotient = b.divide(a, b_);
    if (!c10::isSignedType(p.common)) return quotient;
    Value* zero = p.full_int(0);
    Value* inexact = b.compare(b.remainder(a, b_), zero, "NE");
    Value* differ = b.compare(b.compare(a, zero, "LT"), b.compare(b_, zero, "LT"), "NE");
    return b.select(b.and_(inexact, differ), b.subtract(quotient, p.full_int(1)), quotient);
  }
  // Python's float floor division: from the exact remainder, so that the quotient's own rounding
  // cannot push it over an integer.
  Value* zero = p.full(0.0);
  Value* mod = b.remainder(a, b_);
  Value* quotient = b.divide(b.subtract(a, mod), b_);
  Value* differ = b.and_(b.compare(mod, zero, "NE"),
                         b.compare(b.compare(b_, zero, "LT"), b.compare(mod, zero, "LT"), "NE"));
  quotient = b.select(differ, b.subtract(quotient, p.full(1.0)), quotient);
  Value* floored = b.floor(quotient);
  Value* step_up = b.compare(b.subtract(quotient, floored), p.full(0.5), "GT");
  floored = b.select(step_up, b.add(floored, p.full(1.0)), floored);
  Value* exact = b.divide(a, b_);
  // A zero quotient keeps the sign of a / b.
  Value* signed_zero = b.multiply(zero, exact);
  floored = b.select(b.compare(quotient, zero, "EQ"), signed_zero, floored);
  return b.select(b.compare(b_, zero, "EQ"), exact, floored);
}

Value* truncated_quotient(const Pointwise& p, Value* a, Value* b_) {
  if (is_integral(p)) {
    assert_divisor(p, b_);
    return p.b.divide(a, b_);
  }
  Value* q = p.b.divide(a, b_);
  return p.b.select(p.b.compare(q, p.full(0.0), "LT"), p.b.ceil(q), p.b.floor(q));
}

void divide_with_mode(Lowering& op) {
  if (!op.has("rounding_mode")) {
    return pointwise(op, {"self", "other"}, kFloat, PointwiseResult::kCommon,
                     [](const Pointwise& p) { return p.b.divide(p.x[0], p.x[1]); });
  }
  const std::string mode = op.string("rounding_mode");
  TORCH_CHECK(mode == "trunc" || mode == "floor",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", mode,
              "'");
  pointwise(op, {"self", "other"}, kKeep, PointwiseResult::kCommon, [&](const Pointwise& p) {
    return mode == "floor" ? floor_quotient(p, p.x[0], p.x[1])
                           : truncated_quotient(p, p.x[0], p.x[1]);
  });
}

// C's fmod: the sign of the dividend.
Value* fmod(const Pointwise& p) {
  if (is_integral(p)) assert_divisor(p, p.x[1]);
  return p.b.remainder(p.x[0], p.x[1]);
}

// Python's %: the sign of the divisor.
Value* remainder(const Pointwise& p) {
  Builder& b = p.b;
  if (is_integral(p)) assert_divisor(p, p.x[1]);
  Value* mod = b.remainder(p.x[0], p.x[1]);
  if (!c10::isSignedType(p.common)) return mod;
  Value* zero = p.full_int(0);
  Value* differ = b.and_(b.compare(mod, zero, "NE"), b.compare(b.compare(p.x[1], zero, "LT"),
                                                               b.compare(mod, zero, "LT"), "NE"));
  return b.select(differ, b.add(mod, p.x[1]), mod);
}

// The number that is not NaN wins.
Value* fmax(const Pointwise& p, OpKind kind) {
  Value* both = p.b.binary(kind, p.x[0], p.x[1]);
  if (!p.is_float()) return both;
  Value* pick = p.b.select(p.is_nan(p.x[1]), p.x[0], both);
  return p.b.select(p.is_nan(p.x[0]), p.x[1], pick);
}

// Integer powers below zero: 1 for base 1, alternating for -1, 0 for others (PyTorch's rule);
// StableHLO leaves them open.
Value* integer_power(const Pointwise& p, Value* base, Value* exponent) {
  Builder& b = p.b;
  Value* raised = b.power(base, exponent);
  if (!c10::isSignedType(p.common)) return raised;
  Value* zero = p.full_int(0);
  Value* one = p.full_int(1);
  Value* minus_one = p.full_int(-1);
  Value* odd = b.compare(b.and_(exponent, one), one, "EQ");
  Value* alternating = b.select(odd, minus_one, one);
  Value* below = b.select(b.compare(base, minus_one, "EQ"), alternating, zero);
  below = b.select(b.compare(base, one, "EQ"), one, below);
  return b.select(b.compare(exponent, zero, "LT"), below, raised);
}

Value* power(const Pointwise& p) {
  if (p.common == DType::Bool) {
    return p.b.or_(p.x[0], p.b.not_(p.x[1]));  // x ** y is false only for False ** True
  }
  return is_integral(p) ? integer_power(p, p.x[0], p.x[1]) : p.b.power(p.x[0], p.x[1]);
}

// Exponents that need no logarithm: exact squares, cubes and roots, as the CPU kernel does it.
Value* power_of_number(const Pointwise& p) {
  Builder& b = p.b;
  const ScalarValue exponent = p.op.number("exponent");
  const double e = exponent.to_double();
  if (is_integral(p)) {
    TORCH_CHECK(p.common == DType::Bool || e >= 0,
                "Integers to negative integer powers are not allowed.");
    p.op.require_fits(p.op.scalar("exponent"), p.common);
    return power(p);
  }
  Value* x = p.x[0];
  if (exponent.kind == ScalarValue::Kind::kComplex || p.is_complex()) return power(p);
  if (e == 0.5) return b.sqrt(x);
  if (e == 2.0) return b.multiply(x, x);
  if (e == 3.0) return b.multiply(b.multiply(x, x), x);
  if (e == -0.5) return b.divide(p.full(1.0), b.sqrt(x));
  if (e == -1.0) return b.divide(p.full(1.0), x);
  if (e == -2.0) return b.divide(p.full(1.0), b.multiply(x, x));
  return power(p);
}

Value* logical(const Pointwise& p, OpKind kind) {
  Value* a = p.b.compare(p.x[0], p.full_int(0), "NE");
  Value* b_ = p.b.compare(p.x[1], p.full_int(0), "NE");
  return p.b.binary(kind, a, b_);
}

Value* hypot(const Pointwise& p) {
  // Scaled by the larger operand, so that squares neither overflow nor vanish.
  Builder& b = p.b;
  Value* x = b.abs(p.x[0]);
  Value* y = b.abs(p.x[1]);
  Value* large = b.maximum(x, y);
  Value* ratio = b.divide(b.minimum(x, y), large);
  Value* length = b.multiply(large, b.sqrt(b.add(p.full(1.0), b.multiply(ratio, ratio))));
  const double inf = std::numeric_limits<double>::infinity();
  length = b.select(b.compare(large, p.full(0.0), "EQ"), p.full(0.0), length);
  Value* infinite = b.or_(b.compare(x, p.full(inf), "EQ"), b.compare(y, p.full(inf), "EQ"));
  return b.select(infinite, p.full(inf), length);
}

// log(exp(x) + exp(y)) without overflow.
Value* log_add_exp(const Pointwise& p) {
  Builder& b = p.b;
  Value* large = b.maximum(p.x[0], p.x[1]);
  Value* gap = b.negate(b.abs(b.subtract(p.x[0], p.x[1])));
  Value* sum = b.add(large, b.log_plus_one(b.exponential(gap)));
  // Equal infinities have no gap.
  const double inf = std::numeric_limits<double>::infinity();
  Value* infinite =
      b.and_(b.compare(p.x[0], p.x[1], "EQ"), b.compare(b.abs(p.x[0]), p.full(inf), "EQ"));
  return b.select(infinite, p.x[0], sum);
}

// The same in base 2.
Value* log_add_exp2(const Pointwise& p) {
  Builder& b = p.b;
  const double log_2 = std::numbers::ln2;
  Value* large = b.maximum(p.x[0], p.x[1]);
  Value* gap = b.negate(b.abs(b.subtract(p.x[0], p.x[1])));
  Value* tail = b.log_plus_one(b.exponential(b.multiply(gap, p.full(log_2))));
  Value* sum = b.add(large, b.multiply(tail, p.full(std::numbers::log2e)));
  const double inf = std::numeric_limits<double>::infinity();
  Value* infinite =
      b.and_(b.compare(p.x[0], p.x[1], "EQ"), b.compare(b.abs(p.x[0]), p.full(inf), "EQ"));
  return b.select(infinite, p.x[0], sum);
}

// max(0, self + alpha other)
Value* add_relu(const Pointwise& p) {
  return p.b.maximum(add(p), p.full_int(0));
}

/// x log(y) or x log(1 + y): 0 where x is 0, but NaN where y is.
Value* x_log(const Pointwise& p, Value* logarithm) {
  Value* product = p.b.multiply(p.x[0], logarithm);
  Value* zero = p.full(0.0);
  Value* y = p.b.select(p.b.compare(p.x[0], zero, "EQ"), zero, product);
  return p.b.select(p.is_nan(p.x[1]), p.x[1], y);
}

// abs (cos angle + i sin angle)
void polar(Lowering& op) {
  Builder& b = op.b;
  const Tensor abs = op.tensor("abs"), angle = op.tensor("angle");
  TORCH_CHECK(abs.dtype == DType::Float || abs.dtype == DType::Double,
              "Expected both inputs to be Half, Float or Double tensors but got ",
              c10::toString(abs.dtype), " and ", c10::toString(angle.dtype));
  TORCH_CHECK(abs.dtype == angle.dtype, "Expected object of scalar type ", c10::toString(abs.dtype),
              " but got scalar type ", c10::toString(angle.dtype), " for second argument");
  const std::vector<Dims> shapes = {abs.shape(), angle.shape()};
  const Dims shape = broadcast_shapes(shapes);
  Value* radius = op.broadcast_to(abs.value, shape);
  Value* phase = op.broadcast_to(angle.value, shape);
  op.result(b.complex(b.multiply(radius, b.cosine(phase)), b.multiply(radius, b.sine(phase))),
            ResultLayout::kOperands, {abs, angle});
}

Value* heaviside(const Pointwise& p) {
  for (const char* name : {"self", "values"}) {
    TORCH_CHECK(p.op.tensor(name).dtype == p.common,
                "heaviside is not yet implemented for tensors with different dtypes.");
  }
  Value* zero = p.full_int(0);
  Value* step = p.b.select(p.b.compare(p.x[0], zero, "LT"), zero, p.full_int(1));
  Value* y = p.b.select(p.b.compare(p.x[0], zero, "EQ"), p.x[1], step);
  return p.is_float() ? p.b.select(p.is_nan(p.x[0]), zero, y) : y;
}

// Two real tensors of one dtype as parts.
void complex(Lowering& op) {
  const Tensor real = op.tensor("real"), imag = op.tensor("imag");
  TORCH_CHECK(real.dtype == imag.dtype, "Expected object of scalar type ",
              c10::toString(real.dtype), " but got scalar type ", c10::toString(imag.dtype),
              " for second argument");
  TORCH_CHECK(real.dtype == DType::Float || real.dtype == DType::Double,
              "Expected both inputs to be Half, Float or Double tensors but got ",
              c10::toString(real.dtype), " and ", c10::toString(imag.dtype));
  const std::vector<Dims> shapes = {real.shape(), imag.shape()};
  const Dims shape = broadcast_shapes(shapes);
  op.result(op.b.complex(op.broadcast_to(real.value, shape), op.broadcast_to(imag.value, shape)),
            ResultLayout::kOperands, {real, imag});
}

}  // namespace

void add_pointwise_binary(Table& table) {
  const Table rows = {
      {"add.Tensor", binary(kKeep, add)},
      {"sub.Tensor", binary(kKeep, subtract)},
      {"rsub.Tensor", binary(kKeep, reverse_subtract)},
      {"mul.Tensor", binary(kKeep, multiply)},
      {"div.Tensor", binary(kFloat, [](const Pointwise& p) { return p.b.divide(p.x[0], p.x[1]); })},
      {"div.Tensor_mode", divide_with_mode},
      {"floor_divide",
       binary(kKeep, [](const Pointwise& p) { return floor_quotient(p, p.x[0], p.x[1]); })},
      {"fmod.Tensor", binary(kKeep, fmod)},
      {"remainder.Tensor", binary(kKeep, remainder)},
      {"remainder.Scalar_Tensor", binary(kKeep, remainder)},
      {"maximum", binary(kKeep, [](const Pointwise& p) { return p.b.maximum(p.x[0], p.x[1]); })},
      {"minimum", binary(kKeep, [](const Pointwise& p) { return p.b.minimum(p.x[0], p.x[1]); })},
      {"fmax", binary(kKeep, [](const Pointwise& p) { return fmax(p, OpKind::kMaximum); })},
      {"fmin", binary(kKeep, [](const Pointwise& p) { return fmax(p, OpKind::kMinimum); })},
      {"pow.Tensor_Tensor", elementwise({"self", "exponent"}, kKeep, power)},
      {"pow.Tensor_Scalar", elementwise({"self", "exponent"}, kKeep, power_of_number)},
      {"pow.Scalar", elementwise({"self", "exponent"}, kKeep, power)},
      {"atan2", binary(kFloat, [](const Pointwise& p) { return p.b.atan2(p.x[0], p.x[1]); })},
      {"logical_and", binary(
                          kKeep, [](const Pointwise& p) { return logical(p, OpKind::kAnd); },
                          PointwiseResult::kBool)},
      {"logical_or", binary(
                         kKeep, [](const Pointwise& p) { return logical(p, OpKind::kOr); },
                         PointwiseResult::kBool)},
      {"logical_xor", binary(
                          kKeep, [](const Pointwise& p) { return logical(p, OpKind::kXor); },
                          PointwiseResult::kBool)},
      {"hypot", binary(kKeep, hypot)},
      {"logaddexp", real_or_library(binary(kKeep, log_add_exp))},
      {"logaddexp2", binary(kKeep, log_add_exp2)},
      {"_add_relu.Tensor", binary(kKeep, add_relu)},
      {"_add_relu.Scalar", binary(kKeep, add_relu)},
      {"polar", polar},
      {"xlogy.Tensor",
       binary(kFloat, [](const Pointwise& p) { return x_log(p, p.b.log(p.x[1])); })},
      {"special_xlog1py",
       binary(kFloat, [](const Pointwise& p) { return x_log(p, p.b.log_plus_one(p.x[1])); })},
      {"heaviside", elementwise({"self", "values"}, kKeep, heaviside)},
      {"complex", complex},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
