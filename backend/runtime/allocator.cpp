// PyTorch's allocator of the device, on the emulated HBM.
#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <cstring>
#include <exception>

#include "backend/runtime/device.h"
#include "backend/runtime/stream.h"

namespace torch_tpu::runtime {
namespace {

void free_memory(void* address) {
  if (address == nullptr || in_bad_fork()) return;
  try {
    chip().hbm().deallocate(static_cast<std::byte*>(address));
  } catch (const std::exception& error) {
    // A deleter must not throw; a freed-twice report is worth more than a crash.
    TORCH_WARN("freeing TPU memory failed: ", error.what());
  }
}

using StatArray = c10::CachingAllocator::StatArray;
using c10::CachingAllocator::StatType;

void fill(StatArray& stat, int64_t current, int64_t peak, int64_t total) {
  auto& aggregate = stat[static_cast<size_t>(StatType::AGGREGATE)];
  aggregate.current = current;
  aggregate.peak = peak;
  aggregate.allocated = total;
  aggregate.freed = total - current;
}

class TpuAllocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override { return runtime::allocate(bytes, {}); }
  c10::DeleterFnPtr raw_deleter() const override { return free_memory; }

  void copy_data(void* to, const void* from, size_t bytes) const override {
    synchronize_current_queue();
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return is_initialized(); }

  void emptyCache(c10::MempoolId_t) override {
    if (!is_initialized()) return;
    translating([] { chip().hbm().empty_cache(); });
  }

  void recordStream(const c10::DataPtr& pointer, c10::Stream stream) override {
    if (pointer.get() == nullptr) return;
    translating([&] {
      chip().hbm().record_queue(static_cast<std::byte*>(pointer.get()), queue_of(stream).id());
    });
  }

  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    const tpu::memory::AllocatorStats stats = chip().hbm().stats();
    c10::CachingDeviceAllocator::DeviceStats out;
    fill(out.allocation, stats.active_blocks, stats.active_blocks_peak, stats.num_allocations);
    fill(out.active, stats.active_blocks, stats.active_blocks_peak, stats.num_allocations);
    fill(out.allocated_bytes, stats.allocated, stats.allocated_peak, stats.allocated_total);
    fill(out.active_bytes, stats.allocated, stats.allocated_peak, stats.allocated_total);
    fill(out.requested_bytes, stats.requested, stats.requested_peak, stats.requested_total);
    fill(out.reserved_bytes, stats.reserved, stats.reserved_peak, stats.reserved);
    out.num_ooms = stats.num_ooms;
    out.num_device_alloc = stats.num_allocations - stats.num_cache_hits;
    return out;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override { chip().hbm().reset_accumulated_stats(); }
  void resetPeakStats(c10::DeviceIndex) override { chip().hbm().reset_peak_stats(); }

  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override {
    const auto& hbm = chip().hbm();
    const int64_t capacity = hbm.capacity();
    return {static_cast<size_t>(capacity - hbm.stats().allocated), static_cast<size_t>(capacity)};
  }
};

TpuAllocator& allocator() {
  static auto* instance = new TpuAllocator;
  return *instance;
}

const bool registered = [] {
  c10::SetAllocator(kDeviceType, &allocator());
  return true;
}();

}  // namespace

c10::DataPtr allocate(size_t bytes, const tpu::memory::AllocationShape& shape) {
  std::byte* address = nullptr;
  try {
    address = chip().hbm().allocate(bytes, shape, current_queue().id());
  } catch (...) {
    rethrow_as_torch();
  }
  return {address, address, free_memory, device()};
}

}  // namespace torch_tpu::runtime
