// select_and_scatter (specification, section "select_and_scatter").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Operands: operand, source, init_value. Regions: select, scatter. Each source element goes to
/// the operand element that `select` keeps of its window; a result element combines its source
/// elements in ascending row-major order, starting from init.
void select_and_scatter(const KernelCall& call);

}  // namespace tpu::compiler::kernels
