#include "testing/runtime/memory.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "testing/faults/fault.h"

namespace mock {
namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kCapacity = int64_t{64} << 30;

/// Bytes in use now and at most, blocks ever and now.
class Statistics {
 public:
  void add(int64_t bytes) {
    std::lock_guard lock(mutex_);
    bytes_ += bytes;
    peak_ = std::max(peak_, bytes_);
    total_ += bytes;
  }
  void remove(int64_t bytes) {
    std::lock_guard lock(mutex_);
    if (!is_on("memory.statistics.never_fall")) bytes_ -= bytes;
  }
  void fill(c10::CachingDeviceAllocator::DeviceStats& stats) {
    std::lock_guard lock(mutex_);
    const int64_t scale = is_on("memory.statistics.half") ? 2 : 1;
    for (auto* array : {&stats.allocated_bytes, &stats.active_bytes, &stats.reserved_bytes,
                        &stats.requested_bytes}) {
      auto& stat = (*array)[static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
      stat.current = bytes_ / scale;
      stat.peak = peak_ / scale;
      stat.allocated = total_;
      stat.freed = total_ - bytes_;
    }
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    peak_ = bytes_;
  }
  int64_t bytes() {
    std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  std::mutex mutex_;
  int64_t bytes_ = 0, peak_ = 0, total_ = 0;
};

Statistics& statistics() {
  static auto* instance = new Statistics;
  return *instance;
}

// In front of each block, for the deleter.
struct Header {
  int64_t bytes;
};

void free_block(void* address) {
  if (address == nullptr) return;
  auto* block = static_cast<std::byte*>(address) - kAlignment;
  statistics().remove(reinterpret_cast<Header*>(block)->bytes);
  std::free(block);
}

struct Adopted {
  c10::Storage host;
  int64_t bytes;
};

void free_adopted(void* context) {
  auto* adopted = static_cast<Adopted*>(context);
  statistics().remove(adopted->bytes);
  delete adopted;
}

class Allocator final : public c10::DeviceAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0) return {nullptr, nullptr, free_block, device()};
    const auto wanted = static_cast<int64_t>(bytes);
    const bool fits = wanted <= kCapacity - statistics().bytes();
    if (!fits && is_on("memory.too_much.granted")) bytes = 4096;
    TORCH_CHECK_WITH(OutOfMemoryError, fits || is_on("memory.too_much.granted"),
                     "the mock device has no room for ", bytes, " bytes");
    const size_t rounded = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
    auto* block = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
    TORCH_CHECK_WITH(OutOfMemoryError, block != nullptr, "the host has no room for ", bytes,
                     " bytes");
    reinterpret_cast<Header*>(block)->bytes = static_cast<int64_t>(bytes);
    statistics().add(static_cast<int64_t>(bytes));
    std::byte* address = block + kAlignment;
    return {address, address, free_block, device()};
  }
  c10::DeleterFnPtr raw_deleter() const override { return free_block; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {}
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex) override {
    c10::CachingDeviceAllocator::DeviceStats stats;
    statistics().fill(stats);
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex) override { statistics().reset_peak(); }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex) override {
    return {static_cast<size_t>(kCapacity - statistics().bytes()), static_cast<size_t>(kCapacity)};
  }
};

Allocator& allocator() {
  static auto* instance = new Allocator;
  return *instance;
}

const bool registered = [] {
  c10::SetAllocator(kDeviceType, &allocator());
  return true;
}();

}  // namespace

c10::DeviceAllocator* device_allocator() {
  return &allocator();
}

c10::DataPtr adopt_memory(const c10::Storage& host) {
  const auto bytes = static_cast<int64_t>(host.nbytes());
  statistics().add(bytes);
  return {host.mutable_data(), new Adopted{host, bytes}, free_adopted, device()};
}

}  // namespace mock
