// Where values belong in sorted sequences.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// custom_call @tpu.searchsorted; see custom_calls.md.
void searchsorted(const KernelCall& call);
/// custom_call @tpu.bincount.
void bincount(const KernelCall& call);

}  // namespace tpu::compiler::kernels
