// The chip's HBM: one reserved address range, and a caching allocator over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulator/hlo/types.h"

namespace tpu::memory {

/// Identifies a queue to the allocator: memory freed while a queue still has work that may touch
/// it is only handed out again to that same queue, in whose order reuse is safe.
using QueueId = uint32_t;

/// All in bytes. `allocated` counts what tensors hold, padded to the chip's tiles, as the real
/// chip would spend it; `requested` counts their logical bytes.
struct AllocatorStats {
  int64_t allocated = 0, allocated_peak = 0;
  int64_t requested = 0, requested_peak = 0;
  int64_t reserved = 0, reserved_peak = 0;  ///< held from the range, cached blocks included
  int64_t active_blocks = 0;
  int64_t num_allocations = 0, num_frees = 0, num_cache_hits = 0, num_ooms = 0;
};

/// What an allocation is for; decides its padded size and what an out-of-memory report says.
struct AllocationShape {
  hlo::ElementType element = hlo::ElementType::kUI8;
  hlo::Dims shape;  ///< empty with kUI8: plain bytes, tiled as one dimension
};

class HbmAllocator {
 public:
  /// Reserves `capacity` bytes of address space; pages are committed when first touched.
  /// `tile_rows` x `tile_lanes` words of 32 bits is the chip's tile (8 x 128).
  explicit HbmAllocator(int64_t capacity);
  ~HbmAllocator();

  /// 64-byte aligned. `bytes` 0 gives null. Throws OutOfMemory, whose text lists the padded sizes
  /// of the largest holders, if the padded total would pass the capacity even after the cache
  /// was emptied.
  std::byte* allocate(size_t bytes, const AllocationShape& shape, QueueId queue);
  /// May be called from any thread.
  void deallocate(std::byte* address);
  /// Work of `queue` may touch the block: it returns to the free lists only once `queue` has
  /// passed all work enqueued before the block is freed.
  void record_queue(std::byte* address, QueueId queue);

  /// True if the address lies in this HBM.
  bool contains(const void* address) const;
  /// Gives the pages of cached blocks back to the host.
  void empty_cache();
  AllocatorStats stats() const;
  void reset_peak_stats();
  int64_t capacity() const;
  /// Lowers the capacity (a share of the chip, or a test). Not below what is allocated.
  void set_capacity(int64_t capacity);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tpu::memory
