// Keys of generated functions: equal keys, equal code.
#pragma once

#include <optional>
#include <string>

#include "emulator/compiler/passes/loop_kernel.h"
#include "emulator/compiler/passes/schedule.h"

namespace tpu::compiler {

/// All of a kernel and its schedule that code generation looks at. Addresses are not part of it.
std::string kernel_key(const LoopKernel& kernel, const Schedule& schedule,
                       const std::optional<LaneSplit>& split);

/// A region's ops, with values by number.
std::string region_key(const hlo::Block& region);

}  // namespace tpu::compiler
