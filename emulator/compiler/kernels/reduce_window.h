// reduce_window (specification, section "reduce_window").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Operands: n inputs, n init values. Each output starts from init and meets the elements of its
/// window in ascending row-major order of window positions.
void reduce_window(const KernelCall& call);

}  // namespace tpu::compiler::kernels
