#include "emulator/runtime/queue.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <semaphore>
#include <thread>

#include "emulator/base/error.h"
#include "emulator/base/fork.h"
#include "emulator/base/seeded_fault.h"
#include "emulator/base/spin_lock.h"
#include "emulator/compiler/executable.h"
#include "emulator/runtime/asymmetric_fence.h"
#include "emulator/runtime/completion.h"

namespace tpu::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// 1024 slots of some 300 bytes stay in a core's second-level cache.
constexpr uint64_t kSlots = 1024;
// How long a thread polls before it sleeps: longer than a small op's host cost, so that the worker
// stays awake in a loop of them; short, as hosts with two cores need them both.
constexpr auto kSpin = std::chrono::microseconds(20);
constexpr uint64_t kNothing = std::numeric_limits<uint64_t>::max();

int64_t host_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

// Polls `ready` for about kSpin. True if it became so.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (Clock::now() < end);
  return ready();
}

// Rethrows the exception with the location appended to its text.
[[noreturn]] void rethrow_with(std::exception_ptr exception, const std::string& location) {
  const auto text = [&](const std::exception& e) {
    return location.empty() ? std::string(e.what()) : std::string(e.what()) + "\n  at " + location;
  };
  try {
    std::rethrow_exception(std::move(exception));
  } catch (const IndexFault& e) {
    throw IndexFault(text(e));
  } catch (const DeviceError& e) {
    throw DeviceError(text(e));
  } catch (const OutOfMemory& e) {
    throw OutOfMemory(text(e));
  } catch (const Unimplemented& e) {
    throw Unimplemented(text(e));
  } catch (const InvalidArgument& e) {
    throw InvalidArgument(text(e));
  } catch (const std::exception& e) {
    throw DeviceError(text(e));
  } catch (...) {
    throw DeviceError(location.empty() ? "a task failed" : "a task failed\n  at " + location);
  }
}

}  // namespace

struct Queue::Impl {
  struct alignas(64) Slot {
    Task task;
    std::string location;
  };
  struct KeptError {
    std::exception_ptr exception;
    std::string location;
  };

  Impl(uint32_t queue_id, std::string queue_name)
      : id(queue_id), name(std::move(queue_name)), ring(std::make_unique<Slot[]>(kSlots)) {}

  // --- the worker's side ------------------------------------------------------------------------
  void work() {
    for (uint64_t n = 0;; ++n) {
      if (!wait_for_task(n)) return;
      Slot& slot = ring[n % kSlots];
      try {
        slot.task();
      } catch (...) {
        keep_error(std::current_exception(), std::move(slot.location));
      }
      slot.task.reset();  // before the task counts as done: it may hold memory
      if (!slot.location.empty()) slot.location.clear();
      // Either this thread sees the waiter, or the waiter sees the count.
      completed.store(n + 1, std::memory_order_release);
      AsymmetricFence::light_fence();
      if (n + 1 >= awaited.load(std::memory_order_relaxed)) {
        std::lock_guard lock(done_mutex);
        awaited.store(kNothing, std::memory_order_relaxed);
        done.notify_all();
      }
    }
  }

  // False if there is no task and none will come.
  bool wait_for_task(uint64_t n) {
    const auto ready = [&] { return submitted.load(std::memory_order_acquire) > n; };
    if (ready() ||
        spin_until([&] { return ready() || stopping.load(std::memory_order_relaxed); })) {
      if (ready()) return true;
    }
    while (!ready() && !stopping.load(std::memory_order_relaxed)) {
      asleep.store(true, std::memory_order_relaxed);
      AsymmetricFence::heavy_fence();
      // Who clears `asleep` decides: this thread stays awake, or a caller releases `more`.
      const bool stay = ready() || stopping.load(std::memory_order_relaxed);
      if (!stay || !asleep.exchange(false, std::memory_order_relaxed)) more.acquire();
    }
    return ready();
  }

  void keep_error(std::exception_ptr exception, std::string location) {
    std::lock_guard lock(error_mutex);
    if (!error) error = KeptError{std::move(exception), std::move(location)};
  }

  // --- the callers' side ------------------------------------------------------------------------
  bool on_worker() const { return std::this_thread::get_id() == worker.get_id(); }

  void push(Task&& task, std::string&& location) {
    check_not_forked();
    std::lock_guard lock(push_lock);
    const uint64_t n = submitted.load(std::memory_order_relaxed);
    if (n - completed.load(std::memory_order_acquire) >= kSlots) {
      if (on_worker()) {
        throw Error("a task enqueued more work on its own queue, " + name + ", than the ring of " +
                    std::to_string(kSlots) + " slots has room for");
      }
      wait_completed(n - kSlots / 2);  // one sleep for many slots
    }
    Slot& slot = ring[n % kSlots];
    slot.task = std::move(task);
    if (!location.empty()) slot.location = std::move(location);
    submitted.store(n + 1, std::memory_order_release);
    wake();
  }

