#include "testing/runtime/stream.h"

#include <algorithm>
#include <vector>

#include "testing/faults/fault.h"
#include "testing/runtime/memory.h"

namespace mock {
namespace {

// All streams that were ever made; the first is the default one.
class Streams {
 public:
  Streams() { streams_.push_back(std::make_shared<Stream>()); }

  c10::StreamId add() {
    std::lock_guard lock(mutex_);
    streams_.push_back(std::make_shared<Stream>());
    return static_cast<c10::StreamId>(streams_.size()) - 1;
  }
  std::shared_ptr<Stream> get(c10::StreamId id) {
    std::lock_guard lock(mutex_);
    return streams_.at(static_cast<size_t>(id));
  }
  std::vector<std::shared_ptr<Stream>> all() {
    std::lock_guard lock(mutex_);
    return streams_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Stream>> streams_;
};

Streams& streams() {
  static auto* instance = new Streams;
  return *instance;
}

thread_local c10::StreamId current_id = 0;

c10::Stream unpacked(c10::StreamId id) {
  return c10::Stream(c10::Stream::UNSAFE, device(), id);
}

}  // namespace

void Stream::defer(Task task) {
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  ++deferred_;
  if (is_on("stream.tasks.reversed") && tasks_.size() > 1) {
    std::swap(tasks_.back(), tasks_[tasks_.size() - 2]);
  }
}

void Stream::run_until(uint64_t count) {
  std::lock_guard lock(mutex_);
  while (done_ < count && !tasks_.empty()) {
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    ++done_;
    task();
  }
}

void Stream::run_all() {
  run_until(deferred());
}

bool Stream::idle() {
  std::lock_guard lock(mutex_);
  return tasks_.empty();
}

uint64_t Stream::deferred() {
  std::lock_guard lock(mutex_);
  return deferred_;
}

c10::Stream current_stream() {
  return unpacked(current_id);
}

c10::Stream exchange_stream(c10::Stream stream) {
  if (is_on("stream.current.stays")) return current_stream();
  return unpacked(std::exchange(current_id, stream.id()));
}

c10::Stream new_stream() {
  return unpacked(is_on("stream.new.default") ? 0 : streams().add());
}

std::shared_ptr<Stream> stream_of(const c10::Stream& stream) {
  return streams().get(stream.id());
}

Stream& current() {
  return *streams().get(current_id);
}

bool on_side_stream() {
  return current_id != 0;
}

void synchronize() {
  if (is_on("device.synchronize.ignored")) return;
  for (const auto& stream : streams().all()) {
    stream->run_all();
    if (is_on("device.synchronize.default_only")) return;
  }
}

}  // namespace mock
