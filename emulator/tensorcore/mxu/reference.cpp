#include "emulator/tensorcore/mxu/reference.h"

#include <algorithm>
#include <vector>

#include "emulator/tensorcore/mxu/convolution_shape.h"
#include "emulator/tensorcore/mxu/dot_shape.h"
#include "emulator/tensorcore/mxu/element.h"

namespace tpu::tensorcore::reference {
namespace {

using compiler::ConstView;
using compiler::KernelCall;
using compiler::View;
using hlo::Dims;
using hlo::ElementType;

/// The elements that meet in one contraction, in order; both null where a tap is padding.
struct Pair {
  const std::byte* lhs;
  const std::byte* rhs;
};
using Pairs = std::vector<Pair>;

/// Steps `index` through `shape` in row-major order; false when it wraps to the start.
bool advance(Dims& index, const Dims& shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

template <class V>
auto* element_at(const V& view, const Dims& index) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * view.strides[d];
  return view.data + offset * hlo::byte_width(view.element);
}

/// The numbers of one side of the pairs; `part` 1 reads the imaginary parts of a complex type.
template <class T>
std::vector<T> values(const Pairs& pairs, const std::byte* Pair::* side, ElementType type,
                      int part = 0) {
  const ElementType real = hlo::real_part(type);
  std::vector<T> result;
  result.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    const std::byte* from = pair.*side;
    const auto offset = part * hlo::byte_width(real);
    result.push_back(from ? static_cast<T>(load_float(real, from + offset)) : T{0});
  }
  return result;
}

struct Product {
  Arithmetic arithmetic;
  PassPlan plan;
  ElementType lhs, rhs, result;
  int depth;

  double real(const Pairs& pairs, int lhs_part, int rhs_part) const {
    if (arithmetic == Arithmetic::kF64 || arithmetic == Arithmetic::kComplexF64) {
      return contract(values<double>(pairs, &Pair::lhs, lhs, lhs_part),
                      values<double>(pairs, &Pair::rhs, rhs, rhs_part), depth);
    }
    return contract(values<float>(pairs, &Pair::lhs, lhs, lhs_part),
                    values<float>(pairs, &Pair::rhs, rhs, rhs_part), plan, depth);
  }

  template <class T>
  void store_complex(const Pairs& pairs, std::byte* to) const {
    const T re_re = static_cast<T>(real(pairs, 0, 0)), im_im = static_cast<T>(real(pairs, 1, 1));
    const T re_im = static_cast<T>(real(pairs, 0, 1)), im_re = static_cast<T>(real(pairs, 1, 0));
    store_as<T>(to, re_re - im_im);
    store_as<T>(to + sizeof(T), re_im + im_re);
  }

  void store(const Pairs& pairs, std::byte* to) const {
    switch (arithmetic) {
      case Arithmetic::kComplexF32:
        return store_complex<float>(pairs, to);
      case Arithmetic::kComplexF64:
        return store_complex<double>(pairs, to);
      case Arithmetic::kInteger:
      case Arithmetic::kBoolean: {
        uint64_t sum = 0;
        for (const Pair& pair : pairs) {
          if (pair.lhs) sum += load_integer(lhs, pair.lhs) * load_integer(rhs, pair.rhs);
        }
        return store_integer(result, to, arithmetic == Arithmetic::kBoolean ? sum != 0 : sum);
      }
      default:
        return store_float(result, to, real(pairs, 0, 0));
    }
  }
};

Product product_of(const KernelCall& call) {
  const ElementType lhs = call.operands[0].element, rhs = call.operands[1].element;
  const ElementType result = call.results[0].element;
  return {arithmetic_of(lhs, rhs, result),
          plan_passes(precision_of(call.attributes), lhs, rhs),
          lhs,
          rhs,
          result,
          call.mxu_depth};
}

}  // namespace

float contract(std::span<const float> lhs, std::span<const float> rhs, const PassPlan& plan,
               int depth) {
  const auto part_of = [&](float x, int part) { return plan.splits ? split_bf16(x)[part] : x; };
  float total = 0.0f;
  for (size_t begin = 0; begin < lhs.size(); begin += depth) {
    const size_t end = std::min(lhs.size(), begin + depth);
    for (const Pass& pass : plan.passes) {
      float sum = 0.0f;
      for (size_t k = begin; k < end; ++k) {
        const float product = part_of(lhs[k], pass.lhs_part) * part_of(rhs[k], pass.rhs_part);
        sum = sum + product;
      }
      total = total + sum;
    }
  }
  return total;
}

