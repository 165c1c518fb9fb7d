#include "emulator/hlo/evaluator/contraction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"
#include "emulator/hlo/evaluator/arithmetic.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/index.h"

namespace tpu::hlo {

int passes(const EnumValues& precision_config) {
  int most = 1;
  for (const EnumValue& precision : precision_config) {
    if (precision.value == "HIGH") {
      most = std::max(most, 3);
    } else if (precision.value == "HIGHEST") {
      most = std::max(most, 6);
    } else if (precision.value != "DEFAULT") {
      throw InvalidArgument("precision '" + precision.value +
                            "'; expected DEFAULT, HIGH or HIGHEST");
    }
  }
  return most;
}

namespace {

// Calls visit(begin, end) for the chunks of [0, count), ascending.
template <class Visit>
void for_each_chunk(int64_t count, int64_t depth, Visit&& visit) {
  for (int64_t begin = 0; begin < count; begin += depth) {
    visit(begin, std::min(begin + depth, count));
  }
}

template <class T>
T sum_products(std::span<const T> lhs, std::span<const T> rhs) {
  T sum = 0;
  for (size_t k = 0; k < lhs.size(); ++k) sum += lhs[k] * rhs[k];
  return sum;
}

template <class T>
T contract_plain(std::span<const T> lhs, std::span<const T> rhs, int64_t depth) {
  T total = 0;
  for_each_chunk(std::ssize(lhs), depth, [&](int64_t begin, int64_t end) {
    total += sum_products(lhs.subspan(begin, end - begin), rhs.subspan(begin, end - begin));
  });
  return total;
}

// parts[0] = h, parts[1] = m, parts[2] = l of each number.
struct Split {
  std::vector<float> parts[3];
};

Split split(std::span<const float> values) {
  Split split;
  for (float x : values) {
    const float h = round_to_bf16(x);
    const float m = std::isfinite(h) ? round_to_bf16(x - h) : 0.0f;
    const float l = std::isfinite(h) ? round_to_bf16(x - h - m) : 0.0f;
    split.parts[0].push_back(h);
    split.parts[1].push_back(m);
    split.parts[2].push_back(l);
  }
  return split;
}

using Pass = std::pair<int, int>;  // lhs part, rhs part

std::span<const Pass> pass_list(int passes) {
  static constexpr Pass kAll[] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
  return std::span(kAll).last(passes);
}

float contract_passes(std::span<const float> lhs, std::span<const float> rhs, int64_t depth,
                      int passes) {
  const Split a = split(lhs), b = split(rhs);
  float total = 0;
  for_each_chunk(std::ssize(lhs), depth, [&](int64_t begin, int64_t end) {
    for (const auto& [i, j] : pass_list(passes)) {
      total += sum_products(std::span(a.parts[i]).subspan(begin, end - begin),
                            std::span(b.parts[j]).subspan(begin, end - begin));
    }
  });
  return total;
}

template <class T>
std::vector<T> numbers_as(std::span<const Element> elements, ElementType type) {
  std::vector<T> numbers;
  for (const Element& x : elements) numbers.push_back(std::get<T>(convert(x, type).value));
  return numbers;
}

Element contract_floats(std::span<const Element> lhs, std::span<const Element> rhs,
                        const ContractionSpec& spec) {
  const auto any = [&](ElementType type) { return lhs[0].type == type || rhs[0].type == type; };
  if (any(ElementType::kF64)) {
    return make_float(spec.result, contract_plain<double>(
                                       numbers_as<double>(lhs, ElementType::kF64),
                                       numbers_as<double>(rhs, ElementType::kF64), spec.depth));
  }
  const std::vector<float> a = numbers_as<float>(lhs, ElementType::kF32);
  const std::vector<float> b = numbers_as<float>(rhs, ElementType::kF32);
  return make_float(spec.result, any(ElementType::kF32)
                                     ? contract_passes(a, b, spec.depth, spec.passes)
                                     : contract_plain<float>(a, b, spec.depth));
}

Element contract_integers(std::span<const Element> lhs, std::span<const Element> rhs,
                          const ContractionSpec& spec) {
  Element total = zero(spec.result);
  for (size_t k = 0; k < lhs.size(); ++k) {
    total = add(total, multiply(convert(lhs[k], spec.result), convert(rhs[k], spec.result)));
  }
  return total;
}

Element contract_complex(std::span<const Element> lhs, std::span<const Element> rhs,
                         ContractionSpec spec) {
  const auto parts = [](std::span<const Element> elements, Element (*part)(const Element&)) {
    std::vector<Element> numbers;
    for (const Element& x : elements) numbers.push_back(part(x));
    return numbers;
  };
  spec.passes = 6;
  spec.result = real_part(spec.result);
  const std::vector<Element> lhs_re = parts(lhs, real), lhs_im = parts(lhs, imag);
  const std::vector<Element> rhs_re = parts(rhs, real), rhs_im = parts(rhs, imag);
  return complex(subtract(contract(lhs_re, rhs_re, spec), contract(lhs_im, rhs_im, spec)),
                 add(contract(lhs_re, rhs_im, spec), contract(lhs_im, rhs_re, spec)));
}

}  // namespace

Element contract(std::span<const Element> lhs, std::span<const Element> rhs,
                 const ContractionSpec& spec) {
  if (lhs.empty()) return zero(spec.result);
  if (is_complex(lhs[0].type)) return contract_complex(lhs, rhs, spec);
  if (is_float(lhs[0].type)) return contract_floats(lhs, rhs, spec);
  return contract_integers(lhs, rhs, spec);
}

Literal evaluate_dot_general(const Literal& lhs, const Literal& rhs,
                             const DotDimensionNumbers& numbers, const ContractionSpec& spec,
                             const TensorType& result_type) {
  const Dims lhs_free = other_dimensions(lhs.type().rank(), numbers.lhs_batching_dimensions,
                                         numbers.lhs_contracting_dimensions);
  const Dims rhs_free = other_dimensions(rhs.type().rank(), numbers.rhs_batching_dimensions,
                                         numbers.rhs_contracting_dimensions);
  const Dims& lhs_shape = lhs.type().shape;
  const Dims& rhs_shape = rhs.type().shape;
  const Dims contracting_shape = pick(lhs_shape, numbers.lhs_contracting_dimensions);

  Literal result(result_type);
  for_each_index(result_type.shape, [&](const Index& result_index) {
    Index lhs_index(lhs_shape.size()), rhs_index(rhs_shape.size());
    auto coordinate = result_index.begin();
    for (size_t i = 0; i < numbers.lhs_batching_dimensions.size(); ++i) {
      lhs_index[numbers.lhs_batching_dimensions[i]] = *coordinate;
      rhs_index[numbers.rhs_batching_dimensions[i]] = *coordinate++;
    }
    for (int64_t d : lhs_free) lhs_index[d] = *coordinate++;
    for (int64_t d : rhs_free) rhs_index[d] = *coordinate++;

    std::vector<Element> a, b;
    for_each_index(contracting_shape, [&](const Index& k) {
      for (size_t i = 0; i < k.size(); ++i) {
        lhs_index[numbers.lhs_contracting_dimensions[i]] = k[i];
        rhs_index[numbers.rhs_contracting_dimensions[i]] = k[i];
      }
      a.push_back(load(lhs, linearize(lhs_index, lhs_shape)));
      b.push_back(load(rhs, linearize(rhs_index, rhs_shape)));
    });
    store(result, linearize(result_index, result_type.shape), contract(a, b, spec));
  });
  return result;
}

namespace {

// The shapes of a convolution and its groups.
class ConvolutionIndexing {
 public:
  ConvolutionIndexing(const Dims& lhs_shape, const Dims& rhs_shape, const ConvolutionSpec& window)
      : lhs_shape_(lhs_shape), window_(window), numbers_(window.numbers) {
    window_shape_ = pick(rhs_shape, numbers_.kernel_spatial_dimensions);
    group_features_ = rhs_shape[numbers_.kernel_input_feature_dimension];
    group_outputs_ = rhs_shape[numbers_.kernel_output_feature_dimension] /
                     (window.feature_group_count * window.batch_group_count);
    group_batch_ = lhs_shape[numbers_.input_batch_dimension] / window.batch_group_count;
  }

