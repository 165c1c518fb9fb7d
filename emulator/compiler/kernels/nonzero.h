// Results whose size depends on data: the positions, or the values, of true elements.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// custom_call @tpu.nonzero; see custom_calls.md.
void nonzero(const KernelCall& call);
/// custom_call @tpu.masked_select.
void masked_select(const KernelCall& call);

}  // namespace tpu::compiler::kernels
