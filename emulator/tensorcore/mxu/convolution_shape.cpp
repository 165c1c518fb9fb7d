#include "emulator/tensorcore/mxu/convolution_shape.h"

#include <algorithm>
#include <string>

#include "emulator/base/error.h"

namespace tpu::tensorcore {
namespace {

void require(bool holds, const char* what, int64_t got, int64_t expected) {
  if (holds) return;
  throw InvalidArgument("convolution: " + std::string(what) + " is " + std::to_string(got) +
                        ", expected " + std::to_string(expected));
}

void require_equal(const char* what, int64_t got, int64_t expected) {
  require(got == expected, what, got, expected);
}

/// A per-spatial-dimension attribute, or `fallback` repeated where it is left out.
hlo::Dims spatial_attribute(const hlo::Attributes& attributes, const char* name, size_t rank,
                            int64_t fallback) {
  hlo::Dims values = attributes.get_or<hlo::Dims>(name, hlo::Dims(rank, fallback));
  require_equal(name, static_cast<int64_t>(values.size()), static_cast<int64_t>(rank));
  return values;
}

int64_t dilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

int64_t output_size(const SpatialWindow& w, int64_t pad_high) {
  const int64_t padded = dilated(w.input, w.base_dilation) + w.pad_low + pad_high;
  const int64_t window = dilated(w.kernel, w.window_dilation);
  return padded < window || padded <= 0 ? 0 : (padded - window) / w.stride + 1;
}

void read_window(ConvolutionShape& shape, const hlo::Attributes& attributes,
                 std::span<const int64_t> lhs, std::span<const int64_t> rhs,
                 std::span<const int64_t> result) {
  const hlo::ConvDimensionNumbers& d = shape.numbers;
  const size_t rank = d.kernel_spatial_dimensions.size();
  require_equal("the number of input spatial dimensions",
                static_cast<int64_t>(d.input_spatial_dimensions.size()),
                static_cast<int64_t>(rank));
  require_equal("the number of output spatial dimensions",
                static_cast<int64_t>(d.output_spatial_dimensions.size()),
                static_cast<int64_t>(rank));
  const hlo::Dims strides = spatial_attribute(attributes, "window_strides", rank, 1);
  const hlo::Dims base = spatial_attribute(attributes, "lhs_dilation", rank, 1);
  const hlo::Dims dilation = spatial_attribute(attributes, "rhs_dilation", rank, 1);
  const auto padding = attributes.get_or<hlo::IntMatrix>("padding", {});
  const auto reversal = attributes.get_or<std::vector<bool>>("window_reversal", {});
  for (size_t i = 0; i < rank; ++i) {
    SpatialWindow w;
    w.input = lhs[d.input_spatial_dimensions[i]];
    w.kernel = rhs[d.kernel_spatial_dimensions[i]];
    w.output = result[d.output_spatial_dimensions[i]];
    w.stride = strides[i];
    w.base_dilation = base[i];
    w.window_dilation = dilation[i];
    w.reversed = !reversal.empty() && reversal[i];
    w.pad_low = padding.values.empty() ? 0 : padding.values[2 * i];
    const int64_t pad_high = padding.values.empty() ? 0 : padding.values[2 * i + 1];
    require(w.stride > 0 && w.base_dilation > 0 && w.window_dilation > 0,
            "the smallest of stride and dilations",
            std::min({w.stride, w.base_dilation, w.window_dilation}), 1);
    require_equal("an output spatial dimension", w.output, output_size(w, pad_high));
    shape.window.push_back(w);
  }
}

}  // namespace

int64_t ConvolutionShape::contraction() const {
  int64_t count = features_per_group;
  for (const SpatialWindow& w : window) count *= w.kernel;
  return count;
}

int64_t ConvolutionShape::output_positions() const {
  int64_t count = 1;
  for (const SpatialWindow& w : window) count *= w.output;
  return count;
}

ConvolutionShape convolution_shape(const hlo::Attributes& attributes, std::span<const int64_t> lhs,
                                   std::span<const int64_t> rhs, std::span<const int64_t> result) {
  ConvolutionShape shape;
  shape.numbers = attributes.get<hlo::ConvDimensionNumbers>("dimension_numbers");
  const hlo::ConvDimensionNumbers& d = shape.numbers;
  shape.feature_groups = attributes.get_or<int64_t>("feature_group_count", 1);
  shape.batch_groups = attributes.get_or<int64_t>("batch_group_count", 1);
  shape.input_batch = lhs[d.input_batch_dimension];
  shape.input_features = lhs[d.input_feature_dimension];
  shape.output_batch = result[d.output_batch_dimension];
  shape.output_features = result[d.output_feature_dimension];
  shape.features_per_group = rhs[d.kernel_input_feature_dimension];
  require(shape.feature_groups >= 1 && shape.batch_groups >= 1 &&
              (shape.feature_groups == 1 || shape.batch_groups == 1),
          "the smaller of feature_group_count and batch_group_count",
          std::min(shape.feature_groups, shape.batch_groups), 1);
  require_equal("the input's feature dimension", shape.input_features,
                shape.features_per_group * shape.feature_groups);
  require_equal("the output's feature dimension", shape.output_features,
                rhs[d.kernel_output_feature_dimension]);
  require_equal("the output's features modulo the groups",
                shape.output_features % (shape.feature_groups * shape.batch_groups), 0);
  require_equal("the input's batch", shape.input_batch, shape.output_batch * shape.batch_groups);
  read_window(shape, attributes, lhs, rhs, result);
  return shape;
}

}  // namespace tpu::tensorcore