  const Dims& window_shape() const { return window_shape_; }
  int64_t group_features() const { return group_features_; }

  // Index into lhs of what meets `window_index` and `feature` of the group; out of bounds where
  // that is padding or a hole.
  Index lhs_index(const Index& output, const Index& window_index, int64_t feature) const {
    const int64_t group = output[numbers_.output_feature_dimension] / group_outputs_;
    const int64_t feature_group = window_.batch_group_count > 1 ? 0 : group;
    const int64_t batch_group = window_.batch_group_count > 1 ? group : 0;
    Index index(lhs_shape_.size());
    index[numbers_.input_batch_dimension] =
        batch_group * group_batch_ + output[numbers_.output_batch_dimension];
    index[numbers_.input_feature_dimension] = feature_group * group_features_ + feature;
    for (size_t i = 0; i < window_index.size(); ++i) {
      const int64_t dilated =
          output[numbers_.output_spatial_dimensions[i]] * window_.window_strides[i] +
          window_index[i] * window_.rhs_dilation[i] - window_.padding.values[2 * i];
      const bool hole = dilated % window_.lhs_dilation[i] != 0;
      index[numbers_.input_spatial_dimensions[i]] = hole ? -1 : dilated / window_.lhs_dilation[i];
    }
    return index;
  }

