#include "emulator/runtime/chip.h"

#include <exception>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/base/fork.h"

namespace tpu::runtime {

Chip::Chip(ChipSpec spec) : spec_(std::move(spec)), hbm_(spec_.hbm_bytes) {
  queues_.push_back(std::make_unique<Queue>(0, spec_.name + ":default"));
  default_queue_ = queues_.front().get();
  hbm_.set_queue_progress(this);
}

// Tasks that are left may free memory, for which the allocator asks the queues: all of them finish
// before any goes.
Chip::~Chip() {
  if (!in_bad_fork()) {
    for (Queue* queue : all_queues()) queue->wait_idle();
  }
  hbm_.set_queue_progress(nullptr);
  queues_.clear();
}

Queue& Chip::create_queue(std::string name) {
  std::lock_guard lock(mutex_);
  const auto id = static_cast<uint32_t>(queues_.size());
  queues_.push_back(std::make_unique<Queue>(id, std::move(name)));
  return *queues_.back();
}

Queue& Chip::queue(uint32_t id) const {
  std::lock_guard lock(mutex_);
  if (id >= queues_.size()) {
    throw InvalidArgument("no queue with id " + std::to_string(id) + "; there are " +
                          std::to_string(queues_.size()));
  }
  return *queues_[id];
}

int Chip::num_queues() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(queues_.size());
}

std::vector<Queue*> Chip::all_queues() const {
  std::lock_guard lock(mutex_);
  std::vector<Queue*> all;
  for (const auto& queue : queues_) all.push_back(queue.get());
  return all;
}

void Chip::synchronize() {
  std::exception_ptr first;
  for (Queue* queue : all_queues()) {
    try {
      queue->synchronize();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void Chip::set_cost_model(std::shared_ptr<const CostModel> model) {
  std::lock_guard lock(mutex_);
  cost_model_.store(model.get(), std::memory_order_release);
  cost_models_.push_back(std::move(model));
}

// The allocator calls these for queues that memory was allocated for, tests with made-up ids too:
// a queue that does not exist has no work.
uint64_t Chip::submitted(memory::QueueId id) const {
  return id < static_cast<uint32_t>(num_queues()) ? queue(id).submitted() : 0;
}

bool Chip::has_passed(memory::QueueId id, uint64_t count) const {
  return count == 0 || queue(id).completed() >= count;
}

void Chip::wait(memory::QueueId id, uint64_t count) const {
  if (count > 0) queue(id).wait_for(count);
}

}  // namespace tpu::runtime
