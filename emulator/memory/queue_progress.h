// What the allocator must know of queues, so that memory need not depend on the runtime.
#pragma once

#include <cstdint>

namespace tpu::memory {

/// Identifies a queue to the allocator: memory freed while a queue still has work that may touch
/// it is only handed out again to that same queue, in whose order reuse is safe.
using QueueId = uint32_t;

/// Implemented by the owner of the queues. All functions may be called from any thread.
class QueueProgress {
 public:
  virtual ~QueueProgress() = default;
  /// Number of tasks ever enqueued.
  virtual uint64_t submitted(QueueId queue) const = 0;
  /// True if the first `count` tasks are done.
  virtual bool has_passed(QueueId queue, uint64_t count) const = 0;
  /// Blocks until `has_passed`. Keeps errors for the queue's own synchronisation.
  virtual void wait(QueueId queue, uint64_t count) const = 0;
};

}  // namespace tpu::memory
