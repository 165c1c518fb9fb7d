// StableHLO in, an Executable out.
#pragma once

#include <memory>
#include <vector>

#include "emulator/compiler/executable.h"
#include "emulator/hlo/ir.h"

namespace tpu::compiler {

/// How one parameter or result lies in memory: strides in elements, none negative. Empty means
/// dense row-major. A parameter's stride may be 0 (a broadcast operand); a result's may not,
/// unless that dimension's size is 1.
struct Layout {
  hlo::Dims strides;
  bool operator==(const Layout&) const = default;
};

/// The program's contract with its caller's memory.
struct Signature {
  std::vector<Layout> parameters;  ///< one a parameter of @main, or none at all: all dense
  std::vector<Layout> results;
  /// For each result the parameter whose memory it overwrites (same address, same layout), or
  /// -1. Memory of results is otherwise disjoint from that of parameters and other results.
  std::vector<int> aliases;
  bool operator==(const Signature&) const = default;
};

/// Vector extensions of the host that generated code may use. They never change a bit.
enum class HostIsa : uint8_t { kBaseline, kAvx2, kAvx512 };
/// The widest that this host has. `TORCH_TPU_EMULATOR_HOST_ISA` (baseline, avx2, avx512) lowers it.
HostIsa host_isa();

/// What of the chip and the host a program depends on.
struct Target {
  int mxu_depth = 128;
  HostIsa isa = host_isa();
  bool operator==(const Target&) const = default;
};

/// Compiles `module` (verified first). Throws InvalidArgument or Unimplemented.
std::shared_ptr<const Executable> compile(const hlo::Module& module,
                                          const Signature& signature = {},
                                          const Target& target = {});

}  // namespace tpu::compiler
