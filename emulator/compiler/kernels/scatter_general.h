// Scatters whose windows may straddle a bound, or that combine several inputs.
#pragma once

#include "emulator/compiler/kernels/scatter_geometry.h"

namespace tpu::compiler::kernels {

/// One input; index vectors one after the other, each window (clipped to the operand) at once.
/// Right where window dimensions come last in the updates, or there is one index vector: then
/// ascending index vectors are ascending updates of each target.
void scatter_windows(const KernelCall& call, const hlo::ScatterDimensionNumbers& numbers,
                     const ScatterGeometry& geometry);

/// Any scatter, one update element after the other.
void scatter_elements(const KernelCall& call, const hlo::ScatterDimensionNumbers& numbers,
                      const ScatterGeometry& geometry);

}  // namespace tpu::compiler::kernels