double contract(std::span<const double> lhs, std::span<const double> rhs, int depth) {
  double total = 0.0;
  for (size_t begin = 0; begin < lhs.size(); begin += depth) {
    const size_t end = std::min(lhs.size(), begin + depth);
    double sum = 0.0;
    for (size_t k = begin; k < end; ++k) {
      const double product = lhs[k] * rhs[k];
      sum = sum + product;
    }
    total = total + sum;
  }
  return total;
}

void dot_general(const KernelCall& call) {
  const ConstView &lhs = call.operands[0], &rhs = call.operands[1];
  const View& result = call.results[0];
  const DotShape shape = dot_shape(call.attributes, lhs.shape, rhs.shape, result.shape);
  const Product product = product_of(call);
  const Dims result_shape(result.shape.begin(), result.shape.end());
  if (hlo::num_elements(result_shape) == 0) return;
  Dims k_shape;
  for (int64_t d : shape.lhs_contracting) k_shape.push_back(lhs.shape[d]);

  Dims index(result_shape.size(), 0);
  do {
    Dims lhs_index(lhs.shape.size()), rhs_index(rhs.shape.size());
    size_t at = 0;
    for (size_t b = 0; b < shape.lhs_batch.size(); ++b, ++at) {
      lhs_index[shape.lhs_batch[b]] = rhs_index[shape.rhs_batch[b]] = index[at];
    }
    for (int64_t d : shape.lhs_rest) lhs_index[d] = index[at++];
    for (int64_t d : shape.rhs_rest) rhs_index[d] = index[at++];
    Pairs pairs;
    if (hlo::num_elements(k_shape) > 0) {
      Dims k(k_shape.size(), 0);
      do {
        for (size_t i = 0; i < k.size(); ++i) {
          lhs_index[shape.lhs_contracting[i]] = rhs_index[shape.rhs_contracting[i]] = k[i];
        }
        pairs.push_back({element_at(lhs, lhs_index), element_at(rhs, rhs_index)});
      } while (advance(k, k_shape));
    }
    product.store(pairs, element_at(result, index));
  } while (advance(index, result_shape));
}

void convolution(const KernelCall& call) {
  const ConstView &lhs = call.operands[0], &rhs = call.operands[1];
  const View& result = call.results[0];
  const ConvolutionShape shape =
      convolution_shape(call.attributes, lhs.shape, rhs.shape, result.shape);
  const hlo::ConvDimensionNumbers& d = shape.numbers;
  const Product product = product_of(call);
  const Dims result_shape(result.shape.begin(), result.shape.end());
  if (hlo::num_elements(result_shape) == 0) return;
  Dims taps;
  for (const SpatialWindow& w : shape.window) taps.push_back(w.kernel);
  const int64_t group_batch = shape.input_batch / shape.batch_groups;

  Dims index(result_shape.size(), 0);
  do {
    const int64_t feature = index[d.output_feature_dimension];
    const int64_t group = feature / shape.outputs_per_group();
    Dims lhs_index(lhs.shape.size()), rhs_index(rhs.shape.size());
    lhs_index[d.input_batch_dimension] =
        index[d.output_batch_dimension] + (shape.batch_groups > 1 ? group * group_batch : 0);
    const int64_t first_feature = shape.feature_groups > 1 ? group * shape.features_per_group : 0;
    rhs_index[d.kernel_output_feature_dimension] = feature;
    Pairs pairs;
    if (shape.contraction() > 0) {
      Dims tap(taps.size(), 0);
      do {
        bool inside = true;
        for (size_t i = 0; i < tap.size(); ++i) {
          const SpatialWindow& w = shape.window[i];
          const int64_t in = w.input_index(index[d.output_spatial_dimensions[i]], tap[i]);
          inside = inside && in >= 0;
          lhs_index[d.input_spatial_dimensions[i]] = in;
          rhs_index[d.kernel_spatial_dimensions[i]] = w.kernel_index(tap[i]);
        }
        for (int64_t f = 0; f < shape.features_per_group; ++f) {
          lhs_index[d.input_feature_dimension] = first_feature + f;
          rhs_index[d.kernel_input_feature_dimension] = f;
          pairs.push_back(inside ? Pair{element_at(lhs, lhs_index), element_at(rhs, rhs_index)}
                                 : Pair{nullptr, nullptr});
        }
      } while (advance(tap, taps));
    }
    product.store(pairs, element_at(result, index));
  } while (advance(index, result_shape));
}

}  // namespace tpu::tensorcore::reference
