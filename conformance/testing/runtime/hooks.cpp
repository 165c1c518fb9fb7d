// The hooks through which PyTorch's generic code reaches the mock device, and its pinned memory.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "testing/faults/fault.h"
#include "testing/runtime/generator.h"
#include "testing/runtime/memory.h"
#include "testing/runtime/stream.h"

namespace mock {
namespace {

// Which host blocks were asked for as pinned.
class PinnedMemory final : public at::HostAllocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    auto* address = static_cast<std::byte*>(std::malloc(std::max<size_t>(bytes, 1)));
    TORCH_CHECK_WITH(OutOfMemoryError, address != nullptr, "no room for ", bytes, " bytes");
    std::lock_guard lock(mutex_);
    blocks_[address] = bytes;
    return {address, address, release, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return release; }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override {}
  at::HostStats get_stats() override { return {}; }
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}

  bool contains(const void* address) {
    auto* byte = static_cast<std::byte*>(const_cast<void*>(address));
    std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(byte);
    return after != blocks_.begin() && byte < std::prev(after)->first + std::prev(after)->second;
  }

 private:
  static void release(void* address);

  std::mutex mutex_;
  std::map<std::byte*, size_t> blocks_;
};

PinnedMemory& pinned_memory() {
  static auto* instance = new PinnedMemory;
  return *instance;
}

void PinnedMemory::release(void* address) {
  {
    std::lock_guard lock(pinned_memory().mutex_);
    pinned_memory().blocks_.erase(static_cast<std::byte*>(address));
  }
  std::free(address);
}

const at::HostAllocatorRegistry<kDeviceType> registry(&pinned_memory());

class Hooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void init() const override {}

  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex) const override {}
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex) const override { return 0; }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex) const override { return 0; }

  c10::Allocator* getPinnedMemoryAllocator() const override { return &pinned_memory(); }
  bool isPinnedPtr(const void* data) const override {
    return !is_on("memory.pinned.denied") && pinned_memory().contains(data);
  }
  c10::Device getDeviceFromPtr(void*) const override { return device(); }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex) const override {
    return default_generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override { return make_generator(); }

  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    c10::DataPtr resized = device_allocator()->allocate(bytes);
    const size_t kept = is_on("storage.resize.forgets") ? 0 : std::min(bytes, storage.nbytes());
    if (kept > 0) std::memcpy(resized.get(), storage.data(), kept);
    storage.set_data_ptr_noswap(std::move(resized));
    storage.set_nbytes(bytes);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  return true;
}();

}  // namespace
}  // namespace mock
