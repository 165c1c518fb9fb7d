// Reductions over sliding windows: reduce_window, select_and_scatter.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"
#include "emulator/hlo/window.h"

namespace tpu::hlo::ops {
namespace {

bool all_positive(const Dims& values) {
  return all_within(values, 1, INT64_MAX);
}

void require_padding(const OpView& op, const IntMatrix& padding, int rank, std::string_view label) {
  require(op, padding.rows == rank && padding.columns == 2, label,
          "padding must have a row (low, high) for each dimension");
}

IntMatrix padding_or_zero(const OpView& op, int rank) {
  if (op.attributes.contains("padding")) return op.attributes.get<IntMatrix>("padding");
  return {rank, 2, Dims(2 * rank, 0)};
}

std::vector<WindowDimension> reduce_window_dimensions(const OpView& op, int rank) {
  const Dims& sizes = op.attributes.get<Dims>("window_dimensions");
  const Dims strides = dims_or(op, "window_strides", rank, 1);
  const Dims base_dilations = dims_or(op, "base_dilations", rank, 1);
  const Dims window_dilations = dims_or(op, "window_dilations", rank, 1);
  const IntMatrix padding = padding_or_zero(op, rank);
  const auto check = [&](const Dims& values, std::string_view size_label,
                         std::string_view positive_label, std::string_view name) {
    require(op, static_cast<int>(values.size()) == rank, size_label,
            std::string(name) + " must have one entry for each dimension of the inputs");
    require(op, all_positive(values), positive_label, std::string(name) + " must be positive");
  };
  check(sizes, "c4", "c5", "window_dimensions");
  check(strides, "c6", "c7", "window_strides");
  check(base_dilations, "c8", "c9", "base_dilations");
  check(window_dilations, "c10", "c11", "window_dilations");
  require_padding(op, padding, rank, "c12");
  std::vector<WindowDimension> window;
  for (int d = 0; d < rank; ++d) {
    window.push_back({sizes[d], strides[d], padding.values[2 * d], padding.values[2 * d + 1],
                      base_dilations[d], window_dilations[d]});
  }
  return window;
}

std::vector<TensorType> infer_reduce_window(const OpView& op) {
  const int count = static_cast<int>(op.operands.size()) / 2;
  require(op, static_cast<int>(op.operands.size()) == 2 * count, "c1",
          "there must be as many init_values as inputs");
  const TensorType& input = type_of(op, 0);
  for (int i = 0; i < count; ++i) {
    require(op, type_of(op, i).shape == input.shape, "c2", "inputs must have the same shape");
    require(op, type_of(op, count + i) == TensorType{type_of(op, i).element, {}}, "c3",
            "an init_value must be a scalar of its input's element type");
  }
  const std::vector<WindowDimension> window = reduce_window_dimensions(op, input.rank());
  Dims shape;
  for (int d = 0; d < input.rank(); ++d) shape.push_back(num_windows(input.shape[d], window[d]));
  std::vector<TensorType> results;
  for (ElementType element : require_combiner(op, 0, count, "c13")) {
    results.push_back({element, shape});
  }
  return results;
}

std::vector<TensorType> infer_select_and_scatter(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const TensorType& source = type_of(op, 1);
  const int rank = operand.rank();
  const Dims sizes = dims_or(op, "window_dimensions", rank, 1);
  const Dims strides = dims_or(op, "window_strides", rank, 1);
  const IntMatrix padding = padding_or_zero(op, rank);
  require(op, source.element == operand.element, "c1",
          "source must have the operand's element type");
  require(op, type_of(op, 2) == TensorType{operand.element, {}}, "c3",
          "init_value must be a scalar of the operand's element type");
  require(op, static_cast<int>(sizes.size()) == rank, "c4",
          "window_dimensions must have one entry for each dimension of the operand");
  require(op, all_positive(sizes), "c5", "window_dimensions must be positive");
  require(op, static_cast<int>(strides.size()) == rank, "c6",
          "window_strides must have one entry for each dimension of the operand");
  require(op, all_positive(strides), "c7", "window_strides must be positive");
  require_padding(op, padding, rank, "c8");
  Dims windows;
  for (int d = 0; d < rank; ++d) {
    const WindowDimension window{sizes[d], strides[d], padding.values[2 * d],
                                 padding.values[2 * d + 1]};
    windows.push_back(num_windows(operand.shape[d], window));
  }
  require(op, source.shape == windows, "c2", "source must have one element for each window");
  const TensorType scalar{operand.element, {}};
  const TensorType pair[] = {scalar, scalar}, predicate[] = {{ElementType::kI1, {}}};
  require_signature(op, 0, pair, predicate, "c9");
  return single({require_combiner(op, 1, 1, "c10")[0], operand.shape});
}

}  // namespace

Rows window_rows() {
  return {
      {.kind = OpKind::kReduceWindow,
       .min_operands = 2,
       .num_regions = 1,
       .attributes = {{"window_dimensions", AttributeKind::kI64Array},
                      {"window_strides", AttributeKind::kI64Array, false},
                      {"base_dilations", AttributeKind::kI64Array, false},
                      {"window_dilations", AttributeKind::kI64Array, false},
                      {"padding", AttributeKind::kI64Matrix, false}},
       .implemented = true,
       .infer = infer_reduce_window},
      {.kind = OpKind::kSelectAndScatter,
       .min_operands = 3,
       .max_operands = 3,
       .num_regions = 2,
       .attributes = {{"window_dimensions", AttributeKind::kI64Array, false},
                      {"window_strides", AttributeKind::kI64Array, false},
                      {"padding", AttributeKind::kI64Matrix, false}},
       .implemented = true,
       .infer = infer_select_and_scatter},
  };
}

}  // namespace tpu::hlo::ops
