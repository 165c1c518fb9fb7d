// A chip's work queue: tasks run in order on a thread of the queue's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "emulator/runtime/event.h"

namespace tpu::compiler {
class Scratch;
}

namespace tpu::runtime {

/// Where in the user's program work was issued: `train.py:12 in step`. Empty if unknown.
struct SourceLocation {
  std::string text;
};

/// A move-only callable stored in place. Enqueueing one allocates nothing, which is what keeps an
/// eager op's host cost below a microsecond; a callable that does not fit fails to compile.
class Task {
 public:
  static constexpr size_t kCapacity = 232;

  Task() = default;
  template <class F>
    requires(!std::is_same_v<std::decay_t<F>, Task>)
  Task(F&& callable) {  // NOLINT: implicit on purpose, like std::function
    using Callable = std::decay_t<F>;
    static_assert(sizeof(Callable) <= kCapacity, "captures too much; move it behind a pointer");
    static_assert(std::is_nothrow_move_constructible_v<Callable>);
    new (storage_) Callable(std::forward<F>(callable));
    invoke_ = [](void* self) { (*static_cast<Callable*>(self))(); };
    relocate_ = [](void* from, void* to) noexcept {
      if (to) new (to) Callable(std::move(*static_cast<Callable*>(from)));
      static_cast<Callable*>(from)->~Callable();
    };
  }
  Task(Task&& other) noexcept { take(other); }
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~Task() { reset(); }

  void operator()() { invoke_(storage_); }
  explicit operator bool() const { return invoke_ != nullptr; }
  void reset() noexcept {
    if (invoke_) relocate_(storage_, nullptr);
    invoke_ = nullptr;
  }

 private:
  void take(Task& other) noexcept {
    invoke_ = other.invoke_;
    relocate_ = other.relocate_;
    if (invoke_) relocate_(other.storage_, storage_);
    other.invoke_ = nullptr;
  }

  // The pointers come first, so that a task with little state touches one cache line.
  void (*invoke_)(void*) = nullptr;
  void (*relocate_)(void*, void*) noexcept = nullptr;
  alignas(std::max_align_t) std::byte storage_[kCapacity];
};

/// In-order, asynchronous. `enqueue` may be called from several threads; work of one thread keeps
/// its order. In a forked child, where the thread does not exist, every call that would need it
/// throws Error.
class Queue {
 public:
  explicit Queue(uint32_t id, std::string name);
  /// Runs what is left, then joins the thread. Pending errors are dropped.
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  uint32_t id() const;
  const std::string& name() const;

  /// Appends a task; blocks only while the ring is full. An exception the task throws is kept,
  /// with `location`, until the next synchronisation; later tasks still run. A task may enqueue
  /// on its own queue, but if the ring is full, where waiting would never end, that throws Error.
  void enqueue(Task task);
  void enqueue(Task task, SourceLocation location);

  /// Waits until all work enqueued before the call is done, then throws the first kept error and
  /// forgets all. Errors of the emulator keep their type; any other exception becomes a
  /// DeviceError. The text ends in the location. Must not be called by a task of this queue.
  void synchronize();
  /// As `synchronize`, but leaves errors for later.
  void wait_idle();
  /// Blocks until the first `count` tasks are done. Leaves errors for later.
  void wait_for(uint64_t count);
  /// True if all enqueued work is done.
  bool idle() const;
  /// Number of tasks enqueued so far, and of tasks done. `completed() >= n` means the first n are.
  uint64_t submitted() const;
  uint64_t completed() const;

  /// The event completes when all work enqueued before it is done.
  void record(Event& event);
  /// Later work on this queue waits for the event.
  void wait(const Event& event);

  /// Simulated time at the end of the work done so far, in picoseconds. Zero without a cost model.
  int64_t simulated_time() const;
  /// Called by a task while it runs: it took this long on the simulated chip.
  void advance_simulated_time(int64_t picoseconds);
  /// For a task while it runs: memory for its temporaries.
  compiler::Scratch& scratch();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tpu::runtime
