#include "backend/runtime/host_allocator.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#include "backend/runtime/device.h"

namespace torch_tpu::runtime {
namespace {

// All host memory is within the emulator's reach, so pinning is book-keeping: which blocks the user
// asked for as pinned, for `is_pinned` and for copies that may be asynchronous. Such a copy holds
// the tensor, so a block is never freed under it and `record_event` has nothing to do.
class PinnedMemory final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, release, c10::Device(c10::DeviceType::CPU)};
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* address = std::aligned_alloc(kAlignment, rounded);
    TORCH_CHECK_WITH(OutOfMemoryError, address != nullptr, "the host has no room for ", bytes,
                     " bytes of pinned memory");
    std::lock_guard lock(mutex_);
    blocks_[static_cast<std::byte*>(address)] = bytes;
    stats_.active_requests.increase(1);
    stats_.active_bytes.increase(bytes);
    stats_.allocations.increase(1);
    stats_.allocated_bytes.increase(bytes);
    ++stats_.num_host_alloc;
    return {address, address, release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
  }

  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_accumulated_stats() override {
    std::lock_guard lock(mutex_);
    for (auto* stat : all_stats()) stat->reset_accumulated();
    stats_.num_host_alloc = stats_.num_host_free = 0;
  }
  void reset_peak_stats() override {
    std::lock_guard lock(mutex_);
    for (auto* stat : all_stats()) stat->reset_peak();
  }

  bool contains(const void* address) {
    const auto* byte = static_cast<const std::byte*>(address);
    std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(const_cast<std::byte*>(byte));
    if (after == blocks_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return byte < begin + bytes;
  }

 private:
  static constexpr size_t kAlignment = 64;

  static void release(void* address);
  void forget(std::byte* address) {
    std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    const size_t bytes = block->second;
    blocks_.erase(block);
    stats_.active_requests.decrease(1);
    stats_.active_bytes.decrease(bytes);
    stats_.allocations.decrease(1);
    stats_.allocated_bytes.decrease(bytes);
    ++stats_.num_host_free;
  }
  std::array<c10::CachingAllocator::Stat*, 4> all_stats() {
    return {&stats_.active_requests, &stats_.active_bytes, &stats_.allocations,
            &stats_.allocated_bytes};
  }

  std::mutex mutex_;
  std::map<std::byte*, size_t> blocks_;
  at::HostStats stats_;
};

PinnedMemory& memory() {
  static auto* instance = new PinnedMemory;
  return *instance;
}

void PinnedMemory::release(void* address) {
  if (address == nullptr) return;
  memory().forget(static_cast<std::byte*>(address));
  std::free(address);
}

const at::HostAllocatorRegistry<kDeviceType> registry(&memory());

}  // namespace

at::HostAllocator& host_allocator() {
  return memory();
}
bool is_pinned(const void* address) {
  return memory().contains(address);
}

}  // namespace torch_tpu::runtime