  // Only one of the calls that see the worker asleep pays for waking it. There is no mutex that the
  // worker could hold while it falls asleep: a caller that met it would fall asleep too.
  void wake() {
    AsymmetricFence::light_fence();  // after the store that the worker is to see
    if (asleep.load(std::memory_order_relaxed) &&
        asleep.exchange(false, std::memory_order_relaxed)) {
      more.release();
    }
  }

  void wait_completed(uint64_t count) {
    const auto ready = [&] { return completed.load(std::memory_order_acquire) >= count; };
    if (ready()) return;
    check_not_forked();
    if (on_worker()) throw Error("a task of queue " + name + " waits for its own queue");
    if (spin_until(ready)) return;
    std::unique_lock lock(done_mutex);
    while (!ready()) {
      awaited.store(std::min(awaited.load(std::memory_order_relaxed), count),
                    std::memory_order_relaxed);
      AsymmetricFence::heavy_fence();
      if (ready()) break;
      done.wait(lock);
    }
  }

  const uint32_t id;
  const std::string name;
  const std::unique_ptr<Slot[]> ring;
  SpinLock push_lock;  // keeps producers apart

  alignas(64) std::atomic<uint64_t> submitted{0};
  std::atomic<bool> asleep{false};
  alignas(64) std::atomic<uint64_t> completed{0};
  std::atomic<int64_t> simulated_time{0};
  std::atomic<uint64_t> awaited{kNothing};  // the smallest count that a caller sleeps for

  alignas(64) std::atomic<bool> stopping{false};
  std::binary_semaphore more{0};
  std::mutex done_mutex, error_mutex;
  std::condition_variable done;
  std::optional<KeptError> error;
  compiler::Scratch scratch;
  std::thread worker;  // last: it uses all of the above
};

Queue::Queue(uint32_t id, std::string name) : impl_(std::make_unique<Impl>(id, std::move(name))) {
  forbid_use_after_fork();
  check_not_forked();
  impl_->worker = std::thread([impl = impl_.get()] { impl->work(); });
}

Queue::~Queue() {
  if (in_bad_fork()) {
    (void)impl_.release();  // the thread is the parent's; there is nobody to join
    return;
  }
  impl_->stopping.store(true, std::memory_order_relaxed);
  impl_->wake();
  impl_->worker.join();
}

uint32_t Queue::id() const {
  return impl_->id;
}
const std::string& Queue::name() const {
  return impl_->name;
}

void Queue::enqueue(Task task) {
  impl_->push(std::move(task), {});
}

void Queue::enqueue(Task task, SourceLocation location) {
  impl_->push(std::move(task), std::move(location.text));
}

void Queue::wait_idle() {
  impl_->wait_completed(submitted());
}
void Queue::wait_for(uint64_t count) {
  impl_->wait_completed(std::min(count, submitted()));
}

void Queue::synchronize() {
  check_not_forked();
  wait_idle();
  std::optional<Impl::KeptError> error;
  {
    std::lock_guard lock(impl_->error_mutex);
    error.swap(impl_->error);
  }
  if (error) rethrow_with(std::move(error->exception), error->location);
}

bool Queue::idle() const {
  return completed() >= submitted();
}
uint64_t Queue::submitted() const {
  return impl_->submitted.load(std::memory_order_acquire);
}
uint64_t Queue::completed() const {
  return impl_->completed.load(std::memory_order_acquire);
}

void Queue::record(Event& event) {
  auto recording = std::make_shared<Completion>();
  event.start(recording);
  enqueue(
      [this, recording = std::move(recording)] { recording->set(host_now(), simulated_time()); });
}

void Queue::wait(const Event& event) {
  std::shared_ptr<Completion> recording = event.latest();
  if (!recording || seeded("queue.wait_ignored")) return;
  enqueue([this, recording = std::move(recording)] {
    recording->wait();
    const int64_t behind = recording->simulated_time() - simulated_time();
    if (behind > 0) advance_simulated_time(behind);
  });
}

int64_t Queue::simulated_time() const {
  return impl_->simulated_time.load(std::memory_order_relaxed);
}

void Queue::advance_simulated_time(int64_t picoseconds) {
  impl_->simulated_time.store(simulated_time() + picoseconds, std::memory_order_relaxed);
}

compiler::Scratch& Queue::scratch() {
  return impl_->scratch;
}

}  // namespace tpu::runtime
