// Random tensors and calls for the MXU's tests.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/base/property.h"
#include "emulator/compiler/kernels/kernel.h"
#include "emulator/tensorcore/mxu/element.h"
#include "emulator/tensorcore/mxu/host_kernels.h"

namespace tpu::tensorcore::testing {

using hlo::Dims;
using hlo::ElementType;

using Random = std::mt19937_64;
using tpu::testing::Choices;

inline int64_t pick(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}
template <class T>
const T& pick(Random& random, const std::vector<T>& from) {
  return from[pick(random, 0, static_cast<int64_t>(from.size()) - 1)];
}
/// One of `from`, the first being the simplest.
template <class T>
T choose(Choices& choices, const std::vector<T>& from) {
  return from[choices.in(0, static_cast<int64_t>(from.size()) - 1)];
}

/// A tensor of its own memory whose dimensions lie in any order, with gaps.
struct Tensor {
  ElementType element;
  Dims shape, strides;
  std::vector<std::byte> bytes;
  int64_t origin = 0;  ///< element index of index 0...0 (strides may be negative)

  compiler::ConstView const_view() const {
    return {element, shape, strides, bytes.data() + origin * hlo::byte_width(element)};
  }
  compiler::View view() {
    return {element, shape, strides, bytes.data() + origin * hlo::byte_width(element)};
  }
};

enum class Layout { kDense, kStrided };

/// Random order of dimensions, gaps and, rarely, negative strides if kStrided.
inline Tensor make_tensor(ElementType element, const Dims& shape, Layout layout, Random& random) {
  Tensor tensor{element, shape, Dims(shape.size(), 0), {}, 0};
  std::vector<size_t> order(shape.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;
  if (layout == Layout::kStrided) std::shuffle(order.begin(), order.end(), random);
  int64_t step = layout == Layout::kStrided && pick(random, 0, 3) == 0 ? 2 : 1;
  int64_t first = 0;
  for (size_t d : order) {
    const bool negative = layout == Layout::kStrided && pick(random, 0, 9) == 0;
    tensor.strides[d] = negative ? -step : step;
    if (negative && shape[d] > 0) first += (shape[d] - 1) * step;
    step *= std::max<int64_t>(shape[d], 1);
    if (layout == Layout::kStrided && pick(random, 0, 3) == 0) step += pick(random, 0, 3);
  }
  tensor.origin = first;
  tensor.bytes.resize(static_cast<size_t>(std::max<int64_t>(step, 1)) * hlo::byte_width(element));
  return tensor;
}

/// What random numbers look like.
enum class Values {
  kNormal,   ///< around 1
  kWide,     ///< any exponent: products overflow and underflow
  kSpecial,  ///< kNormal with zeros, infinities, NaNs, subnormals, numbers that overflow bf16
};

inline double random_float(Values values, Random& random) {
  const double normal = std::normal_distribution<double>()(random);
  if (values == Values::kWide) return std::ldexp(normal, static_cast<int>(pick(random, -140, 127)));
  if (values == Values::kSpecial && pick(random, 0, 30) == 0) {
    static const std::vector<double> specials = {0.0,   -0.0,     INFINITY,      -INFINITY, NAN,
                                                 1e-40, -1e-45,   3.4e38,        -3.4e38,   1e-20,
                                                 1e20,  0x1p-75f, 0x1.fffffep127};
    return pick(random, specials);
  }
  return normal;
}

inline void fill(Tensor& tensor, Values values, Random& random) {
  const ElementType real = hlo::real_part(tensor.element);
  const int width = hlo::byte_width(real);
  for (size_t at = 0; at + width <= tensor.bytes.size(); at += width) {
    if (hlo::is_float(real)) {
      store_float(real, &tensor.bytes[at], random_float(values, random));
    } else {
      const uint64_t bits = random();
      store_integer(real, &tensor.bytes[at], real == ElementType::kI1 ? bits & 1 : bits);
    }
  }
}

/// Byte offsets of all elements in row-major order.
inline std::vector<int64_t> element_offsets(const Tensor& tensor) {
  std::vector<int64_t> offsets;
  const int64_t count = hlo::num_elements(tensor.shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = tensor.origin;
    for (size_t d = tensor.shape.size(); d-- > 0; rest /= tensor.shape[d]) {
      at += rest % tensor.shape[d] * tensor.strides[d];
    }
    offsets.push_back(at * hlo::byte_width(tensor.element));
  }
  return offsets;
}

/// Same bits, except that any NaN equals any NaN.
inline bool same_number(ElementType element, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, hlo::byte_width(element)) == 0) return true;
  if (hlo::is_complex(element)) {
    const ElementType real = hlo::real_part(element);
    const int width = hlo::byte_width(real);
    return same_number(real, a, b) && same_number(real, a + width, b + width);
  }
  return hlo::is_float(element) && std::isnan(load_float(element, a)) &&
         std::isnan(load_float(element, b));
}

