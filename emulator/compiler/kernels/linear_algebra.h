// cholesky and triangular_solve (specification, sections of the same names).
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Matrices in the last two dimensions; sums in the order of hlo/evaluator/linear_algebra.h.
void cholesky(const KernelCall& call);
void triangular_solve(const KernelCall& call);

}  // namespace tpu::compiler::kernels
