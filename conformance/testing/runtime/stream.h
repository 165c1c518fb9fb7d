// Streams of the mock device: lists of tasks that run when somebody waits for them.
#pragma once

#include <c10/core/Stream.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace mock {

/// A stream does nothing by itself: whoever waits for it runs its tasks, in order. So work that was
/// not waited for is certainly not done, whatever the load of the machine.
class Stream {
 public:
  using Task = std::function<void()>;

  void defer(Task task);
  /// Runs the first `count` tasks that were ever deferred, as far as they have not run.
  void run_until(uint64_t count);
  void run_all();
  bool idle();
  /// Number of tasks deferred so far.
  uint64_t deferred();

 private:
  std::recursive_mutex mutex_;
  std::deque<Task> tasks_;
  uint64_t deferred_ = 0, done_ = 0;
};

/// A point in a stream's work.
struct Event {
  std::shared_ptr<Stream> stream;
  uint64_t count = 0;
  int64_t time = 0;
  bool timed = false;
};

c10::Stream current_stream();
c10::Stream exchange_stream(c10::Stream stream);
c10::Stream new_stream();
std::shared_ptr<Stream> stream_of(const c10::Stream& stream);
/// The current stream of the calling thread; whether it is not the default one.
Stream& current();
bool on_side_stream();
/// Runs the tasks of all streams.
void synchronize();

}  // namespace mock
