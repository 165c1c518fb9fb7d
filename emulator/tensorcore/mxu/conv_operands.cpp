#include "emulator/tensorcore/mxu/conv_operands.h"

#include <algorithm>

namespace tpu::tensorcore {
namespace {

template <class V>
int64_t width_of(const V& view) {
  return hlo::byte_width(view.element);
}

}  // namespace

ImageSource image_source(const Convolution& c) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  ImageSource source{
      {c.lhs.element, c.lhs.data, width_of(c.lhs),
       StridedAxis(c.images(), c.lhs.strides[d.input_batch_dimension]), StridedAxis(),
       StridedAxis(c.shape.input_features, c.lhs.strides[d.input_feature_dimension])},
      {}};
  for (int i = 0; i < c.shape.rank(); ++i) {
    source.spatial.push_back(
        StridedAxis(c.shape.window[i].input, c.lhs.strides[d.input_spatial_dimensions[i]]));
  }
  return source;
}

StridedMatrix kernel_matrix(const Convolution& c, const Phase& phase) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t output_stride = c.rhs.strides[d.kernel_output_feature_dimension];
  StridedMatrix matrix{c.rhs.element,
                       c.rhs.data,
                       width_of(c.rhs),
                       StridedAxis(c.groups(), c.outputs() * output_stride),
                       StridedAxis(c.outputs(), output_stride),
                       StridedAxis()};
  int64_t origin = 0;
  for (int i = 0; i < c.shape.rank(); ++i) {
    const SpatialWindow& w = c.shape.window[i];
    const int64_t stride = c.rhs.strides[d.kernel_spatial_dimensions[i]];
    origin += w.kernel_index(phase[i].first_tap) * stride;
    matrix.k.append(phase[i].taps, (w.reversed ? -stride : stride) * phase[i].tap_step);
  }
  matrix.k.append(c.shape.features_per_group, c.rhs.strides[d.kernel_input_feature_dimension]);
  matrix.data += origin * width_of(c.rhs);
  return matrix;
}

StridedResult result_matrix(const Convolution& c, const Phase& phase, int64_t first,
                            int64_t count) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t batch_stride = c.result.strides[d.output_batch_dimension];
  const int64_t feature_stride = c.result.strides[d.output_feature_dimension];
  StridedResult result{c.result.element,
                       c.result.data,
                       width_of(c.result),
                       StridedAxis(c.groups(), c.outputs() * feature_stride),
                       StridedAxis(count, batch_stride),
                       StridedAxis(c.outputs(), feature_stride)};
  int64_t origin = first * batch_stride;
  for (int i = 0; i < c.shape.rank(); ++i) {
    const int64_t stride = c.result.strides[d.output_spatial_dimensions[i]];
    origin += phase[i].first_output * stride;
    result.rows.append(phase[i].outputs, phase[i].output_step * stride);
  }
  result.data += origin * width_of(c.result);
  return result;
}

bool meets_input(const Phase& phase) {
  return std::ranges::all_of(phase, [](const PhaseWindow& p) { return p.taps > 0; });
}

ImageLayout common_layout(const Convolution& c, const std::vector<Phase>& phases,
                          int64_t features) {
  const size_t rank = c.shape.window.size();
  std::vector<int64_t> low(rank), high(rank);
  bool first = true;
  for (const auto& phase : phases) {
    if (!meets_input(phase)) continue;
    for (size_t i = 0; i < rank; ++i) {
      low[i] = first ? phase[i].low() : std::min(low[i], phase[i].low());
      high[i] = first ? phase[i].high() : std::max(high[i], phase[i].high());
    }
    first = false;
  }
  return image_layout(low, high, 1, features);
}

bool leaves_input(const Convolution& c, const ImageLayout& layout) {
  for (int i = 0; i < c.shape.rank(); ++i) {
    if (layout.low[i] < 0 || layout.low[i] + layout.extent[i] > c.shape.window[i].input) {
      return true;
    }
  }
  return false;
}

}  // namespace tpu::tensorcore
