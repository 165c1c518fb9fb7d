// Running extremes with their positions.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// custom_call @tpu.cummax and @tpu.cummin; see custom_calls.md.
void cummax(const KernelCall& call);
void cummin(const KernelCall& call);

}  // namespace tpu::compiler::kernels
