// Small tools that the kernels share: walking strided arrays, choosing a C++ type by element width.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

using hlo::Dims;
using hlo::ElementType;

/// An element of complex<f64>: 16 bytes to move.
struct Wide {
  uint64_t part[2];
  bool operator==(const Wide&) const = default;
};

/// Calls `body(std::type_identity<T>{})` with an unsigned type of `bytes` bytes.
template <class Body>
decltype(auto) visit_width(int bytes, Body&& body) {
  switch (bytes) {
    case 1:
      return body(std::type_identity<uint8_t>{});
    case 2:
      return body(std::type_identity<uint16_t>{});
    case 4:
      return body(std::type_identity<uint32_t>{});
    case 8:
      return body(std::type_identity<uint64_t>{});
    case 16:
      return body(std::type_identity<Wide>{});
    default:
      throw InvalidArgument("kernels move elements of 1, 2, 4, 8 or 16 bytes, got " +
                            std::to_string(bytes));
  }
}

/// Calls `body(std::type_identity<T>{})` with the C++ type of an integer (or i1) element type.
template <class Body>
decltype(auto) visit_integer(ElementType type, Body&& body) {
  switch (type) {
    case ElementType::kI1:
    case ElementType::kUI4:
    case ElementType::kUI8:
      return body(std::type_identity<uint8_t>{});
    case ElementType::kSI4:
    case ElementType::kSI8:
      return body(std::type_identity<int8_t>{});
    case ElementType::kSI16:
      return body(std::type_identity<int16_t>{});
    case ElementType::kUI16:
      return body(std::type_identity<uint16_t>{});
    case ElementType::kSI32:
      return body(std::type_identity<int32_t>{});
    case ElementType::kUI32:
      return body(std::type_identity<uint32_t>{});
    case ElementType::kSI64:
      return body(std::type_identity<int64_t>{});
    case ElementType::kUI64:
      return body(std::type_identity<uint64_t>{});
    default:
      throw InvalidArgument("expected an integer element type, got " +
                            std::string(hlo::name(type)));
  }
}

/// An integer as int64_t; an unsigned one too large for it becomes its largest value.
template <class T>
int64_t saturated(T value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    constexpr uint64_t kLargest = INT64_MAX;
    return static_cast<int64_t>(value < kLargest ? value : kLargest);
  } else {
    return static_cast<int64_t>(value);
  }
}

/// Walks an index space row-major and keeps N offsets, each a dot product of the index with one
/// set of strides. Rank 0 has one position.
template <size_t N>
class Odometer {
 public:
  using Strides = std::array<std::span<const int64_t>, N>;

  /// Starts at flat position `start`. The spans must outlive the walker.
  Odometer(std::span<const int64_t> shape, const Strides& strides, int64_t start = 0)
      : shape_(shape), strides_(strides), index_(shape.size(), 0) {
    for (size_t d = shape.size(); d-- > 0 && start > 0;) {
      index_[d] = start % shape[d];
      start /= shape[d];
      for (size_t n = 0; n < N; ++n) offsets_[n] += index_[d] * strides_[n][d];
    }
  }

  int64_t offset(size_t n) const { return offsets_[n]; }
  const Dims& index() const { return index_; }

  void next() {
    for (size_t d = shape_.size(); d-- > 0;) {
      ++index_[d];
      if (index_[d] < shape_[d]) {
        for (size_t n = 0; n < N; ++n) offsets_[n] += strides_[n][d];
        return;
      }
      for (size_t n = 0; n < N; ++n) offsets_[n] -= (shape_[d] - 1) * strides_[n][d];
      index_[d] = 0;
    }
  }

 private:
  std::span<const int64_t> shape_;
  Strides strides_;
  std::array<int64_t, N> offsets_{};
  Dims index_;
};

/// The index at row-major number `position` of `shape`.
inline Dims index_at(std::span<const int64_t> shape, int64_t position) {
  Dims index(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0 && position > 0;) {
    index[d] = position % shape[d];
    position /= shape[d];
  }
  return index;
}

/// Steps `index` to its row-major successor; the last one becomes the first.
inline void step_index(Dims& index, std::span<const int64_t> shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return;
    index[d] = 0;
  }
}

inline bool contains(std::span<const int64_t> values, int64_t value) {
  for (int64_t v : values) {
    if (v == value) return true;
  }
  return false;
}

/// Indices a parallel_for range should hold so that it moves about 64 KiB.
inline int64_t grain_for_bytes(int64_t bytes_per_index) {
  constexpr int64_t kRangeBytes = 1 << 16;
  return bytes_per_index >= kRangeBytes ? 1
                                        : kRangeBytes / (bytes_per_index > 0 ? bytes_per_index : 1);
}

/// The pattern of region `i`, from whichever of `region_patterns` and `region_ops` is filled.
inline RegionPattern pattern_of(const KernelCall& call, size_t i) {
  if (i < call.region_patterns.size()) return call.region_patterns[i];
  RegionPattern pattern;
  if (i < call.region_ops.size() && call.region_ops[i] != hlo::OpKind::kReturn) {
    pattern.kind = RegionPattern::Kind::kBinary;
    pattern.op = call.region_ops[i];
  }
  return pattern;
}

inline int64_t elements(const ConstView& view) {
  return hlo::num_elements(view.shape);
}
inline int64_t elements(const View& view) {
  return hlo::num_elements(view.shape);
}

}  // namespace tpu::compiler::kernels
