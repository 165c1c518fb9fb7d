// One recording of an event: set once, by the task that was enqueued for it.
#pragma once

#include <atomic>
#include <cstdint>

namespace tpu::runtime {

/// A fresh one for each recording, so that whoever waits for a recording sees its time even if
/// the event is recorded again meanwhile: simulated time must not depend on the host's timing.
class Completion {
 public:
  void set(int64_t host_nanoseconds, int64_t simulated_picoseconds) {
    host_time_ = host_nanoseconds;
    simulated_time_ = simulated_picoseconds;
    done_.store(1, std::memory_order_release);
    done_.notify_all();
  }
  bool done() const { return done_.load(std::memory_order_acquire) != 0; }
  void wait() const { done_.wait(0, std::memory_order_acquire); }

  // Require done().
  int64_t host_time() const { return host_time_; }
  int64_t simulated_time() const { return simulated_time_; }

 private:
  std::atomic<uint32_t> done_{0};
  int64_t host_time_ = 0;
  int64_t simulated_time_ = 0;
};

}  // namespace tpu::runtime
