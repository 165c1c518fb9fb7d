// dot_general and convolution.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"
#include "emulator/hlo/window.h"

namespace tpu::hlo::ops {
namespace {

void check_precision(const OpView& op, std::string_view label) {
  const Attribute* precision = op.attributes.find("precision_config");
  if (!precision) return;
  const EnumValues& values = op.attributes.get<EnumValues>("precision_config");
  // The text form of "no choice" is an empty list.
  require(op, values.empty() || values.size() == 2, label,
          "precision_config must have an entry for lhs and one for rhs");
  for (const EnumValue& value : values) {
    require(op, one_of(value.value, {"DEFAULT", "HIGH", "HIGHEST"}), label,
            "a precision must be DEFAULT, HIGH or HIGHEST");
  }
}

// The writer chooses the type that sums are given out in; without a choice it is the operands'.
ElementType result_element(const OpView& op, std::string_view label) {
  const ElementType operand = type_of(op, 0).element;
  if (op.result_types.empty()) return operand;
  const ElementType result = op.result_types[0].element;
  const bool same_kind =
      is_integer(operand) ? is_integer(result) : type_class(operand) == type_class(result);
  require(op, same_kind, label,
          "the result must hold floats for floats, integers for integers, and so on");
  return result;
}

// Dimensions that are neither batching nor contracting, in order.
void append_free(const TensorType& type, const Dims& batching, const Dims& contracting,
                 Dims& shape) {
  for (int d = 0; d < type.rank(); ++d) {
    if (!contains(batching, d) && !contains(contracting, d)) shape.push_back(type.shape[d]);
  }
}

std::vector<TensorType> infer_dot_general(const OpView& op) {
  const TensorType& lhs = type_of(op, 0);
  const TensorType& rhs = type_of(op, 1);
  const auto& n = op.attributes.get<DotDimensionNumbers>("dot_dimension_numbers");
  const Dims &lhs_batch = n.lhs_batching_dimensions, &rhs_batch = n.rhs_batching_dimensions;
  const Dims &lhs_sum = n.lhs_contracting_dimensions, &rhs_sum = n.rhs_contracting_dimensions;
  require_class(op, 0, kTensor);
  require(op, lhs_batch.size() == rhs_batch.size(), "c1",
          "lhs and rhs must have as many batching dimensions");
  require(op, lhs_sum.size() == rhs_sum.size(), "c2",
          "lhs and rhs must have as many contracting dimensions");
  require(op, is_unique(concatenated(lhs_batch, lhs_sum)), "c3", "dimensions of lhs must differ");
  require(op, is_unique(concatenated(rhs_batch, rhs_sum)), "c4", "dimensions of rhs must differ");
  require(op, all_within(lhs_batch, 0, lhs.rank()), "c5",
          "lhs_batching_dimensions must be dimensions of lhs");
  require(op, all_within(lhs_sum, 0, lhs.rank()), "c6",
          "lhs_contracting_dimensions must be dimensions of lhs");
  require(op, all_within(rhs_batch, 0, rhs.rank()), "c7",
          "rhs_batching_dimensions must be dimensions of rhs");
  require(op, all_within(rhs_sum, 0, rhs.rank()), "c8",
          "rhs_contracting_dimensions must be dimensions of rhs");
  TensorType result{result_element(op, "c13"), {}};
  for (size_t i = 0; i < lhs_batch.size(); ++i) {
    require(op, lhs.shape[lhs_batch[i]] == rhs.shape[rhs_batch[i]], "c9",
            "batching dimensions must have the same sizes");
    result.shape.push_back(lhs.shape[lhs_batch[i]]);
  }
  for (size_t i = 0; i < lhs_sum.size(); ++i) {
    require(op, lhs.shape[lhs_sum[i]] == rhs.shape[rhs_sum[i]], "c10",
            "contracting dimensions must have the same sizes");
  }
  check_precision(op, "c11");
  require(op, lhs.element == rhs.element, "c13", "lhs and rhs must have the same element type");
  append_free(lhs, lhs_batch, lhs_sum, result.shape);
  append_free(rhs, rhs_batch, rhs_sum, result.shape);
  return single(std::move(result));
}

// `spatial`, `a` and `b` must be all dimensions of a tensor of rank `rank`, each once.
bool covers_rank(const Dims& spatial, int64_t a, int64_t b, int rank) {
  const Dims all = concatenated(spatial, {a, b});
  return is_unique(all) && all_within(all, 0, rank);
}

void check_dimension_numbers(const OpView& op, const ConvDimensionNumbers& n, int rank) {
  const size_t spatial = rank - 2;
  require(op, n.input_spatial_dimensions.size() == spatial, "c12",
          "there must be rank - 2 input_spatial_dimensions");
  require(op,
          covers_rank(n.input_spatial_dimensions, n.input_batch_dimension,
                      n.input_feature_dimension, rank),
          "c13", "the input's dimensions must be named once each");
  require(op, n.kernel_spatial_dimensions.size() == spatial, "c17",
          "there must be rank - 2 kernel_spatial_dimensions");
  require(op,
          covers_rank(n.kernel_spatial_dimensions, n.kernel_input_feature_dimension,
                      n.kernel_output_feature_dimension, rank),
          "c18", "the kernel's dimensions must be named once each");
  require(op, n.output_spatial_dimensions.size() == spatial, "c19",
          "there must be rank - 2 output_spatial_dimensions");
  require(op,
          covers_rank(n.output_spatial_dimensions, n.output_batch_dimension,
                      n.output_feature_dimension, rank),
          "c20", "the output's dimensions must be named once each");
}

void check_groups(const OpView& op, const ConvDimensionNumbers& n) {
  const int64_t feature_groups = op.attributes.get<int64_t>("feature_group_count");
  const int64_t batch_groups = op.attributes.get<int64_t>("batch_group_count");
  require(op, feature_groups > 0, "c21", "feature_group_count must be positive");
  require(op, batch_groups > 0, "c22", "batch_group_count must be positive");
  require(op, feature_groups == 1 || batch_groups == 1, "c23",
          "feature_group_count or batch_group_count must be 1");
  const Dims& lhs = type_of(op, 0).shape;
  const Dims& rhs = type_of(op, 1).shape;
  const int64_t input_features = lhs[n.input_feature_dimension];
  const int64_t output_features = rhs[n.kernel_output_feature_dimension];
  require(op, lhs[n.input_batch_dimension] % batch_groups == 0, "c10",
          "batch_group_count must divide the input's batch");
  require(op, input_features % feature_groups == 0, "c11",
          "feature_group_count must divide the input's features");
  require(op, rhs[n.kernel_input_feature_dimension] == input_features / feature_groups, "c14",
          "the kernel's input features must be the input's features / feature_group_count");
  require(op, output_features % batch_groups == 0, "c15",
          "batch_group_count must divide the kernel's output features");
  require(op, output_features % feature_groups == 0, "c16",
          "feature_group_count must divide the kernel's output features");
}

// The window, one entry a spatial dimension; `sizes` are the kernel's.
std::vector<WindowDimension> window_of(const OpView& op, const Dims& sizes) {
  const int spatial = static_cast<int>(sizes.size());
  const Dims strides = dims_or(op, "window_strides", spatial, 1);
  const Dims base_dilations = dims_or(op, "lhs_dilation", spatial, 1);
  const Dims window_dilations = dims_or(op, "rhs_dilation", spatial, 1);
  const IntMatrix padding =
      op.attributes.get_or<IntMatrix>("padding", IntMatrix{spatial, 2, Dims(2 * spatial, 0)});
  const auto check = [&](const Dims& values, std::string_view size_label,
                         std::string_view positive_label, std::string_view name) {
    require(op, values.size() == sizes.size(), size_label,
            std::string(name) + " must have one entry for each spatial dimension");
    require(op, all_within(values, 1, INT64_MAX), positive_label,
            std::string(name) + " must be positive");
  };
  check(strides, "c2", "c3", "window_strides");
  check(base_dilations, "c5", "c6", "lhs_dilation");
  check(window_dilations, "c7", "c8", "rhs_dilation");
  require(op, padding.rows == spatial && padding.columns == 2, "c4",
          "padding must have a row (low, high) for each spatial dimension");
  if (op.attributes.contains("window_reversal")) {
    require(op, op.attributes.get<std::vector<bool>>("window_reversal").size() == sizes.size(),
            "c9", "window_reversal must have one entry for each spatial dimension");
  }
  std::vector<WindowDimension> window;
  for (int d = 0; d < spatial; ++d) {
    window.push_back({sizes[d], strides[d], padding.values[2 * d], padding.values[2 * d + 1],
                      base_dilations[d], window_dilations[d]});
  }
  return window;
}

std::vector<TensorType> infer_convolution(const OpView& op) {
  const TensorType& lhs = type_of(op, 0);
  const TensorType& rhs = type_of(op, 1);
  const int rank = lhs.rank();
  const auto& n = op.attributes.get<ConvDimensionNumbers>("dimension_numbers");
  require_class(op, 0, kNumber);
  require(op, rank == rhs.rank() && rank >= 2, "c1",
          "lhs and rhs must have the same rank, at least 2");
  check_dimension_numbers(op, n, rank);
  check_groups(op, n);
  check_precision(op, "c24");
  require(op, lhs.element == rhs.element, "c27", "lhs and rhs must have the same element type");
  Dims sizes;
  for (int64_t d : n.kernel_spatial_dimensions) sizes.push_back(rhs.shape[d]);
  const std::vector<WindowDimension> window = window_of(op, sizes);
  TensorType result{result_element(op, "c27"), Dims(rank, 0)};
  result.shape[n.output_batch_dimension] =
      lhs.shape[n.input_batch_dimension] / op.attributes.get<int64_t>("batch_group_count");
  result.shape[n.output_feature_dimension] = rhs.shape[n.kernel_output_feature_dimension];
  for (size_t i = 0; i < window.size(); ++i) {
    result.shape[n.output_spatial_dimensions[i]] =
        num_windows(lhs.shape[n.input_spatial_dimensions[i]], window[i]);
  }
  return single(std::move(result));
}

}  // namespace

Rows contraction_rows() {
  constexpr AttributeKind kDims = AttributeKind::kI64Array;
  const AttributeSpec precision{"precision_config", AttributeKind::kEnumArray, false, "precision"};
  return {
      {.kind = OpKind::kDotGeneral,
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {{"dot_dimension_numbers", AttributeKind::kDotNumbers}, precision},
       .implemented = true,
       .infer = infer_dot_general},
      {.kind = OpKind::kConvolution,
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {{"window_strides", kDims, false},
                      {"padding", AttributeKind::kI64Matrix, false},
                      {"lhs_dilation", kDims, false},
                      {"rhs_dilation", kDims, false},
                      {"window_reversal", AttributeKind::kBoolArray, false},
                      {"dimension_numbers", AttributeKind::kConvNumbers},
                      {"feature_group_count", AttributeKind::kI64},
                      {"batch_group_count", AttributeKind::kI64},
                      precision},
       .implemented = true,
       .infer = infer_convolution},
  };
}

}  // namespace tpu::hlo::ops
