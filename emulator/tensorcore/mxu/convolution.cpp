#include "emulator/tensorcore/mxu/convolution.h"

#include <algorithm>
#include <cstring>

#include "emulator/tensorcore/mxu/complex_product.h"
#include "emulator/tensorcore/mxu/mxu_kernels.h"
#include "emulator/tensorcore/mxu/patches.h"
#include "emulator/tensorcore/mxu/product.h"

namespace tpu::tensorcore {
namespace {

using compiler::ConstView;
using compiler::KernelCall;
using compiler::View;
using hlo::ElementType;

/// Bytes of packed images at a time.
constexpr int64_t kImageBytes = int64_t{32} << 20;

/// A convolution of one batch group: lhs and rhs sliced so that only feature groups are left.
struct Convolution {
  const ConvolutionShape& shape;
  ConstView lhs, rhs;
  View result;
  int64_t images;   ///< batch of lhs and result
  int64_t outputs;  ///< output features of one feature group
  PassPlan plan;
  int depth;
  const HostKernels& host;

  int64_t groups() const { return shape.feature_groups; }
  int64_t lhs_stride(int64_t dimension) const { return lhs.strides[dimension]; }
};

template <class V>
int64_t width_of(const V& view) {
  return hlo::byte_width(view.element);
}

ImageSource image_source(const Convolution& c) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  ImageSource source{
      {c.lhs.element, c.lhs.data, width_of(c.lhs),
       StridedAxis(c.images, c.lhs.strides[d.input_batch_dimension]), StridedAxis(),
       StridedAxis(c.shape.input_features, c.lhs.strides[d.input_feature_dimension])},
      {}};
  for (int i = 0; i < c.shape.rank(); ++i) {
    source.spatial.push_back(
        StridedAxis(c.shape.window[i].input, c.lhs.strides[d.input_spatial_dimensions[i]]));
  }
  return source;
}

/// The kernel as the right operand: batch = feature group, k = the phase's taps, then features.
StridedMatrix kernel_matrix(const Convolution& c, const std::vector<PhaseWindow>& phase) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t output_stride = c.rhs.strides[d.kernel_output_feature_dimension];
  StridedMatrix matrix{c.rhs.element,
                       c.rhs.data,
                       width_of(c.rhs),
                       StridedAxis(c.groups(), c.outputs * output_stride),
                       StridedAxis(c.outputs, output_stride),
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

/// The phase's outputs of images [first, first + count) as rows, output features as columns.
StridedResult result_matrix(const Convolution& c, const std::vector<PhaseWindow>& phase,
                            int64_t first, int64_t count) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t batch_stride = c.result.strides[d.output_batch_dimension];
  const int64_t feature_stride = c.result.strides[d.output_feature_dimension];
  StridedResult result{c.result.element,
                       c.result.data,
                       width_of(c.result),
                       StridedAxis(c.groups(), c.outputs * feature_stride),
                       StridedAxis(count, batch_stride),
                       StridedAxis(c.outputs, feature_stride)};
  int64_t origin = first * batch_stride;
  for (int i = 0; i < c.shape.rank(); ++i) {
    const int64_t stride = c.result.strides[d.output_spatial_dimensions[i]];
    origin += phase[i].first_output * stride;
    result.rows.append(phase[i].outputs, phase[i].output_step * stride);
  }
  result.data += origin * width_of(c.result);
  return result;
}

bool meets_input(const std::vector<PhaseWindow>& phase) {
  return std::ranges::all_of(phase, [](const PhaseWindow& p) { return p.taps > 0; });
}

/// The layout that holds what all phases touch of one image.
ImageLayout common_layout(const Convolution& c,
                          const std::vector<std::vector<PhaseWindow>>& phases) {
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
  return image_layout(low, high, 1, c.shape.input_features);
}

bool leaves_input(const Convolution& c, const ImageLayout& layout) {
  for (int i = 0; i < c.shape.rank(); ++i) {
    if (layout.low[i] < 0 || layout.low[i] + layout.extent[i] > c.shape.window[i].input) {
      return true;
    }
  }
  return false;
}

/// Multiplies one phase of the packed images; returns the kernel's magnitudes.
template <class T>
MagnitudeRange convolve_phase(const Convolution& c, const std::vector<PhaseWindow>& phase,
                              const PackedImages<T>& images, int64_t first_image,
                              const MicroKernels<T>& kernels) {
  std::vector<int64_t> bounds = {0};
  if (meets_input(phase)) bounds = chunk_bounds(c.shape, phase, c.depth);
  const Patches<T> left(images, phase, c.shape.features_per_group);
  const StridedMatrix kernel = kernel_matrix(c, phase);
  const StridedOperand<T> right(kernel, c.plan, c.host);
  const StridedResult result = result_matrix(c, phase, first_image, images.layout().images);
  const StridedTiles<T> tiles(result, c.host);
  return run(Gemm<T>{c.groups(), result.rows.size(), c.outputs, bounds, left, right, tiles, c.plan,
                     false, kernels});
}

/// With Padding::kAllowed padded taps multiply zeros with the kernel, which is right only where
/// the kernel is finite; returns false if it is not.
template <class T>
bool convolve_phases(const Convolution& c, Padding padding, const MicroKernels<T>& kernels) {
  const auto phases = phase_combinations(c.shape, padding);
  const ImageSource source = image_source(c);
  ImageLayout layout = common_layout(c, phases);
  const int64_t image_bytes = layout.image_stride * c.plan.parts * static_cast<int64_t>(sizeof(T));
  const int64_t block =
      std::clamp<int64_t>(kImageBytes / std::max<int64_t>(image_bytes, 1), 1, c.images);
  for (int64_t first = 0; first < c.images; first += block) {
    layout.images = std::min(block, c.images - first);
    const PackedImages<T> images(source, first, layout, c.plan, c.host);
    MagnitudeRange range;
    for (const auto& phase : phases) {
      range.merge(convolve_phase(c, phase, images, first, kernels));
    }
    if (!range.is_finite() && leaves_input(c, layout)) return false;
  }
  return true;
}

template <class T>
void convolve_as(const Convolution& c, const MicroKernels<T>& kernels) {
  if (!convolve_phases(c, Padding::kAllowed, kernels)) {
    convolve_phases(c, Padding::kNever, kernels);
  }
}

/// True if every tap is one input element of its own: a strided matrix product.
bool is_pointwise(const ConvolutionShape& shape) {
  return std::ranges::all_of(shape.window, [](const SpatialWindow& w) {
    return w.kernel == 1 && w.base_dilation == 1 && w.pad_low == 0 &&
           (w.output - 1) * w.stride < w.input;
  });
}

void convolve_pointwise(const Convolution& c, Precision precision) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  std::vector<PhaseWindow> phase(c.shape.rank());
  for (int i = 0; i < c.shape.rank(); ++i) {
    phase[i].taps = 1;
    phase[i].outputs = c.shape.window[i].output;
  }
  StridedProduct product;
  product.rhs = kernel_matrix(c, phase);
  product.result = result_matrix(c, phase, 0, c.images);
  StridedAxis positions;
  StridedAxis lines(c.images, c.lhs.strides[d.input_batch_dimension]);
  for (int i = 0; i < c.shape.rank(); ++i) {
    const SpatialWindow& w = c.shape.window[i];
    const int64_t stride = c.lhs.strides[d.input_spatial_dimensions[i]] * w.stride;
    positions.append(w.output, stride);
    lines.append(w.output, stride);
  }
  const int64_t feature_stride = c.lhs.strides[d.input_feature_dimension];
  product.lhs = {
      c.lhs.element,   c.lhs.data,
      width_of(c.lhs), StridedAxis(c.groups(), c.shape.features_per_group * feature_stride),
      lines,           StridedAxis(c.shape.features_per_group, feature_stride)};
  if (!lines.is_single() || !product.result.rows.is_single()) {
    // Images one by one, so that a row is dense where the tensor is.
    product.lhs.lines = positions;
    product.lhs.batch.append(c.images, c.lhs.strides[d.input_batch_dimension]);
    product.rhs.batch.append(c.images, 0);
    product.result.batch.append(c.images, c.result.strides[d.output_batch_dimension]);
    StridedAxis rows;
    for (int i = 0; i < c.shape.rank(); ++i) {
      rows.append(c.shape.window[i].output, c.result.strides[d.output_spatial_dimensions[i]]);
    }
    product.result.rows = rows;
  }
  multiply(product, precision, c.depth, c.host);
}

