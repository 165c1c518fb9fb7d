// A point in a queue's work that hosts and other queues can wait for.
#pragma once

#include <cstdint>
#include <memory>

namespace tpu::runtime {

class Queue;

/// Copies share the state. An event that was never recorded counts as complete.
class Event {
 public:
  Event();

  bool query() const;        ///< true once complete
  void synchronize() const;  ///< blocks the calling thread until complete
  /// Host time at completion, in nanoseconds of the steady clock. Requires `query()`.
  int64_t host_time() const;
  /// Simulated time at completion, in picoseconds.
  int64_t simulated_time() const;

 private:
  friend class Queue;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tpu::runtime
