// batch_norm_training, batch_norm_inference, batch_norm_grad.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

// The type of a value for each feature, after checking the operand and operands 1 .. `vectors`.
TensorType feature_type(const OpView& op, int vectors, std::string_view size_label) {
  const TensorType& operand = type_of(op, 0);
  const int64_t feature = op.attributes.get<int64_t>("feature_index");
  require_class(op, 0, kFloat);
  require(op, feature >= 0 && feature < operand.rank(), "c1",
          "feature_index must be a dimension of the operand");
  const TensorType expected{operand.element, {operand.shape[feature]}};
  for (int i = 1; i <= vectors; ++i) {
    require(op, type_of(op, i).element == operand.element, "c2",
            "all operands must have the same element type");
    require(op, type_of(op, i) == expected, size_label,
            "scale and its like must be vectors with an element for each feature");
  }
  return expected;
}

std::vector<TensorType> infer_training(const OpView& op) {
  const TensorType feature = feature_type(op, 2, "c3");
  return {type_of(op, 0), feature, feature};
}

std::vector<TensorType> infer_inference(const OpView& op) {
  feature_type(op, 4, "c3");
  return single(type_of(op, 0));
}

std::vector<TensorType> infer_grad(const OpView& op) {
  const TensorType feature = feature_type(op, 3, "c5");
  require(op, type_of(op, 4).element == type_of(op, 0).element, "c2",
          "all operands must have the same element type");
  require(op, type_of(op, 4) == type_of(op, 0), "c3", "grad_output must have the operand's shape");
  return {type_of(op, 0), feature, feature};
}

}  // namespace

Rows normalization_rows() {
  const auto row = [](OpKind kind, int operands, InferTypes infer) {
    return OpInfo{
        .kind = kind,
        .min_operands = operands,
        .max_operands = operands,
        .attributes = {{"epsilon", AttributeKind::kF32}, {"feature_index", AttributeKind::kI64}},
        .infer = infer};
  };
  return {row(OpKind::kBatchNormTraining, 3, infer_training),
          row(OpKind::kBatchNormInference, 5, infer_inference),
          row(OpKind::kBatchNormGrad, 5, infer_grad)};
}

}  // namespace tpu::hlo::ops
