// Elementwise ops.
#include "emulator/hlo/testing/block_generator.h"

namespace tpu::hlo::testing {
namespace {

using Kinds = std::vector<OpKind>;

const Kinds& unary_kinds(ElementType type, bool exact) {
  using enum OpKind;
  static const Kinds kExactFloats = {
      kAbs, kCeil, kFloor, kIsFinite, kNegate, kRoundNearestAfz, kRoundNearestEven, kSign, kSqrt};
  static const Kinds kFloats = {kAbs,
                                kCbrt,
                                kCeil,
                                kCosine,
                                kExponential,
                                kExponentialMinusOne,
                                kFloor,
                                kIsFinite,
                                kLog,
                                kLogPlusOne,
                                kLogistic,
                                kNegate,
                                kNegate,
                                kRoundNearestAfz,
                                kRoundNearestEven,
                                kRsqrt,
                                kSign,
                                kSine,
                                kSqrt,
                                kTan,
                                kTanh};
  static const Kinds kSigned = {kAbs, kNegate, kNot, kPopcnt, kCountLeadingZeros, kSign};
  static const Kinds kUnsigned = {kNegate, kNot, kPopcnt, kCountLeadingZeros};
  static const Kinds kBooleans = {kNot};
  static const Kinds kComplexes = {kAbs,    kNegate,      kReal,
                                   kImag,   kSign,        kCbrt,
                                   kCosine, kExponential, kExponentialMinusOne,
                                   kLog,    kLogPlusOne,  kLogistic,
                                   kRsqrt,  kSine,        kSqrt,
                                   kTan,    kTanh};
  if (is_float(type)) return exact ? kExactFloats : kFloats;
  if (is_signed_integer(type)) return kSigned;
  if (is_unsigned_integer(type)) return kUnsigned;
  return is_boolean(type) ? kBooleans : kComplexes;
}

const Kinds& binary_kinds(ElementType type, bool exact) {
  using enum OpKind;
  static const Kinds kExactFloats = {kAdd, kSubtract, kMultiply, kDivide, kMaximum, kMinimum};
  static const Kinds kExactIntegers = {kAdd,
                                       kSubtract,
                                       kMultiply,
                                       kMaximum,
                                       kMinimum,
                                       kAnd,
                                       kOr,
                                       kXor,
                                       kShiftLeft,
                                       kShiftRightArithmetic,
                                       kShiftRightLogical};
  static const Kinds kFloats = {kAdd,    kAdd,     kSubtract, kSubtract, kMultiply,  kMultiply,
                                kDivide, kMaximum, kMinimum,  kPower,    kRemainder, kAtan2};
  static const Kinds kIntegers = {kAdd,
                                  kSubtract,
                                  kMultiply,
                                  kDivide,
                                  kMaximum,
                                  kMinimum,
                                  kPower,
                                  kRemainder,
                                  kAnd,
                                  kOr,
                                  kXor,
                                  kShiftLeft,
                                  kShiftRightArithmetic,
                                  kShiftRightLogical};
  static const Kinds kBooleans = {kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, kXor};
  static const Kinds kComplexes = {kAdd, kSubtract, kMultiply, kDivide, kPower};
  if (is_float(type)) return exact ? kExactFloats : kFloats;
  if (is_integer(type)) return exact ? kExactIntegers : kIntegers;
  return is_boolean(type) ? kBooleans : kComplexes;
}

// Conversions whose result the specification fixes, or that round once.
bool is_exact_conversion(ElementType from, ElementType to) {
  if (is_float(from) && is_integer(to)) return false;
  const bool to_narrow = is_float(to) && byte_width(to) < 4;
  return !to_narrow || (from != ElementType::kF64 && (is_float(from) || byte_width(from) < 4));
}

}  // namespace

bool BlockGenerator::unary() {
  Value* x = any_value(is_any);
  keep(builder_.unary(rng_.pick(unary_kinds(x->type.element, options_.exact)), x));
  return true;
}

bool BlockGenerator::chlo_function() {
  static const std::vector<std::string_view> kTargets = {
      "chlo.erf",   "chlo.erf",   "chlo.erf_inv", "chlo.lgamma", "chlo.digamma",
      "chlo.asin",  "chlo.acos",  "chlo.atan",    "chlo.sinh",   "chlo.cosh",
      "chlo.asinh", "chlo.acosh", "chlo.atanh"};
  Value* x = any_value(is_float);
  keep(builder_.custom_call(rng_.pick(kTargets), {x}, {x->type}));
  return true;
}

bool BlockGenerator::binary() {
  Value* x = any_value(is_any);
  Value* y = value_of(x->type);
  if (rng_.coin()) std::swap(x, y);
  keep(builder_.binary(rng_.pick(binary_kinds(x->type.element, options_.exact)), x, y));
  return true;
}

bool BlockGenerator::comparison() {
  Value* x = any_value(is_any);
  Value* y = value_of(x->type);
  const auto direction = is_complex(x->type.element)
                             ? rng_.pick({"EQ", "NE"})
                             : rng_.pick({"EQ", "NE", "GE", "GT", "LE", "LT"});
  if (is_float(x->type.element) && !options_.exact && rng_.one_in(4)) {
    Attributes attributes{{"comparison_direction", EnumValue{direction}},
                          {"compare_type", EnumValue{"TOTALORDER"}}};
    keep(builder_.create(OpKind::kCompare, {x, y}, attributes)->result());
  } else {
    keep(builder_.compare(x, y, direction));
  }
  return true;
}

bool BlockGenerator::choice() {
  if (rng_.one_in(3)) {
    Value* x = any_value(is_real);
    const bool scalar_bounds = rng_.coin();
    const TensorType bound{x->type.element, scalar_bounds ? Dims() : x->type.shape};
    Value *const min = value_of(bound), *const max = value_of(bound);
    keep(builder_.clamp(min, x, max));
    return true;
  }
  Value* x = any_value(is_any);
  const TensorType pred{ElementType::kI1, rng_.one_in(4) ? Dims() : x->type.shape};
  Value *const chooser = value_of(pred), *const other = value_of(x->type);
  keep(builder_.select(chooser, x, other));
  return true;
}

bool BlockGenerator::conversion() {
  Value* x = any_value(is_any);
  if (is_float(x->type.element) && !options_.exact && rng_.one_in(4)) {
    const int64_t exponent = rng_.between(2, 11), mantissa = rng_.between(1, 52);
    keep(builder_.reduce_precision(x, exponent, mantissa));
  } else {
    const ElementType to = random_element(is_any);
    if (options_.exact && !is_exact_conversion(x->type.element, to)) return false;
    keep(builder_.convert(x, to));
  }
  return true;
}

bool BlockGenerator::complex_parts() {
  const auto single_or_double = [](ElementType type) {
    return type == ElementType::kF32 || type == ElementType::kF64;
  };
  Value* x = any_value(single_or_double);
  Value* number = builder_.complex(x, value_of(x->type));
  keep(number);
  if (rng_.coin()) keep(rng_.coin() ? builder_.real(number) : builder_.imag(number));
  return true;
}

}  // namespace tpu::hlo::testing
