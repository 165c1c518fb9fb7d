// A pair of fences for a handshake whose one side runs often and the other seldom.
#pragma once

#include <atomic>

namespace tpu::runtime {

/// Dekker's pattern: one thread stores A, fences and loads B; another stores B, fences and loads A;
/// then at least one of them sees the other's store. With `light_fence` on the frequent side and
/// `heavy_fence` on the other, the frequent side costs nothing: the kernel makes every running
/// thread of the process pass a full barrier (membarrier(2)). Where it cannot, both are full
/// fences. A full fence would stall each enqueue until its stores have left for the other core.
class AsymmetricFence {
 public:
  static void light_fence() {
    if (kernel_helps_) {
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      full_fence();
    }
  }
  static void heavy_fence();

 private:
  static void full_fence();
  static bool register_with_kernel();
  static inline const bool kernel_helps_ = register_with_kernel();
};

}  // namespace tpu::runtime
