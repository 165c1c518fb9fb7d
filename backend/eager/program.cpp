#include "backend/eager/program.h"

#include <chrono>

#include "backend/runtime/device.h"

namespace torch_tpu::eager {

const tpu::compiler::Executable& Program::executable() {
  if (const auto* executable = ready_.load(std::memory_order_acquire)) return *executable;
  std::lock_guard lock(compiling_);
  if (!owned_) {
    const auto begin = std::chrono::steady_clock::now();
    tpu::compiler::Target target;
    target.mxu_depth = runtime::chip().spec().mxu_depth;
    owned_ = tpu::compiler::compile(module, signature, target);
    compile_time_ = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
    ready_.store(owned_.get(), std::memory_order_release);
  }
  return *owned_;
}

}  // namespace torch_tpu::eager
