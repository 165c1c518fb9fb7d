// gather and scatter: how index tensors, windows and batches fit together.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

// `sizes` without the entries at `left_out`.
Dims without(const Dims& sizes, const Dims& left_out) {
  Dims kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!contains(left_out, static_cast<int64_t>(d))) kept.push_back(sizes[d]);
  }
  return kept;
}

int64_t index_vector_size(const TensorType& indices, int64_t index_vector_dim) {
  return index_vector_dim < indices.rank() ? indices.shape[index_vector_dim] : 1;
}

// Puts `windows` at the dimensions `window_dims` and `batches` at the others, in order.
Dims combine(const Dims& batches, const Dims& windows, const Dims& window_dims) {
  Dims shape;
  size_t batch = 0, window = 0;
  for (size_t d = 0; d < batches.size() + windows.size(); ++d) {
    shape.push_back(contains(window_dims, static_cast<int64_t>(d)) ? windows[window++]
                                                                   : batches[batch++]);
  }
  return shape;
}

void check_gather_indices(const OpView& op, const GatherDimensionNumbers& n) {
  const TensorType& operand = type_of(op, 0);
  const TensorType& indices = type_of(op, 1);
  require(op, 0 <= n.index_vector_dim && n.index_vector_dim <= indices.rank(), "c2",
          "index_vector_dim must be a dimension of start_indices or its rank");
  require(op,
          static_cast<int64_t>(n.start_index_map.size()) ==
              index_vector_size(indices, n.index_vector_dim),
          "c3", "start_index_map must have one entry for each component of an index vector");
  require(op, is_unique(n.start_indices_batching_dims), "c13",
          "start_indices_batching_dims must differ");
  require(op, all_within(n.start_indices_batching_dims, 0, indices.rank()), "c14",
          "start_indices_batching_dims must be dimensions of start_indices");
  require(op, !contains(n.start_indices_batching_dims, n.index_vector_dim), "c15",
          "index_vector_dim must not be a batching dimension");
  require(op, n.operand_batching_dims.size() == n.start_indices_batching_dims.size(), "c16",
          "operand and start_indices must have as many batching dimensions");
  for (size_t i = 0; i < n.operand_batching_dims.size(); ++i) {
    require(op,
            operand.shape[n.operand_batching_dims[i]] ==
                indices.shape[n.start_indices_batching_dims[i]],
            "c17", "batching dimensions must have the same sizes");
  }
  require(op, is_unique(concatenated(n.start_index_map, n.operand_batching_dims)), "c18",
          "start_index_map and operand_batching_dims must differ");
  require(op, all_within(n.start_index_map, 0, operand.rank()), "c19",
          "start_index_map must hold dimensions of the operand");
}

void check_gather_slices(const OpView& op, const GatherDimensionNumbers& n, const Dims& sizes) {
  const TensorType& operand = type_of(op, 0);
  require(op, is_unique(concatenated(n.collapsed_slice_dims, n.operand_batching_dims)), "c6",
          "collapsed_slice_dims and operand_batching_dims must differ");
  require(op, is_sorted(n.collapsed_slice_dims), "c7", "collapsed_slice_dims must be sorted");
  require(op, all_within(n.collapsed_slice_dims, 0, operand.rank()), "c8",
          "collapsed_slice_dims must be dimensions of the operand");
  require(op, is_sorted(n.operand_batching_dims), "c10", "operand_batching_dims must be sorted");
  require(op, all_within(n.operand_batching_dims, 0, operand.rank()), "c11",
          "operand_batching_dims must be dimensions of the operand");
  require(op, sizes.size() == operand.shape.size(), "c20",
          "slice_sizes must have one entry for each dimension of the operand");
  for (size_t d = 0; d < sizes.size(); ++d) {
    require(op, 0 <= sizes[d] && sizes[d] <= operand.shape[d], "c21",
            "0 <= slice_sizes <= the operand's shape must hold");
  }
  for (int64_t d : n.collapsed_slice_dims) {
    require(op, sizes[d] <= 1, "c9", "slice_sizes must be at most 1 in collapsed dimensions");
  }
  for (int64_t d : n.operand_batching_dims) {
    require(op, sizes[d] <= 1, "c12", "slice_sizes must be at most 1 in batching dimensions");
  }
}

std::vector<TensorType> infer_gather(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const auto& n = op.attributes.get<GatherDimensionNumbers>("dimension_numbers");
  const Dims& sizes = op.attributes.get<Dims>("slice_sizes");
  require_class(op, 1, kInteger);
  require(op,
          operand.shape.size() ==
              n.offset_dims.size() + n.collapsed_slice_dims.size() + n.operand_batching_dims.size(),
          "c1", "each dimension of the operand must be offset, collapsed or batching");
  check_gather_slices(op, n, sizes);
  check_gather_indices(op, n);
  require(op, is_unique(n.offset_dims) && is_sorted(n.offset_dims), "c4",
          "offset_dims must ascend");
  const Dims batches = without(type_of(op, 1).shape, {n.index_vector_dim});
  const Dims offsets =
      without(sizes, concatenated(n.collapsed_slice_dims, n.operand_batching_dims));
  require(op, all_within(n.offset_dims, 0, static_cast<int64_t>(batches.size() + offsets.size())),
          "c5", "offset_dims must be dimensions of the result");
  return single({operand.element, combine(batches, offsets, n.offset_dims)});
}

