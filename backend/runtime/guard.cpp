// The device guard: devices, streams and events as PyTorch's generic code wants them.
#include <c10/core/DeviceCapability.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <memory>

#include "backend/runtime/stream.h"
#include "emulator/runtime/event.h"

namespace torch_tpu::runtime {
namespace {

// What PyTorch holds by a void pointer.
struct TpuEvent {
  tpu::runtime::Event event;
  bool timed;
};

TpuEvent& event_of(void* opaque) {
  return *static_cast<TpuEvent*>(opaque);
}

void check_index(c10::Device wanted) {
  TORCH_CHECK_VALUE(wanted.type() == kDeviceType, "expected a TPU device, got ", wanted);
  TORCH_CHECK_VALUE(wanted.index() <= 0, "this process has one TPU, tpu:0; got ", wanted,
                    ". Use one process for each device (torchrun, or the spawn start method)");
}

// Bits of the dtypes that tensors on the device can have.
c10::DeviceCapability supported_dtypes() {
  constexpr c10::ScalarType kSupported[] = {
      c10::kBool,           c10::kByte,         c10::kChar,
      c10::kShort,          c10::kInt,          c10::kLong,
      c10::kUInt16,         c10::kUInt32,       c10::kUInt64,
      c10::kHalf,           c10::kBFloat16,     c10::kFloat,
      c10::kDouble,         c10::kComplexFloat, c10::kComplexDouble,
      c10::kFloat8_e4m3fn,  c10::kFloat8_e5m2,  c10::kFloat8_e4m3fnuz,
      c10::kFloat8_e5m2fnuz};
  c10::DeviceCapability capability;
  auto& bits = capability.capability_data.capability_bits;
  bits = 0;
  for (c10::ScalarType dtype : kSupported) bits |= uint64_t{1} << static_cast<int>(dtype);
  return capability;
}

class TpuGuard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDeviceType; }

  // One process has one device, always number 0.
  c10::Device exchangeDevice(c10::Device wanted) const override {
    check_index(wanted);
    return device();
  }
  c10::Device getDevice() const override { return device(); }
  void setDevice(c10::Device wanted) const override { check_index(wanted); }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::DeviceCapability getDeviceCapability(c10::Device) const override {
    return supported_dtypes();
  }
  void synchronizeDevice(c10::DeviceIndex) const override {
    if (is_initialized() || in_bad_fork()) synchronize_device();
  }

  c10::Stream getStream(c10::Device) const override { return current_stream(); }
  c10::Stream getDefaultStream(c10::Device) const override { return default_stream(); }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override {
    return stream_from_pool();
  }
  c10::Stream getNewStream(c10::Device, int) const override { return stream_from_pool(); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  void* getStreamNativeHandle(const c10::Stream stream) const override { return &queue_of(stream); }
  bool queryStream(const c10::Stream& stream) const override { return queue_of(stream).idle(); }
  void synchronizeStream(const c10::Stream& stream) const override {
    translating([&] { queue_of(stream).synchronize(); });
  }
  void recordDataPtrOnStream(const c10::DataPtr& pointer,
                             const c10::Stream& stream) const override {
    if (pointer.get() == nullptr) return;
    translating([&] {
      chip().hbm().record_queue(static_cast<std::byte*>(pointer.get()), queue_of(stream).id());
    });
  }

  void record(void** opaque, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag flag) const override {
    if (*opaque == nullptr) {
      *opaque = new TpuEvent{{}, flag == c10::EventFlag::BACKEND_DEFAULT};
    }
    translating([&] { queue_of(stream).record(event_of(*opaque).event); });
  }
  void block(void* opaque, const c10::Stream& stream) const override {
    if (opaque == nullptr) return;
    translating([&] { queue_of(stream).wait(event_of(opaque).event); });
  }
  bool queryEvent(void* opaque) const override {
    return opaque == nullptr || event_of(opaque).event.query();
  }
  void synchronizeEvent(void* opaque) const override {
    if (opaque == nullptr) return;
    translating([&] { event_of(opaque).event.synchronize(); });
  }
  void destroyEvent(void* opaque, const c10::DeviceIndex) const noexcept override {
    delete static_cast<TpuEvent*>(opaque);
  }
  // Milliseconds of the host's clock, as on the real device; the simulated clock is read through
  // torch.tpu.emulator.
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK_VALUE(start != nullptr && end != nullptr,
                      "both events must be recorded before their elapsed time is taken");
    const TpuEvent& from = event_of(start);
    const TpuEvent& to = event_of(end);
    TORCH_CHECK_VALUE(from.timed && to.timed, "both events need enable_timing=True");
    TORCH_CHECK(from.event.query() && to.event.query(),
                "both events must be complete before their elapsed time is taken; synchronize");
    return static_cast<double>(to.event.host_time() - from.event.host_time()) * 1e-6;
  }
};

const c10::impl::DeviceGuardImplRegistrar registrar(kDeviceType, new TpuGuard);

}  // namespace
}  // namespace torch_tpu::runtime
