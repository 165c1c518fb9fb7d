#include "emulator/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <mutex>

#include "emulator/base/error.h"

namespace tpu {
namespace {

std::atomic<bool> forked_child{false};

}  // namespace

void forbid_use_after_fork() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { forked_child.store(true, std::memory_order_relaxed); });
  });
}

bool in_bad_fork() {
  return forked_child.load(std::memory_order_relaxed);
}

void check_not_forked() {
  if (in_bad_fork()) {
    throw Error(
        "the emulated TPU cannot be used after fork: its queues' threads stayed in the parent "
        "process. Use the spawn start method, for example "
        "multiprocessing.set_start_method('spawn')");
  }
}

}  // namespace tpu
