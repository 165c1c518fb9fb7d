// The device guard: devices, streams and events as PyTorch's generic code wants them.
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <chrono>

#include "testing/faults/fault.h"
#include "testing/runtime/memory.h"
#include "testing/runtime/stream.h"

namespace mock {
namespace {

Event& event_of(void* opaque) {
  return *static_cast<Event*>(opaque);
}

int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
 public:
  c10::DeviceType type() const override { return kDeviceType; }

  c10::Device exchangeDevice(c10::Device wanted) const override {
    setDevice(wanted);
    return device();
  }
  c10::Device getDevice() const override { return device(); }
  void setDevice(c10::Device wanted) const override {
    TORCH_CHECK_VALUE(wanted.index() <= 0 || is_on("device.index.unchecked"),
                      "there is one mock device, number 0; got ", wanted);
  }
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  void synchronizeDevice(c10::DeviceIndex) const override { mock::synchronize(); }

  c10::Stream getStream(c10::Device) const override { return current_stream(); }
  c10::Stream getDefaultStream(c10::Device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device());
  }
  c10::Stream getStreamFromGlobalPool(c10::Device, bool) const override { return new_stream(); }
  c10::Stream getNewStream(c10::Device, int) const override { return new_stream(); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return exchange_stream(stream); }
  bool queryStream(const c10::Stream& stream) const override {
    return !is_on("stream.query.never") && stream_of(stream)->idle();
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    if (!is_on("stream.synchronize.ignored")) stream_of(stream)->run_all();
  }

  void record(void** opaque, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag flag) const override {
    if (*opaque == nullptr) *opaque = new Event;
    Event& event = event_of(*opaque);
    event.stream = stream_of(stream);
    event.count = is_on("event.record.too_early") ? 0 : event.stream->deferred();
    event.time = now();
    event.timed = flag == c10::EventFlag::BACKEND_DEFAULT;
  }
  // Waiting is working: what the event stands for is done before the stream goes on.
  void block(void* opaque, const c10::Stream&) const override {
    if (opaque == nullptr || is_on("stream.wait_event.ignored")) return;
    event_of(opaque).stream->run_until(event_of(opaque).count);
  }
  bool queryEvent(void* opaque) const override {
    if (opaque == nullptr) return true;
    return !is_on("event.query.never") && event_of(opaque).stream->idle();
  }
  void synchronizeEvent(void* opaque) const override {
    if (opaque == nullptr || is_on("event.synchronize.ignored")) return;
    event_of(opaque).stream->run_until(event_of(opaque).count);
  }
  void destroyEvent(void* opaque, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(opaque);
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK_VALUE(start != nullptr && end != nullptr && event_of(start).timed,
                      "both events must be recorded with enable_timing=True");
    const double elapsed = 1e-6 * static_cast<double>(event_of(end).time - event_of(start).time);
    return is_on("event.elapsed.negative") ? -elapsed : elapsed;
  }
};

const c10::impl::DeviceGuardImplRegistrar registrar(kDeviceType, new Guard);

}  // namespace
}  // namespace mock
