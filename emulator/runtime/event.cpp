#include "emulator/runtime/event.h"

#include <mutex>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/base/fork.h"
#include "emulator/runtime/completion.h"

namespace tpu::runtime {

struct Event::State {
  std::mutex mutex;
  std::shared_ptr<Completion> latest;
};

Event::Event() : state_(std::make_shared<State>()) {}

std::shared_ptr<Completion> Event::latest() const {
  std::lock_guard lock(state_->mutex);
  return state_->latest;
}

void Event::start(std::shared_ptr<Completion> recording) {
  std::lock_guard lock(state_->mutex);
  state_->latest = std::move(recording);
}

std::shared_ptr<Completion> Event::completed() const {
  std::shared_ptr<Completion> recording = latest();
  if (!recording || !recording->done()) {
    throw InvalidArgument(recording ? "the event is not complete yet; synchronize with it first"
                                    : "the event was not recorded; record it on a queue first");
  }
  return recording;
}

bool Event::query() const {
  const auto recording = latest();
  return !recording || recording->done();
}

void Event::synchronize() const {
  const auto recording = latest();
  if (!recording || recording->done()) return;
  check_not_forked();
  recording->wait();
}

bool Event::was_recorded() const {
  return latest() != nullptr;
}
int64_t Event::host_time() const {
  return completed()->host_time();
}
int64_t Event::simulated_time() const {
  return completed()->simulated_time();
}

}  // namespace tpu::runtime
