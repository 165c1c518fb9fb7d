#include "emulator/tensorcore/mxu/convolution.h"

#include <algorithm>
#include <cstring>

#include "emulator/tensorcore/mxu/channelwise.h"
#include "emulator/tensorcore/mxu/complex_product.h"
#include "emulator/tensorcore/mxu/conv_operands.h"
#include "emulator/tensorcore/mxu/mxu_kernels.h"
#include "emulator/tensorcore/mxu/product.h"

namespace tpu::tensorcore {
namespace {

using compiler::ConstView;
using compiler::KernelCall;
using compiler::View;
using hlo::ElementType;

/// Multiplies one phase of the packed images; returns the kernel's magnitudes.
template <class T>
MagnitudeRange convolve_phase(const Convolution& c, const Phase& phase,
                              const PackedImages<T>& images, int64_t first_image,
                              const MicroKernels<T>& kernels) {
  std::vector<int64_t> bounds = {0};
  if (meets_input(phase)) bounds = chunk_bounds(c.shape, phase, c.depth);
  const Patches<T> left(images, phase, c.shape.features_per_group);
  const StridedMatrix kernel = kernel_matrix(c, phase);
  const StridedOperand<T> right(kernel, c.plan, c.host);
  const StridedResult result = result_matrix(c, phase, first_image, images.layout().images);
  const StridedTiles<T> tiles(result, c.host);
  return run(Gemm<T>{c.groups(), result.rows.size(), c.outputs(), bounds, left, right, tiles,
                     c.plan, false, false, kernels});
}

/// With Padding::kAllowed padded taps multiply zeros with the kernel, which is right only where
/// the kernel is finite; returns false if it is not.
template <class T>
bool convolve_phases(const Convolution& c, Padding padding, const MicroKernels<T>& kernels) {
  const std::vector<Phase> phases = phase_combinations(c.shape, padding);
  const ImageSource source = image_source(c);
  ImageLayout layout = common_layout(c, phases, c.shape.input_features);
  const int64_t image_bytes = layout.image_stride * c.plan.parts * static_cast<int64_t>(sizeof(T));
  const int64_t block =
      std::clamp<int64_t>(kImageBytes / std::max<int64_t>(image_bytes, 1), 1, c.images());
  for (int64_t first = 0; first < c.images(); first += block) {
    layout.images = std::min(block, c.images() - first);
    const PackedImages<T> images(source, first, layout, c.plan, c.host);
    MagnitudeRange range;
    for (const Phase& phase : phases) {
      range.merge(convolve_phase(c, phase, images, first, kernels));
    }
    if (!range.is_finite() && leaves_input(c, layout)) return false;
  }
  return true;
}

/// The convolution of one batch group.
Convolution batch_group(const Convolution& all, int64_t group) {
  const hlo::ConvDimensionNumbers& d = all.shape.numbers;
  Convolution c = all;
  const auto skip = [&](auto& view, int64_t count, int64_t dimension) {
    view.data += group * count * view.strides[dimension] * hlo::byte_width(view.element);
  };
  skip(c.lhs, all.images(), d.input_batch_dimension);
  skip(c.rhs, all.outputs(), d.kernel_output_feature_dimension);
  skip(c.result, all.outputs(), d.output_feature_dimension);
  c.shape.input_batch /= all.shape.batch_groups;
  c.shape.output_features /= all.shape.batch_groups;
  c.shape.batch_groups = 1;
  return c;
}

template <class T>
void convolve_as(const Convolution& all, const MicroKernels<T>& kernels) {
  for (int64_t group = 0; group < all.shape.batch_groups; ++group) {
    const Convolution c = batch_group(all, group);
    if (!convolve_phases(c, Padding::kAllowed, kernels)) {
      convolve_phases(c, Padding::kNever, kernels);
    }
  }
}

/// True if every tap is one input element of its own: a strided matrix product.
bool is_pointwise(const ConvolutionShape& shape) {
  return shape.batch_groups == 1 && std::ranges::all_of(shape.window, [](const SpatialWindow& w) {
           return w.kernel == 1 && w.base_dilation == 1 && w.pad_low == 0 &&
                  (w.output - 1) * w.stride < w.input;
         });
}

void convolve_pointwise(const Convolution& c, Precision precision) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t feature_stride = c.lhs.strides[d.input_feature_dimension];
  Phase phase(c.shape.rank());
  StridedAxis lines(c.images(), c.lhs.strides[d.input_batch_dimension]);
  for (int i = 0; i < c.shape.rank(); ++i) {
    const SpatialWindow& w = c.shape.window[i];
    phase[i].taps = 1;
    phase[i].outputs = w.output;
    lines.append(w.output, c.lhs.strides[d.input_spatial_dimensions[i]] * w.stride);
  }
  multiply({{c.lhs.element, c.lhs.data, hlo::byte_width(c.lhs.element),
             StridedAxis(c.groups(), c.shape.features_per_group * feature_stride), lines,
             StridedAxis(c.shape.features_per_group, feature_stride)},
            kernel_matrix(c, phase),
            result_matrix(c, phase, 0, c.images())},
           precision, c.depth, c.host);
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
  const int64_t width = hlo::byte_width(c.result.element);
  const auto store = [&](int64_t i, const std::byte* number) {
    int64_t offset = 0;
    for (size_t d = dense.size(); d-- > 0; i /= c.result.shape[d]) {
      offset += i % c.result.shape[d] * c.result.strides[d];
    }
    std::memcpy(c.result.data + offset * width, number, width);
  };
  multiply_complex(c.result.element, hlo::num_elements(c.result.shape), real, store);
}

void convolve(const Convolution& c, Precision precision) {
  if (is_pointwise(c.shape)) return convolve_pointwise(c, precision);
  switch (arithmetic_of(c.lhs.element, c.rhs.element, c.result.element)) {
    case Arithmetic::kF64:
      return convolve_as<double>(c, c.host.f64);
    case Arithmetic::kInteger:
    case Arithmetic::kBoolean:
      return hlo::byte_width(c.result.element) == 8 ? convolve_as<uint64_t>(c, c.host.u64)
                                                    : convolve_as<uint32_t>(c, c.host.u32);
    default:
      if (is_channelwise(c.shape)) return convolve_channelwise(c);
      convolve_as<float>(c, c.host.f32);
  }
}

}  // namespace

void convolution(const KernelCall& call, const HostKernels& host) {
  const ConstView &lhs = call.operands[0], &rhs = call.operands[1];
  const View& result = call.results[0];
  const ConvolutionShape shape =
      convolution_shape(call.attributes, lhs.shape, rhs.shape, result.shape);
  arithmetic_of(lhs.element, rhs.element, result.element);  // throws if they do not go together
  if (hlo::num_elements(result.shape) == 0) return;
  const Precision precision = precision_of(call.attributes);
  const Convolution c{
      shape,          lhs, rhs, result, plan_passes(precision, lhs.element, rhs.element),
      call.mxu_depth, host};
  if (hlo::is_complex(lhs.element)) return convolve_complex(c);
  convolve(c, precision);
}

void convolution(const KernelCall& call) {
  convolution(call, host_kernels());
}

}  // namespace tpu::tensorcore
