// Ops whose shapes are operands. Types here are static, so the writer gives the result's; what the
// operands' types alone can contradict is checked.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

// Operand `i` must be a vector of `size` integers.
void require_shape_operand(const OpView& op, int operand, int64_t size, std::string_view label) {
  require_class(op, operand, kInteger);
  require_rank(op, operand, 1);
  require(op, type_of(op, operand).num_elements() == size, label,
          "the shape operand must have one element for each dimension");
}

const TensorType& same_element_result(const OpView& op, std::string_view label) {
  require_given_results(op);
  require(op, op.result_types[0].element == type_of(op, 0).element, label,
          "the result must have the operand's element type");
  return op.result_types[0];
}

std::vector<TensorType> infer_dynamic_broadcast_in_dim(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const TensorType& result = same_element_result(op, "c1");
  const Dims& dims = op.attributes.get<Dims>("broadcast_dimensions");
  require(op, static_cast<int>(dims.size()) == operand.rank(), "c2",
          "broadcast_dimensions must have one entry for each dimension of the operand");
  require(op, all_within(dims, 0, result.rank()), "c3",
          "broadcast_dimensions must be dimensions of the result");
  require(op, is_unique(dims), "c4", "broadcast_dimensions must differ");
  for (int d = 0; d < operand.rank(); ++d) {
    require(op, operand.shape[d] == 1 || operand.shape[d] == result.shape[dims[d]], "c5",
            "each dimension of the operand must be 1 or the result's");
  }
  require_shape_operand(op, 1, result.rank(), "c7");
  return single(result);
}

std::vector<TensorType> infer_dynamic_reshape(const OpView& op) {
  const TensorType& result = same_element_result(op, "c1");
  require(op, result.num_elements() == type_of(op, 0).num_elements(), "c2",
          "the result must have as many elements as the operand");
  require_shape_operand(op, 1, result.rank(), "c4");
  return single(result);
}

std::vector<TensorType> infer_dynamic_iota(const OpView& op) {
  require_given_results(op);
  const int rank = op.result_types[0].rank();
  const int64_t dimension = op.attributes.get<int64_t>("iota_dimension");
  require(op, dimension >= 0 && dimension < rank, "c1",
          "iota_dimension must be a dimension of the result");
  require_shape_operand(op, 0, rank, "c2");
  return single(op.result_types[0]);
}

std::vector<TensorType> infer_dynamic_pad(const OpView& op) {
  const TensorType& result = same_element_result(op, "c1");
  require(op, type_of(op, 1) == TensorType{result.element, {}}, "c1",
          "padding_value must be a scalar of the operand's element type");
  for (int i = 2; i < 5; ++i) require_shape_operand(op, i, type_of(op, 0).rank(), "c2");
  require(op, result.rank() == type_of(op, 0).rank(), "c4", "padding keeps the rank");
  return single(result);
}

std::vector<TensorType> infer_real_dynamic_slice(const OpView& op) {
  const TensorType& result = same_element_result(op, "c1");
  for (int i = 1; i < 4; ++i) require_shape_operand(op, i, type_of(op, 0).rank(), "c2");
  require(op, result.rank() == type_of(op, 0).rank(), "c5", "slicing keeps the rank");
  return single(result);
}

std::vector<TensorType> infer_dynamic_gather(const OpView& op) {
  const TensorType& result = same_element_result(op, "c14");
  require_class(op, 1, kInteger);
  require_shape_operand(op, 2, type_of(op, 0).rank(), "c11");
  return single(result);
}

std::vector<TensorType> infer_dynamic_conv(const OpView& op) {
  const TensorType& result = same_element_result(op, "c27");
  const int rank = type_of(op, 0).rank();
  require(op, rank >= 2 && type_of(op, 1).rank() == rank, "c1",
          "lhs and rhs must have the same rank, at least 2");
  require(op, type_of(op, 2).shape == Dims{rank - 2, 2}, "c4",
          "padding must have a row (low, high) for each spatial dimension");
  require(op, result.rank() == rank, "c26", "the result must have the operands' rank");
  return single(result);
}

}  // namespace

Rows dynamism_rows() {
  constexpr AttributeKind kDims = AttributeKind::kI64Array;
  const auto row = [](OpKind kind, int operands, std::vector<AttributeSpec> attributes,
                      InferTypes infer) {
    return OpInfo{.kind = kind,
                  .min_operands = operands,
                  .max_operands = operands,
                  .attributes = std::move(attributes),
                  .infer = infer};
  };
  return {
      row(OpKind::kDynamicBroadcastInDim, 2,
          {{"broadcast_dimensions", kDims},
           {"known_expanding_dimensions", kDims, false},
           {"known_nonexpanding_dimensions", kDims, false}},
          infer_dynamic_broadcast_in_dim),
      row(OpKind::kDynamicReshape, 2, {}, infer_dynamic_reshape),
      row(OpKind::kDynamicIota, 1, {{"iota_dimension", AttributeKind::kI64}}, infer_dynamic_iota),
      row(OpKind::kDynamicPad, 5, {}, infer_dynamic_pad),
      row(OpKind::kRealDynamicSlice, 4, {}, infer_real_dynamic_slice),
      row(OpKind::kDynamicGather, 3,
          {{"dimension_numbers", AttributeKind::kGatherNumbers},
           {"indices_are_sorted", AttributeKind::kBool, false}},
          infer_dynamic_gather),
      row(OpKind::kDynamicConv, 3,
          {{"window_strides", kDims, false},
           {"lhs_dilation", kDims, false},
           {"rhs_dilation", kDims, false},
           {"window_reversal", AttributeKind::kBoolArray, false},
           {"dimension_numbers", AttributeKind::kConvNumbers},
           {"feature_group_count", AttributeKind::kI64},
           {"batch_group_count", AttributeKind::kI64},
           {"precision_config", AttributeKind::kEnumArray, false, "precision"}},
          infer_dynamic_conv),
  };
}

}  // namespace tpu::hlo::ops
