// Ops that move elements without looking at them: broadcast_in_dim, reshape, transpose, reverse,
// slice, concatenate, pad, dynamic_slice, dynamic_update_slice.
#include <algorithm>

#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_broadcast_in_dim(const OpView& op) {
  require_given_results(op);
  const TensorType& operand = type_of(op, 0);
  const TensorType& result = op.result_types[0];
  const Dims& dims = op.attributes.get<Dims>("broadcast_dimensions");
  require(op, operand.element == result.element, "c1",
          "the result must have the operand's element type");
  require(op, static_cast<int>(dims.size()) == operand.rank(), "c2",
          "broadcast_dimensions must have one entry for each dimension of the operand");
  require(op, all_within(dims, 0, result.rank()), "c3",
          "broadcast_dimensions must be dimensions of the result");
  require(op, is_unique(dims), "c4", "broadcast_dimensions must differ");
  for (int d = 0; d < operand.rank(); ++d) {
    require(op, operand.shape[d] == 1 || operand.shape[d] == result.shape[dims[d]], "c5",
            "each dimension of the operand must be 1 or the result's");
  }
  return single(result);
}

std::vector<TensorType> infer_reshape(const OpView& op) {
  require_given_results(op);
  const TensorType& result = op.result_types[0];
  require(op, result.element == type_of(op, 0).element, "c1",
          "the result must have the operand's element type");
  if (result.num_elements() != type_of(op, 0).num_elements()) {
    fail(op, "c2",
         "the result " + to_string(result) + " must have as many elements as the operand");
  }
  return single(result);
}

std::vector<TensorType> infer_transpose(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const Dims& permutation = op.attributes.get<Dims>("permutation");
  require(op,
          static_cast<int>(permutation.size()) == operand.rank() &&
              all_within(permutation, 0, operand.rank()) && is_unique(permutation),
          "c2", "permutation must hold each dimension of the operand once");
  TensorType result = operand;
  for (int d = 0; d < operand.rank(); ++d) result.shape[d] = operand.shape[permutation[d]];
  return single(std::move(result));
}

std::vector<TensorType> infer_reverse(const OpView& op) {
  const Dims& dimensions = op.attributes.get<Dims>("dimensions");
  require(op, is_unique(dimensions), "c2", "dimensions must differ");
  require(op, all_within(dimensions, 0, type_of(op, 0).rank()), "c3",
          "dimensions must be dimensions of the operand");
  return single(type_of(op, 0));
}

std::vector<TensorType> infer_slice(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const Dims& start = op.attributes.get<Dims>("start_indices");
  const Dims& limit = op.attributes.get<Dims>("limit_indices");
  const Dims& strides = op.attributes.get<Dims>("strides");
  const size_t rank = operand.shape.size();
  require(op, start.size() == rank && limit.size() == rank && strides.size() == rank, "c2",
          "start_indices, limit_indices and strides must have one entry for each dimension");
  TensorType result = operand;
  for (size_t d = 0; d < rank; ++d) {
    require(op, 0 <= start[d] && start[d] <= limit[d] && limit[d] <= operand.shape[d], "c3",
            "0 <= start_indices <= limit_indices <= the operand's shape must hold");
    require(op, strides[d] > 0, "c4", "strides must be positive");
    result.shape[d] = (limit[d] - start[d] + strides[d] - 1) / strides[d];
  }
  return single(std::move(result));
}

std::vector<TensorType> infer_concatenate(const OpView& op) {
  const TensorType& first = type_of(op, 0);
  const int64_t dimension = op.attributes.get<int64_t>("dimension");
  require(op, dimension >= 0 && dimension < first.rank(), "c4",
          "dimension must be a dimension of the inputs");
  TensorType result = first;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    const TensorType& input = op.operands[i]->type;
    require(op, input.element == first.element, "c1", "inputs must have the same element type");
    require(op, input.rank() == first.rank(), "c2", "inputs must have the same rank");
    for (int d = 0; d < first.rank(); ++d) {
      require(op, d == dimension || input.shape[d] == first.shape[d], "c2",
              "inputs must have the same shape except along dimension");
    }
    result.shape[dimension] += input.shape[dimension];
  }
  return single(std::move(result));
}