/// Slices lhs and rhs to the given batch group.
Convolution batch_group(const Convolution& all, int64_t group) {
  const hlo::ConvDimensionNumbers& d = all.shape.numbers;
  Convolution c = all;
  c.lhs.data += group * c.images * c.lhs.strides[d.input_batch_dimension] * width_of(c.lhs);
  c.rhs.data +=
      group * c.outputs * c.rhs.strides[d.kernel_output_feature_dimension] * width_of(c.rhs);
  c.result.data +=
      group * c.outputs * c.result.strides[d.output_feature_dimension] * width_of(c.result);
  return c;
}

void convolve(const Convolution& c, Precision precision);

ConstView part_of(const ConstView& view, std::span<const int64_t> strides, int part) {
  const ElementType real = hlo::real_part(view.element);
  return {real, view.shape, strides, view.data + part * hlo::byte_width(real)};
}

void convolve_complex(const Convolution& c) {
  const auto twice = [](std::span<const int64_t> strides) {
    hlo::Dims result(strides.begin(), strides.end());
    for (int64_t& stride : result) stride *= 2;
    return result;
  };
  const hlo::Dims lhs_strides = twice(c.lhs.strides), rhs_strides = twice(c.rhs.strides);
  const hlo::Dims dense = hlo::row_major_strides(c.result.shape);
  const auto real = [&](const RealProduct& product) {
    Convolution part = c;
    part.lhs = part_of(c.lhs, lhs_strides, product.lhs_part);
    part.rhs = part_of(c.rhs, rhs_strides, product.rhs_part);
    part.result = {hlo::real_part(c.result.element), c.result.shape, dense, product.result};
    convolve(part, Precision::kHighest);
  };
  const auto store = [&](int64_t i, const std::byte* number) {
    int64_t offset = 0;
    for (size_t d = dense.size(); d-- > 0; i /= c.result.shape[d]) {
      offset += i % c.result.shape[d] * c.result.strides[d];
    }
    std::memcpy(c.result.data + offset * width_of(c.result), number, width_of(c.result));
  };
  multiply_complex(c.result.element, hlo::num_elements(c.result.shape), real, store);
}

