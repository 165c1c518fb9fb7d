// Which elements count as true: those that are not zero, whatever their type.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

/// The true elements of an array, in row-major order. -0 is false, NaN is true; a complex number
/// is true if either part is.
class TrueElements {
 public:
  /// Counts them, on all threads. `view` must outlive this object.
  explicit TrueElements(const ConstView& view);

  int64_t count() const { return first_.back(); }
  /// Throws DeviceError unless there are `expected`.
  void require_count(int64_t expected, std::string_view op) const;

  /// Calls `visit(positions, rank)` for runs of true elements, on all threads: their row-major
  /// positions, and how many true elements come before the first of them.
  void for_each_run(
      const std::function<void(std::span<const int64_t> positions, int64_t rank)>& visit) const;

 private:
  static constexpr int64_t kChunk = 1 << 14;

  std::vector<int64_t> positions_of(int64_t chunk) const;

  const ConstView& view_;
  int64_t elements_;
  std::vector<int64_t> first_;  // true elements before each chunk; at the end, all
};

}  // namespace tpu::compiler::kernels
