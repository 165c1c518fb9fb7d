// Distinct values of a one-dimensional array.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// custom_call @tpu.unique_count and @tpu.unique; see custom_calls.md.
void unique_count(const KernelCall& call);
void unique(const KernelCall& call);
/// custom_call @tpu.unique_consecutive_count and @tpu.unique_consecutive: runs of equal values.
void unique_consecutive_count(const KernelCall& call);
void unique_consecutive(const KernelCall& call);

}  // namespace tpu::compiler::kernels