/// Lanes of 16 floats made of narrower registers: what the AVX-512 table computes, on any host.
const HostKernels& wide_test_kernels();

/// Every table this host can run, and wide_test_kernels.
inline std::vector<const HostKernels*> all_tables() {
  std::vector<const HostKernels*> tables(available_host_kernels().begin(),
                                         available_host_kernels().end());
  tables.push_back(&wide_test_kernels());
  return tables;
}

/// Index of the first element that differs, or -1.
inline int64_t first_difference(const Tensor& a, const Tensor& b) {
  const std::vector<int64_t> a_offsets = element_offsets(a), b_offsets = element_offsets(b);
  for (size_t i = 0; i < a_offsets.size(); ++i) {
    if (!same_number(a.element, &a.bytes[a_offsets[i]], &b.bytes[b_offsets[i]])) {
      return static_cast<int64_t>(i);
    }
  }
  return -1;
}

/// The bytes that belong to no element.
inline std::vector<std::byte> gap_bytes(const Tensor& tensor) {
  std::vector<bool> used(tensor.bytes.size());
  for (int64_t offset : element_offsets(tensor)) {
    for (int i = 0; i < hlo::byte_width(tensor.element); ++i) used[offset + i] = true;
  }
  std::vector<std::byte> gaps;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) gaps.push_back(tensor.bytes[i]);
  }
  return gaps;
}

inline std::string describe(const Tensor& tensor) {
  std::string text = std::string(hlo::name(tensor.element)) + "[";
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    text += std::to_string(tensor.shape[d]) + ":" + std::to_string(tensor.strides[d]) + " ";
  }
  return text + "]";
}

struct Types {
  ElementType lhs, rhs, result;
};
inline constexpr auto kI8 = ElementType::kSI8;
/// Operand and result types that go together.
inline const std::vector<Types> kTypes = {
    {ElementType::kF32, ElementType::kF32, ElementType::kF32},
    {ElementType::kF32, ElementType::kF32, ElementType::kF32},
    {ElementType::kBF16, ElementType::kBF16, ElementType::kBF16},
    {ElementType::kBF16, ElementType::kBF16, ElementType::kF32},
    {ElementType::kF16, ElementType::kF16, ElementType::kF16},
    {ElementType::kF16, ElementType::kBF16, ElementType::kF32},
    {ElementType::kF32, ElementType::kBF16, ElementType::kF32},
    {ElementType::kF16, ElementType::kF32, ElementType::kF32},
    {ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kBF16},
    {ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3FNUZ, ElementType::kF8E5M2},
    {ElementType::kF8E4M3B11FNUZ, ElementType::kBF16, ElementType::kF32},
    {ElementType::kF64, ElementType::kF64, ElementType::kF64},
    {ElementType::kF64, ElementType::kF32, ElementType::kF32},
    {kI8, kI8, ElementType::kSI32},
    {kI8, ElementType::kUI8, ElementType::kSI32},
    {kI8, kI8, kI8},
    {ElementType::kSI4, ElementType::kSI4, ElementType::kSI4},
    {ElementType::kUI4, ElementType::kUI8, ElementType::kUI8},
    {ElementType::kSI16, ElementType::kSI16, ElementType::kSI16},
    {ElementType::kUI16, ElementType::kUI16, ElementType::kUI32},
    {ElementType::kSI32, ElementType::kSI32, ElementType::kSI32},
    {ElementType::kSI32, kI8, ElementType::kSI64},
    {ElementType::kUI64, ElementType::kUI64, ElementType::kUI64},
    {ElementType::kI1, ElementType::kI1, ElementType::kI1},
    {ElementType::kComplexF32, ElementType::kComplexF32, ElementType::kComplexF32},
    {ElementType::kComplexF64, ElementType::kComplexF64, ElementType::kComplexF64},
};

/// What one table with one number of threads gets wrong about `expected`; empty if nothing.
/// `run(host)` computes the result into a new tensor whose bytes were all 0x55.
template <class Run>
std::string disagreement(const Tensor& expected, const Run& run) {
  for (const HostKernels* host : all_tables()) {
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      const Tensor got = run(*host);
      const int64_t at = first_difference(got, expected);
      const std::string who =
          std::string(host->name) + " on " + std::to_string(threads) + " threads: " + describe(got);
      if (at >= 0) return who + " differs in element " + std::to_string(at);
      if (gap_bytes(got) != gap_bytes(expected)) return who + " wrote between elements";
    }
  }
  return "";
}

}  // namespace tpu::tensorcore::testing
