#include "emulator/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "emulator/base/seeded_fault.h"

namespace tpu {
namespace {

// The arena is replaced when the thread count changes; work under way keeps the old one alive.
struct Pool {
  std::mutex mutex;
  std::atomic<int> threads{static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))};
  std::shared_ptr<tbb::task_arena> arena;

  std::shared_ptr<tbb::task_arena> get() {
    std::lock_guard lock(mutex);
    if (!arena) arena = std::make_shared<tbb::task_arena>(threads.load());
    return arena;
  }
};

Pool& pool() {
  static Pool* instance = new Pool;  // never destroyed: threads may outlive static destructors
  return *instance;
}

// A thread's own part of an index range. It takes piece after piece from the front, and so do
// threads that have finished theirs.
struct alignas(64) Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;

  template <class Body>
  void drain(int64_t grain, const Body& body) {
    // A look before the increment keeps `next` from running away past the end.
    while (next.load(std::memory_order_relaxed) < end) {
      const int64_t begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin < end) body(begin, std::min(begin + grain, end));
    }
  }
};

// Calls body(0), ..., body(threads - 1) at once, if it can, and waits for all.
#ifdef __SANITIZE_THREAD__
// ThreadSanitizer does not see into oneTBB, and takes what it hands from thread to thread for
// races.
template <class Body>
void on_threads(int threads, const Body& body) {
  std::mutex mutex;
  std::exception_ptr failed;
  const auto guarded = [&](int i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failed = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(guarded, i);
    guarded(0);
  }
  if (failed) std::rethrow_exception(failed);
}
#else
template <class Body>
void on_threads(int threads, const Body& body) {
  pool().get()->execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int>(0, threads, 1),
        [&](const tbb::blocked_range<int>& range) {
          for (int i = range.begin(); i < range.end(); ++i) body(i);
        },
        tbb::static_partitioner());
  });
}
#endif

}  // namespace

int num_threads() {
  return pool().threads.load(std::memory_order_relaxed);
}

void set_num_threads(int count) {
  Pool& p = pool();
  std::lock_guard lock(p.mutex);
  p.threads = std::max(1, count);
  p.arena.reset();
}

// The same thread gets the same part of a range in each call, so that what one kernel has left in a
// core's caches is there for the next one. (A free-for-all of 16 pieces took 1.3 to 1.8 times as
// long on arrays of the caches' size.)
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const int64_t pieces = (count + grain - 1) / grain;
  const auto threads = static_cast<int>(std::min<int64_t>(num_threads(), pieces));
  if (threads == 1) {
    body(0, count);
    return;
  }
  std::vector<Share> shares(threads);
  for (int i = 0; i < threads; ++i) {
    shares[i].next = pieces * i / threads * grain;
    shares[i].end = std::min(pieces * (i + 1) / threads * grain, count);
    if (seeded("parallel.last_piece_lost") && i == threads - 1) shares[i].end -= grain;
  }
  on_threads(threads, [&](int i) {
    for (int k = 0; k < threads; ++k) shares[(i + k) % threads].drain(grain, body);
  });
}

}  // namespace tpu