std::vector<TensorType> infer_pad(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const Dims& low = op.attributes.get<Dims>("edge_padding_low");
  const Dims& high = op.attributes.get<Dims>("edge_padding_high");
  const Dims& interior = op.attributes.get<Dims>("interior_padding");
  const size_t rank = operand.shape.size();
  require(op, type_of(op, 1).element == operand.element, "c1",
          "padding_value must have the operand's element type");
  require_rank(op, 1, 0);
  require(op, low.size() == rank && high.size() == rank && interior.size() == rank, "c2",
          "the paddings must have one entry for each dimension of the operand");
  TensorType result = operand;
  for (size_t d = 0; d < rank; ++d) {
    require(op, interior[d] >= 0, "c3", "interior_padding must not be negative");
    const int64_t gaps = std::max<int64_t>(operand.shape[d] - 1, 0);
    result.shape[d] = low[d] + operand.shape[d] + gaps * interior[d] + high[d];
    require(op, result.shape[d] >= 0, "c4", "negative padding must not exceed the operand");
  }
  return single(std::move(result));
}

std::vector<TensorType> infer_dynamic_slice(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const Dims& sizes = op.attributes.get<Dims>("slice_sizes");
  const size_t rank = operand.shape.size();
  require(op, sizes.size() == rank && op.operands.size() == rank + 1, "c2",
          "start_indices and slice_sizes must have one entry for each dimension of the operand");
  require_index_scalars(op, 1, "c3");
  for (size_t d = 0; d < rank; ++d) {
    require(op, 0 <= sizes[d] && sizes[d] <= operand.shape[d], "c4",
            "0 <= slice_sizes <= the operand's shape must hold");
  }
  return single({operand.element, sizes});
}

std::vector<TensorType> infer_dynamic_update_slice(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const TensorType& update = type_of(op, 1);
  require(op, update.element == operand.element, "c2",
          "update must have the operand's element type");
  require(op, update.rank() == operand.rank(), "c3", "update must have the operand's rank");
  require(op, static_cast<int>(op.operands.size()) == operand.rank() + 2, "c4",
          "there must be one start index for each dimension of the operand");
  require_index_scalars(op, 2, "c5");
  for (int d = 0; d < operand.rank(); ++d) {
    require(op, update.shape[d] <= operand.shape[d], "c6",
            "update must not be larger than the operand");
  }
  return single(operand);
}

OpInfo shaping(OpKind kind, int operands, std::vector<AttributeSpec> attributes, InferTypes infer) {
  return {.kind = kind,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = std::move(attributes),
          .implemented = true,
          .infer = infer};
}

}  // namespace

Rows shaping_rows() {
  constexpr AttributeKind kDims = AttributeKind::kI64Array;
  Rows rows = {
      shaping(OpKind::kBroadcastInDim, 1, {{"broadcast_dimensions", kDims}},
              infer_broadcast_in_dim),
      shaping(OpKind::kReshape, 1, {}, infer_reshape),
      shaping(OpKind::kTranspose, 1, {{"permutation", kDims}}, infer_transpose),
      shaping(OpKind::kReverse, 1, {{"dimensions", kDims}}, infer_reverse),
      shaping(OpKind::kSlice, 1,
              {{"start_indices", kDims}, {"limit_indices", kDims}, {"strides", kDims}},
              infer_slice),
      shaping(
          OpKind::kPad, 2,
          {{"edge_padding_low", kDims}, {"edge_padding_high", kDims}, {"interior_padding", kDims}},
          infer_pad),
      shaping(OpKind::kConcatenate, 1, {{"dimension", AttributeKind::kI64}}, infer_concatenate),
      shaping(OpKind::kDynamicSlice, 1, {{"slice_sizes", kDims}}, infer_dynamic_slice),
      shaping(OpKind::kDynamicUpdateSlice, 2, {}, infer_dynamic_update_slice),
  };
  for (OpInfo& row : rows) {
    const bool variadic = row.kind == OpKind::kConcatenate || row.kind == OpKind::kDynamicSlice ||
                          row.kind == OpKind::kDynamicUpdateSlice;
    if (variadic) row.max_operands = -1;
  }
  return rows;
}

}  // namespace tpu::hlo::ops
