// Changes of element type: convert, bitcast_convert, complex, real, imag, reduce_precision.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_convert(const OpView& op) {
  require_class(op, 0, kTensor);
  require_given_results(op);
  const TensorType& result = op.result_types[0];
  require(op, result.shape == type_of(op, 0).shape, "c1",
          "the result must have the operand's shape");
  require(op, type_class(result.element) & kTensor, "i1", "the result must be a tensor");
  return single(result);
}

// `wide` seen as elements of `narrow_bits`: one more dimension, last, if they are narrower.
bool splits_into(const TensorType& wide, const TensorType& narrow) {
  if (narrow.rank() != wide.rank() + 1) return false;
  for (int i = 0; i < wide.rank(); ++i) {
    if (narrow.shape[i] != wide.shape[i]) return false;
  }
  return narrow.shape.back() * bit_width(narrow.element) == bit_width(wide.element);
}

std::vector<TensorType> infer_bitcast_convert(const OpView& op) {
  require_class(op, 0, kTensor);
  require_given_results(op);
  const TensorType& from = type_of(op, 0);
  const TensorType& to = op.result_types[0];
  require(op, is_complex(from.element) == is_complex(to.element), "c2",
          "complex elements convert to complex elements only");
  const int from_bits = bit_width(from.element), to_bits = bit_width(to.element);
  const bool fits = to_bits == from_bits  ? to.shape == from.shape
                    : to_bits < from_bits ? splits_into(from, to)
                                          : splits_into(to, from);
  require(op, fits, "c1",
          "the result " + to_string(to) +
              " must have the operand's shape, plus or minus a last dimension of the ratio of the "
              "elements' bits");
  return single(to);
}

std::vector<TensorType> infer_complex(const OpView& op) {
  const TensorType& lhs = type_of(op, 0);
  require(op, lhs.element == ElementType::kF32 || lhs.element == ElementType::kF64, "i1",
          "the parts must be f32 or f64");
  require(op, lhs == type_of(op, 1), "c1", "lhs and rhs must have the same type");
  const bool single_precision = lhs.element == ElementType::kF32;
  return single(
      {single_precision ? ElementType::kComplexF32 : ElementType::kComplexF64, lhs.shape});
}

std::vector<TensorType> infer_part(const OpView& op) {
  require_class(op, 0, kFloatOrComplex);
  return single({real_part(type_of(op, 0).element), type_of(op, 0).shape});
}

std::vector<TensorType> infer_reduce_precision(const OpView& op) {
  require_class(op, 0, kFloat);
  require(op, op.attributes.get<int64_t>("exponent_bits") >= 1, "c2",
          "exponent_bits must be at least 1");
  require(op, op.attributes.get<int64_t>("mantissa_bits") >= 0, "c3",
          "mantissa_bits must not be negative");
  return single(type_of(op, 0));
}

}  // namespace

Rows conversion_rows() {
  const auto row = [](OpKind kind, int operands, InferTypes infer) {
    return OpInfo{.kind = kind,
                  .min_operands = operands,
                  .max_operands = operands,
                  .elementwise = true,
                  .implemented = true,
                  .infer = infer};
  };
  Rows rows = {row(OpKind::kConvert, 1, infer_convert),
               row(OpKind::kComplex, 2, infer_complex),
               row(OpKind::kReal, 1, infer_part),
               row(OpKind::kImag, 1, infer_part),
               row(OpKind::kReducePrecision, 1, infer_reduce_precision),
               row(OpKind::kBitcastConvert, 1, infer_bitcast_convert)};
  rows[4].attributes = {{"exponent_bits", AttributeKind::kI32},
                        {"mantissa_bits", AttributeKind::kI32}};
  // A change of width also changes the shape, so this one is not elementwise in general.
  rows[5].elementwise = false;
  return rows;
}

}  // namespace tpu::hlo::ops
