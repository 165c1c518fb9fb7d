// Runs an executable as part of a queue's work.
#pragma once

#include <cstddef>
#include <span>

#include "emulator/compiler/executable.h"

namespace tpu::runtime {

/// To be called from a queue's task: runs `executable` with the queue's own scratch memory and
/// advances the queue's simulated clock by what the chip's cost model says. Throws DeviceError.
void run(const compiler::Executable& executable, std::span<const std::byte* const> parameters,
         std::span<std::byte* const> results);

}  // namespace tpu::runtime
