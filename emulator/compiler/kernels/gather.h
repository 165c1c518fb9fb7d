// gather (specification, section "gather").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Operands: operand, start_indices. Starts are clamped so that windows lie inside the operand.
void gather(const KernelCall& call);

}  // namespace tpu::compiler::kernels