void check_scatter_indices(const OpView& op, const ScatterDimensionNumbers& n,
                           const TensorType& input, const TensorType& indices) {
  require(op, is_unique(n.scatter_indices_batching_dims), "c14",
          "scatter_indices_batching_dims must differ");
  require(op, all_within(n.scatter_indices_batching_dims, 0, indices.rank()), "c15",
          "scatter_indices_batching_dims must be dimensions of scatter_indices");
  require(op, 0 <= n.index_vector_dim && n.index_vector_dim <= indices.rank(), "c22",
          "index_vector_dim must be a dimension of scatter_indices or its rank");
  require(op, !contains(n.scatter_indices_batching_dims, n.index_vector_dim), "c16",
          "index_vector_dim must not be a batching dimension");
  require(op, n.input_batching_dims.size() == n.scatter_indices_batching_dims.size(), "c17",
          "inputs and scatter_indices must have as many batching dimensions");
  for (size_t i = 0; i < n.input_batching_dims.size(); ++i) {
    require(
        op,
        input.shape[n.input_batching_dims[i]] == indices.shape[n.scatter_indices_batching_dims[i]],
        "c18", "batching dimensions must have the same sizes");
  }
  require(op,
          static_cast<int64_t>(n.scatter_dims_to_operand_dims.size()) ==
              index_vector_size(indices, n.index_vector_dim),
          "c19",
          "scatter_dims_to_operand_dims must have one entry for each component of an index vector");
  require(op, is_unique(concatenated(n.scatter_dims_to_operand_dims, n.input_batching_dims)), "c20",
          "scatter_dims_to_operand_dims and input_batching_dims must differ");
  require(op, all_within(n.scatter_dims_to_operand_dims, 0, input.rank()), "c21",
          "scatter_dims_to_operand_dims must hold dimensions of the inputs");
}

void check_scatter_windows(const OpView& op, const ScatterDimensionNumbers& n,
                           const TensorType& input, const TensorType& update) {
  require(op,
          input.shape.size() == n.update_window_dims.size() + n.inserted_window_dims.size() +
                                    n.input_batching_dims.size(),
          "c2", "each dimension of the inputs must be a window's, inserted or batching");
  require(op, is_unique(n.update_window_dims) && is_sorted(n.update_window_dims), "c7",
          "update_window_dims must ascend");
  require(op, all_within(n.update_window_dims, 0, update.rank()), "c8",
          "update_window_dims must be dimensions of the updates");
  require(op, is_unique(concatenated(n.inserted_window_dims, n.input_batching_dims)), "c9",
          "inserted_window_dims and input_batching_dims must differ");
  require(op, is_sorted(n.inserted_window_dims), "c10", "inserted_window_dims must be sorted");
  require(op, all_within(n.inserted_window_dims, 0, input.rank()), "c11",
          "inserted_window_dims must be dimensions of the inputs");
  require(op, is_sorted(n.input_batching_dims), "c12", "input_batching_dims must be sorted");
  require(op, all_within(n.input_batching_dims, 0, input.rank()), "c13",
          "input_batching_dims must be dimensions of the inputs");
}

void check_update_shape(const OpView& op, const ScatterDimensionNumbers& n, const TensorType& input,
                        const TensorType& indices, const TensorType& update) {
  const Dims batches = without(indices.shape, {n.index_vector_dim});
  const Dims limits =
      without(input.shape, concatenated(n.inserted_window_dims, n.input_batching_dims));
  require(op, update.shape.size() == batches.size() + limits.size(), "c4",
          "updates must have the rank of the batches plus the window's");
  Dims windows;
  for (size_t i = 0; i < limits.size(); ++i) {
    windows.push_back(update.shape[n.update_window_dims[i]]);
    require(op, windows[i] <= limits[i], "c4", "a window must not be larger than the inputs");
  }
  require(op, update.shape == combine(batches, windows, n.update_window_dims), "c4",
          "updates must have scatter_indices' shape in the dimensions outside the window");
}

std::vector<TensorType> infer_scatter(const OpView& op) {
  const int total = static_cast<int>(op.operands.size());
  const int count = (total - 1) / 2;
  require(op, total == 2 * count + 1, "c5", "there must be as many updates as inputs");
  const TensorType& input = type_of(op, 0);
  const TensorType& indices = type_of(op, count);
  const TensorType& update = type_of(op, count + 1);
  const auto& n = op.attributes.get<ScatterDimensionNumbers>("scatter_dimension_numbers");
  require_class(op, count, kInteger);
  for (int i = 0; i < count; ++i) {
    require(op, type_of(op, i).shape == input.shape, "c1", "inputs must have the same shape");
    require(op, type_of(op, count + 1 + i).shape == update.shape, "c3",
            "updates must have the same shape");
    require(op, type_of(op, count + 1 + i).element == type_of(op, i).element, "c6",
            "an update must have its input's element type");
  }
  check_scatter_windows(op, n, input, update);
  check_scatter_indices(op, n, input, indices);
  check_update_shape(op, n, input, indices, update);
  std::vector<TensorType> results;
  for (ElementType element : require_combiner(op, 0, count, "c23")) {
    results.push_back({element, input.shape});
  }
  return results;
}

}  // namespace

Rows indexing_rows() {
  return {
      {.kind = OpKind::kGather,
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {{"dimension_numbers", AttributeKind::kGatherNumbers},
                      {"slice_sizes", AttributeKind::kI64Array},
                      {"indices_are_sorted", AttributeKind::kBool, false}},
       .implemented = true,
       .infer = infer_gather},
      {.kind = OpKind::kScatter,
       .min_operands = 3,
       .num_regions = 1,
       .attributes = {{"scatter_dimension_numbers", AttributeKind::kScatterNumbers},
                      {"indices_are_sorted", AttributeKind::kBool, false},
                      {"unique_indices", AttributeKind::kBool, false}},
       .implemented = true,
       .infer = infer_scatter},
  };
}

}  // namespace tpu::hlo::ops
