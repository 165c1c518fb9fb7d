#include "emulator/hlo/evaluator/elementwise.h"

#include <array>

#include "emulator/hlo/evaluator/arithmetic.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/transcendental.h"

namespace tpu::hlo {
namespace {

using Operands = std::span<const Element>;

template <Element (*function)(const Element&)>
Element unary(const Op&, Operands x) {
  return function(x[0]);
}
template <Element (*function)(const Element&, const Element&)>
Element binary(const Op&, Operands x) {
  return function(x[0], x[1]);
}

Element element_power(const Op&, Operands x) {
  return is_integer(x[0].type) ? integer_power(x[0], x[1]) : power(x[0], x[1]);
}

Element element_compare(const Op& op, Operands x) {
  const EnumValue type = op.attributes().get_or("compare_type", EnumValue{});
  return make_bool(
      compare(x[0], x[1], op.attributes().get_enum("comparison_direction"), type.value));
}

Element element_select(const Op&, Operands x) {
  return x[0].truth() ? x[1] : x[2];
}

Element element_clamp(const Op&, Operands x) {
  return clamp(x[0], x[1], x[2]);
}

Element element_convert(const Op& op, Operands x) {
  return convert(x[0], op.result()->type.element);
}

Element element_reduce_precision(const Op& op, Operands x) {
  return reduce_precision(x[0], op.attributes().get<int64_t>("exponent_bits"),
                          op.attributes().get<int64_t>("mantissa_bits"));
}

using Table = std::array<ElementFunction, kNumOpKinds>;

Table make_table() {
  Table table{};
  const auto set = [&](OpKind kind, ElementFunction function) {
    table[static_cast<size_t>(kind)] = function;
  };
  set(OpKind::kAbs, unary<abs>);
  set(OpKind::kAdd, binary<add>);
  set(OpKind::kAnd, binary<and_>);
  set(OpKind::kAtan2, binary<atan2>);
  set(OpKind::kCbrt, unary<cbrt>);
  set(OpKind::kCeil, unary<ceil>);
  set(OpKind::kClamp, element_clamp);
  set(OpKind::kCompare, element_compare);
  set(OpKind::kComplex, binary<complex>);
  set(OpKind::kConvert, element_convert);
  set(OpKind::kCosine, unary<cosine>);
  set(OpKind::kCountLeadingZeros, unary<count_leading_zeros>);
  set(OpKind::kDivide, binary<divide>);
  set(OpKind::kExponential, unary<exponential>);
  set(OpKind::kExponentialMinusOne, unary<exponential_minus_one>);
  set(OpKind::kFloor, unary<floor>);
  set(OpKind::kImag, unary<imag>);
  set(OpKind::kIsFinite, unary<is_finite>);
  set(OpKind::kLog, unary<log>);
  set(OpKind::kLogPlusOne, unary<log_plus_one>);
  set(OpKind::kLogistic, unary<logistic>);
  set(OpKind::kMaximum, binary<maximum>);
  set(OpKind::kMinimum, binary<minimum>);
  set(OpKind::kMultiply, binary<multiply>);
  set(OpKind::kNegate, unary<negate>);
  set(OpKind::kNot, unary<not_>);
  set(OpKind::kOr, binary<or_>);
  set(OpKind::kPopcnt, unary<popcnt>);
  set(OpKind::kPower, element_power);
  set(OpKind::kReal, unary<real>);
  set(OpKind::kReducePrecision, element_reduce_precision);
  set(OpKind::kRemainder, binary<remainder>);
  set(OpKind::kRoundNearestAfz, unary<round_nearest_afz>);
  set(OpKind::kRoundNearestEven, unary<round_nearest_even>);
  set(OpKind::kRsqrt, unary<rsqrt>);
  set(OpKind::kSelect, element_select);
  set(OpKind::kShiftLeft, binary<shift_left>);
  set(OpKind::kShiftRightArithmetic, binary<shift_right_arithmetic>);
  set(OpKind::kShiftRightLogical, binary<shift_right_logical>);
  set(OpKind::kSign, unary<sign>);
  set(OpKind::kSine, unary<sine>);
  set(OpKind::kSqrt, unary<sqrt>);
  set(OpKind::kSubtract, binary<subtract>);
  set(OpKind::kTan, unary<tan>);
  set(OpKind::kTanh, unary<tanh>);
  set(OpKind::kXor, binary<xor_>);
  return table;
}

// chlo's functions, which StableHLO reaches as custom calls.
Element element_chlo(const Op& op, Operands x) {
  return apply_chlo(*chlo_function(op.attributes().get<std::string>("call_target_name")), x);
}

}  // namespace

ElementFunction find_element_function(const Op& op) {
  static const Table table = make_table();
  if (op.kind() == OpKind::kCustomCall) {
    return chlo_function(op.attributes().get<std::string>("call_target_name")) ? element_chlo
                                                                               : nullptr;
  }
  return table[static_cast<size_t>(op.kind())];
}

Literal evaluate_elementwise(const Op& op, ElementFunction function,
                             std::span<const Literal> operands) {
  Literal result(op.result()->type);
  std::vector<Element> elements(operands.size());
  for (int64_t i = 0; i < result.type().num_elements(); ++i) {
    for (size_t n = 0; n < operands.size(); ++n) {
      elements[n] = load(operands[n], operands[n].type().rank() == 0 ? 0 : i);
    }
    store(result, i, function(op, elements));
  }
  return result;
}

}  // namespace tpu::hlo