void convolve_groups(const Convolution& c, Precision precision) {
  if (is_pointwise(c.shape)) return convolve_pointwise(c, precision);
  switch (arithmetic_of(c.lhs.element, c.rhs.element, c.result.element)) {
    case Arithmetic::kF64:
      return convolve_as<double>(c, c.host.f64);
    case Arithmetic::kInteger:
    case Arithmetic::kBoolean:
      return hlo::byte_width(c.result.element) == 8 ? convolve_as<uint64_t>(c, c.host.u64)
                                                    : convolve_as<uint32_t>(c, c.host.u32);
    default:
      return convolve_as<float>(c, c.host.f32);
  }
}

void convolve(const Convolution& c, Precision precision) {
  for (int64_t group = 0; group < c.shape.batch_groups; ++group) {
    convolve_groups(batch_group(c, group), precision);
  }
}

}  // namespace

void convolution(const KernelCall& call, const HostKernels& host) {
  const ConstView &lhs = call.operands[0], &rhs = call.operands[1];
  const View& result = call.results[0];
  const ConvolutionShape shape =
      convolution_shape(call.attributes, lhs.shape, rhs.shape, result.shape);
  if (hlo::num_elements(result.shape) == 0) return;
  const Precision precision = precision_of(call.attributes);
  const Convolution c{shape,
                      lhs,
                      rhs,
                      result,
                      shape.output_batch,
                      shape.outputs_per_group(),
                      plan_passes(precision, lhs.element, rhs.element),
                      call.mxu_depth,
                      host};
  const Arithmetic arithmetic = arithmetic_of(lhs.element, rhs.element, result.element);
  const bool is_complex =
      arithmetic == Arithmetic::kComplexF32 || arithmetic == Arithmetic::kComplexF64;
  if (is_complex) return convolve_complex(c);
  convolve(c, precision);
}

void convolution(const KernelCall& call) {
  convolution(call, host_kernels());
}

}  // namespace tpu::tensorcore
