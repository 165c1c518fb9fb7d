#include "emulator/runtime/asymmetric_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tpu::runtime {
namespace {

long membarrier(int command) {
  return syscall(SYS_membarrier, command, 0, 0);
}

}  // namespace

bool AsymmetricFence::register_with_kernel() {
#if defined(__SANITIZE_THREAD__)
  return false;  // keep to what the sanitizer understands
#else
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
#endif
}

void AsymmetricFence::full_fence() {
#if defined(__SANITIZE_THREAD__)
  // The sanitizer does not model fences; an exchange is one on the hosts it runs on.
  static std::atomic<int> dummy{0};
  dummy.exchange(0, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

void AsymmetricFence::heavy_fence() {
  full_fence();
  if (kernel_helps_) membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

}  // namespace tpu::runtime
