// scatter (specification, section "scatter").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Operands: inputs, scatter_indices, updates. Result i may be the memory of input i; otherwise
/// input i is copied first. An update whose target is out of bounds is skipped. Each target meets
/// its updates in ascending row-major order of the updates' index.
void scatter(const KernelCall& call);

}  // namespace tpu::compiler::kernels
