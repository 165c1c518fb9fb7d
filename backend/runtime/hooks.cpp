// The hooks through which PyTorch's generic code reaches this device.
#include <ATen/detail/PrivateUse1HooksInterface.h>

#include <algorithm>
#include <cstring>

#include "backend/runtime/device.h"
#include "backend/runtime/generator.h"
#include "backend/runtime/host_allocator.h"

namespace torch_tpu::runtime {
namespace {

void check_index(c10::DeviceIndex index) {
  TORCH_CHECK_VALUE(index <= 0, "this process has one TPU, number 0; got ",
                    static_cast<int>(index));
}

class TpuHooks final : public at::PrivateUse1HooksInterface {
 public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return is_initialized(); }
  void init() const override { chip(); }

  c10::DeviceIndex deviceCount() const override { return 1; }
  void setCurrentDevice(c10::DeviceIndex index) const override { check_index(index); }
  c10::DeviceIndex getCurrentDevice() const override { return 0; }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
    check_index(index);
    return 0;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    check_index(index);
    return 0;
  }

  c10::Allocator* getPinnedMemoryAllocator() const override { return &host_allocator(); }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  c10::Device getDeviceFromPtr(void* data) const override {
    TORCH_CHECK(is_initialized() && chip().hbm().contains(data),
                "the pointer is not memory of the TPU");
    return device();
  }

  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    check_index(index);
    return default_generator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    check_index(index);
    return make_generator();
  }

  // Storage.resize_: the old block is freed in queue order, after the copy that is enqueued here.
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t bytes) const override {
    TORCH_CHECK(storage.resizable(), "Trying to resize storage that is not resizable");
    c10::DataPtr resized = allocate(bytes, {});
    if (const size_t kept = std::min(bytes, storage.nbytes()); kept > 0) {
      translating([&] {
        current_queue().enqueue([to = resized.get(), from = storage.data(), kept]() noexcept {
          std::memcpy(to, from, kept);
        });
      });
    }
    storage.set_data_ptr_noswap(std::move(resized));
    storage.set_nbytes(bytes);
  }
};

const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(new TpuHooks);
  return true;
}();

}  // namespace
}  // namespace torch_tpu::runtime
