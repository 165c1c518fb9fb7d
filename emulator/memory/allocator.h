// The chip's HBM: one reserved address range, and a caching allocator over it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/hlo/types.h"
#include "emulator/memory/queue_progress.h"

namespace tpu::memory {

/// All in bytes. `allocated` counts what tensors hold, padded to the chip's tiles, as the real
/// chip would spend it; `requested` counts their logical bytes.
struct AllocatorStats {
  int64_t allocated = 0, allocated_peak = 0;
  int64_t requested = 0, requested_peak = 0;
  int64_t reserved = 0, reserved_peak = 0;  ///< `allocated`, and what is kept for reuse
  int64_t active_blocks = 0, active_blocks_peak = 0;
  /// Since the start or the last `reset_accumulated_stats`.
  int64_t num_allocations = 0, num_frees = 0, num_cache_hits = 0, num_ooms = 0;
  int64_t allocated_total = 0, requested_total = 0;  ///< sums over all allocations
};

/// What an allocation is for; decides its padded size and what an out-of-memory report says.
struct AllocationShape {
  hlo::ElementType element = hlo::ElementType::kUI8;
  hlo::Dims shape;  ///< empty with kUI8: plain bytes, tiled as one dimension
};

/// Caching: freed memory goes to free lists of its queue, from which a like request is served in
/// some tens of nanoseconds. May be used from any thread, except that a task of a queue must not
/// allocate: an allocation that finds no room waits for the queues.
class HbmAllocator {
 public:
  /// Reserves address space for `capacity` bytes; pages are committed when first touched.
  explicit HbmAllocator(int64_t capacity);
  ~HbmAllocator();

  /// 64-byte aligned. `bytes` 0 gives null. Throws OutOfMemory, whose text lists the padded sizes
  /// of the largest holders, if the padded total would pass the capacity even after the cache
  /// was emptied.
  std::byte* allocate(size_t bytes, const AllocationShape& shape, QueueId queue) {
    return allocate(bytes, shape.element, shape.shape, queue);
  }
  std::byte* allocate(size_t bytes, hlo::ElementType element, std::span<const int64_t> shape,
                      QueueId queue);
  /// May be called from any thread. Null is ignored. Throws InvalidArgument if the address is not
  /// the start of a live allocation (freed twice, or not from here). In a forked child it does
  /// nothing.
  void deallocate(std::byte* address);
  /// Work of `queue` may touch the block: it returns to the free lists only once `queue` has
  /// passed all work enqueued before the block is freed.
  void record_queue(std::byte* address, QueueId queue);
  /// Throws InvalidArgument, saying what lies there instead, unless all of [address, address +
  /// bytes) belongs to one live allocation. For checks: walks.
  void check_live(const void* address, size_t bytes) const;

  /// Without one (a test), queues count as having passed everything. Set before the first use.
  void set_queue_progress(const QueueProgress* progress);

  /// True if the address lies in this HBM.
  bool contains(const void* address) const;
  /// Gives the pages of cached blocks back to the host. Waits for the work enqueued so far, which
  /// may still touch them.
  void empty_cache();
  AllocatorStats stats() const;
  /// Peaks become the present values.
  void reset_peak_stats();
  /// The counts and sums of events become zero.
  void reset_accumulated_stats();
  int64_t capacity() const;
  /// Lowers the capacity (a share of the chip, or a test), or raises it again up to the one of
  /// construction. Throws InvalidArgument if it is outside, or below what is allocated.
  void set_capacity(int64_t capacity);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// `1.50 GiB`, `512 B`.
std::string format_bytes(int64_t bytes);

}  // namespace tpu::memory
