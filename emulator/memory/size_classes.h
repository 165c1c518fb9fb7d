// The sizes that small allocations are rounded up to.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tpu::memory {

/// Multiples of 512 up to 4 KiB, then eight steps to each doubling, up to 256 KiB.
struct SizeClasses {
  static constexpr int64_t kGranule = 512;
  static constexpr int64_t kLargest = 256 * 1024;
  static constexpr int kCount = 8 + 6 * 8;

  /// The class of a request of 1 .. kLargest bytes.
  static int of(int64_t bytes) {
    const auto granules = static_cast<uint64_t>((bytes + kGranule - 1) / kGranule);
    if (granules <= 8) return static_cast<int>(granules) - 1;
    // Of (2^k, 2^(k+1)] granules, k >= 3, in eight steps of 2^(k-3).
    const int log = std::bit_width(granules - 1) - 1;
    return (log - 2) * 8 + static_cast<int>(((granules - 1) >> (log - 3)) & 7);
  }
  static int64_t bytes(int size_class) {
    if (size_class < 8) return (size_class + 1) * kGranule;
    const int log = size_class / 8 + 2;
    return ((int64_t{8} + size_class % 8 + 1) << (log - 3)) * kGranule;
  }
  /// Bytes of the slab that blocks of the class are cut from: 32 blocks, within limits.
  static int64_t slab_bytes(int size_class) {
    const int64_t wanted = (bytes(size_class) * 32 + 65535) / 65536 * 65536;
    return std::min<int64_t>(wanted, 2 << 20);
  }
};

}  // namespace tpu::memory
