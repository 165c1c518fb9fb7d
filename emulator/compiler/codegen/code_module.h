// All generated functions of one program, in one LLVM module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "emulator/compiler/compiler.h"
#include "emulator/compiler/passes/loop_kernel.h"
#include "emulator/compiler/passes/schedule.h"
#include "emulator/hlo/ir.h"

namespace tpu::compiler {

class CodeModule {
 public:
  explicit CodeModule(HostIsa isa);
  ~CodeModule();

  struct Function {
    int number = 0;             ///< its name is function_name(number)
    int64_t scratch_bytes = 0;  ///< of one call
  };
  Function add_loop(const LoopKernel& kernel, const Schedule& schedule,
                    std::optional<LaneSplit> split = std::nullopt);
  /// A RegionFunction: elements are read and written through the pointers it is given.
  int add_region(const hlo::Block& region);

  /// Object code of all functions; empty if there are none. Call once.
  std::vector<std::byte> compile();

 private:
  struct Impl;
  Impl& impl();

  HostIsa isa_;
  int count_ = 0;
  std::unique_ptr<Impl> impl_;  // made with the first function
};

/// Bytes of a vector register of the target.
int vector_bytes(HostIsa isa);

}  // namespace tpu::compiler
