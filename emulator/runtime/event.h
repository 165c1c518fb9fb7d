// A point in a queue's work that hosts and other queues can wait for.
#pragma once

#include <cstdint>
#include <memory>

namespace tpu::runtime {

class Completion;
class Queue;

/// Copies share the state. An event that was never recorded counts as complete; recording it
/// again starts it anew.
class Event {
 public:
  Event();

  bool query() const;        ///< true once complete
  void synchronize() const;  ///< blocks the calling thread until complete
  bool was_recorded() const;
  /// Host time at completion, in nanoseconds of the steady clock. Throws InvalidArgument unless
  /// the event was recorded and is complete.
  int64_t host_time() const;
  /// Simulated time at completion, in picoseconds; as `host_time`.
  int64_t simulated_time() const;

 private:
  friend class Queue;
  std::shared_ptr<Completion> latest() const;
  std::shared_ptr<Completion> completed() const;
  void start(std::shared_ptr<Completion> recording);

  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace tpu::runtime
