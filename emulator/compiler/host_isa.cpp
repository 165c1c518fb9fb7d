#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "emulator/base/error.h"
#include "emulator/compiler/compiler.h"

namespace tpu::compiler {
namespace {

HostIsa widest() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](std::initializer_list<const char*> names) {
    return std::all_of(names.begin(), names.end(),
                       [&](const char* name) { return features.lookup(name); });
  };
  if (!has({"avx2", "fma", "f16c", "bmi", "bmi2", "lzcnt", "movbe"})) return HostIsa::kBaseline;
  return has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? HostIsa::kAvx512
                                                                          : HostIsa::kAvx2;
}

HostIsa lowered(HostIsa isa) {
  const char* text = std::getenv("TORCH_TPU_EMULATOR_HOST_ISA");
  if (!text) return isa;
  const std::string wanted(text);
  if (wanted == "baseline") return HostIsa::kBaseline;
  if (wanted == "avx2") return std::min(isa, HostIsa::kAvx2);
  if (wanted == "avx512") return isa;
  throw InvalidArgument("TORCH_TPU_EMULATOR_HOST_ISA is '" + wanted +
                        "'; expected baseline, avx2 or avx512");
}

}  // namespace

HostIsa host_isa() {
  static const HostIsa isa = lowered(widest());
  return isa;
}

}  // namespace tpu::compiler
