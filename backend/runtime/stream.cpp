#include "backend/runtime/stream.h"

#include <c10/util/Exception.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace torch_tpu::runtime {
namespace {

// Null stands for the default queue.
thread_local tpu::runtime::Queue* current = nullptr;

// A queue is a thread: a few suffice to overlap transfers with compute.
constexpr size_t kPoolSize = 8;

struct Pool {
  std::mutex mutex;
  std::array<tpu::runtime::Queue*, kPoolSize> queues{};
  size_t next = 0;
};

Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

tpu::runtime::Queue& current_queue() {
  return current != nullptr ? *current : chip().default_queue();
}

tpu::runtime::Queue& queue_of(const c10::Stream& stream) {
  TORCH_CHECK(stream.device_type() == kDeviceType, "expected a stream of the TPU, got one of ",
              stream.device());
  return translating(
      [&]() -> tpu::runtime::Queue& { return chip().queue(static_cast<uint32_t>(stream.id())); });
}

c10::Stream stream_of(const tpu::runtime::Queue& queue) {
  return c10::Stream(c10::Stream::UNSAFE, device(), static_cast<c10::StreamId>(queue.id()));
}

c10::Stream default_stream() {
  return c10::Stream(c10::Stream::DEFAULT, device());
}
c10::Stream current_stream() {
  return current != nullptr ? stream_of(*current) : default_stream();
}

c10::Stream exchange_stream(const c10::Stream& stream) {
  const c10::Stream before = current_stream();
  current = stream.id() == 0 ? nullptr : &queue_of(stream);
  return before;
}

c10::Stream stream_from_pool() {
  Pool& streams = pool();
  std::lock_guard lock(streams.mutex);
  const size_t index = streams.next++ % kPoolSize;
  tpu::runtime::Queue*& queue = streams.queues[index];
  if (queue == nullptr) {
    queue =
        translating([&] { return &chip().create_queue("stream " + std::to_string(index + 1)); });
  }
  return stream_of(*queue);
}

}  // namespace torch_tpu::runtime