  Index rhs_index(const Index& output, const Index& window_index, int64_t feature) const {
    Index index(window_index.size() + 2);
    index[numbers_.kernel_output_feature_dimension] = output[numbers_.output_feature_dimension];
    index[numbers_.kernel_input_feature_dimension] = feature;
    for (size_t i = 0; i < window_index.size(); ++i) {
      index[numbers_.kernel_spatial_dimensions[i]] =
          window_.window_reversal[i] ? window_shape_[i] - 1 - window_index[i] : window_index[i];
    }
    return index;
  }

 private:
  const Dims& lhs_shape_;
  const ConvolutionSpec& window_;
  const ConvDimensionNumbers& numbers_;
  Dims window_shape_;
  int64_t group_features_, group_outputs_, group_batch_;
};

}  // namespace

Literal evaluate_convolution(const Literal& lhs, const Literal& rhs, const ConvolutionSpec& window,
                             const ContractionSpec& spec, const TensorType& result_type) {
  const Dims& lhs_shape = lhs.type().shape;
  const Dims& rhs_shape = rhs.type().shape;
  const ConvolutionIndexing indexing(lhs_shape, rhs_shape, window);
  Literal result(result_type);
  for_each_index(result_type.shape, [&](const Index& output) {
    std::vector<Element> a, b;
    for_each_index(indexing.window_shape(), [&](const Index& window_index) {
      for (int64_t feature = 0; feature < indexing.group_features(); ++feature) {
        const Index from = indexing.lhs_index(output, window_index, feature);
        if (!in_bounds(from, lhs_shape)) {
          a.push_back(zero(lhs.type().element));
          b.push_back(zero(rhs.type().element));
          continue;
        }
        a.push_back(load(lhs, linearize(from, lhs_shape)));
        b.push_back(
            load(rhs, linearize(indexing.rhs_index(output, window_index, feature), rhs_shape)));
      }
    });
    store(result, linearize(output, result_type.shape), contract(a, b, spec));
  });
  return result;
}

}  // namespace tpu::hlo
