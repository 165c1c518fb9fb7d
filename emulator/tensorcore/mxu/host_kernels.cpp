#include "emulator/tensorcore/mxu/host_kernels.h"

#include <cstdlib>
#include <vector>

#include "emulator/tensorcore/mxu/host_kernels_isa.h"

namespace tpu::tensorcore {
namespace {

std::vector<const HostKernels*> detect() {
  std::vector<const HostKernels*> tables = {&baseline_kernels()};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    tables.push_back(&avx2_kernels());
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
      tables.push_back(&avx512_kernels());
    }
  }
#endif
  return tables;
}

}  // namespace

const SourceKernels* HostKernels::source_kernels(hlo::ElementType element) const {
  switch (element) {
    case hlo::ElementType::kF32:
      return &from_f32;
    case hlo::ElementType::kBF16:
      return &from_bf16;
    case hlo::ElementType::kF16:
      return &from_f16;
    default:
      return nullptr;
  }
}

std::span<const HostKernels* const> available_host_kernels() {
  static const std::vector<const HostKernels*> tables = detect();
  return tables;
}

namespace {

const HostKernels* choose() {
  const auto tables = available_host_kernels();
  if (const char* asked = std::getenv("TORCH_TPU_EMULATOR_HOST_ISA")) {
    for (const HostKernels* table : tables) {
      if (table->name == asked) return table;
    }
  }
  return tables.back();
}

}  // namespace

const HostKernels& host_kernels() {
  static const HostKernels* const chosen = choose();
  return *chosen;
}

}  // namespace tpu::tensorcore
