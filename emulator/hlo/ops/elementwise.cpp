// Elementwise arithmetic: results have the operands' type.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

// One operand of one of `Classes`; the result has its type.
template <unsigned Classes>
std::vector<TensorType> infer_unary(const OpView& op) {
  require_class(op, 0, Classes);
  return single(type_of(op, 0));
}

// Two operands of one type.
template <unsigned Classes>
std::vector<TensorType> infer_binary(const OpView& op) {
  require_class(op, 0, Classes);
  require(op, type_of(op, 0) == type_of(op, 1), "c1", "lhs and rhs must have the same type");
  return single(type_of(op, 0));
}

std::vector<TensorType> infer_abs(const OpView& op) {
  require_class(op, 0, kSigned | kFloatOrComplex);
  TensorType result = type_of(op, 0);
  result.element = real_part(result.element);
  return single(std::move(result));
}

std::vector<TensorType> infer_is_finite(const OpView& op) {
  require_class(op, 0, kFloat);
  return single({ElementType::kI1, type_of(op, 0).shape});
}

OpInfo elementwise(OpKind kind, int operands, InferTypes infer) {
  return {.kind = kind,
          .min_operands = operands,
          .max_operands = operands,
          .elementwise = true,
          .implemented = true,
          .infer = infer};
}

}  // namespace

Rows elementwise_rows() {
  const auto unary = [](OpKind kind, InferTypes infer) { return elementwise(kind, 1, infer); };
  const auto binary = [](OpKind kind, InferTypes infer) { return elementwise(kind, 2, infer); };
  return {
      unary(OpKind::kAbs, infer_abs),
      unary(OpKind::kCbrt, infer_unary<kFloatOrComplex>),
      unary(OpKind::kCeil, infer_unary<kFloat>),
      unary(OpKind::kCosine, infer_unary<kFloatOrComplex>),
      unary(OpKind::kCountLeadingZeros, infer_unary<kInteger>),
      unary(OpKind::kExponential, infer_unary<kFloatOrComplex>),
      unary(OpKind::kExponentialMinusOne, infer_unary<kFloatOrComplex>),
      unary(OpKind::kFloor, infer_unary<kFloat>),
      unary(OpKind::kIsFinite, infer_is_finite),
      unary(OpKind::kLog, infer_unary<kFloatOrComplex>),
      unary(OpKind::kLogPlusOne, infer_unary<kFloatOrComplex>),
      unary(OpKind::kLogistic, infer_unary<kFloatOrComplex>),
      unary(OpKind::kNegate, infer_unary<kNumber>),
      unary(OpKind::kNot, infer_unary<kBits>),
      unary(OpKind::kPopcnt, infer_unary<kInteger>),
      unary(OpKind::kRoundNearestAfz, infer_unary<kFloat>),
      unary(OpKind::kRoundNearestEven, infer_unary<kFloat>),
      unary(OpKind::kRsqrt, infer_unary<kFloatOrComplex>),
      unary(OpKind::kSign, infer_unary < kSigned | kFloatOrComplex >),
      unary(OpKind::kSine, infer_unary<kFloatOrComplex>),
      unary(OpKind::kSqrt, infer_unary<kFloatOrComplex>),
      unary(OpKind::kTan, infer_unary<kFloatOrComplex>),
      unary(OpKind::kTanh, infer_unary<kFloatOrComplex>),
      binary(OpKind::kAdd, infer_binary<kTensor>),
      binary(OpKind::kAnd, infer_binary<kBits>),
      binary(OpKind::kAtan2, infer_binary<kFloatOrComplex>),
      binary(OpKind::kDivide, infer_binary<kNumber>),
      binary(OpKind::kMaximum, infer_binary<kTensor>),
      binary(OpKind::kMinimum, infer_binary<kTensor>),
      binary(OpKind::kMultiply, infer_binary<kTensor>),
      binary(OpKind::kOr, infer_binary<kBits>),
      binary(OpKind::kPower, infer_binary<kNumber>),
      binary(OpKind::kRemainder, infer_binary<kNumber>),
      binary(OpKind::kShiftLeft, infer_binary<kInteger>),
      binary(OpKind::kShiftRightArithmetic, infer_binary<kInteger>),
      binary(OpKind::kShiftRightLogical, infer_binary<kInteger>),
      binary(OpKind::kSubtract, infer_binary<kNumber>),
      binary(OpKind::kXor, infer_binary<kBits>),
  };
}

}  // namespace tpu::hlo::ops
