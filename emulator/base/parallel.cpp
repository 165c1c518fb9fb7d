#include "emulator/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

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

void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body) {
  if (count <= 0) return;
  if (num_threads() == 1 || count <= grain) {
    body(0, count);
    return;
  }
  pool().get()->execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, count, std::max<int64_t>(grain, 1)),
        [&](const tbb::blocked_range<int64_t>& range) { body(range.begin(), range.end()); },
        tbb::simple_partitioner());
  });
}

}  // namespace tpu
