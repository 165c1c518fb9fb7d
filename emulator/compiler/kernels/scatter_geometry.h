// The dimensions of a scatter, sorted by what they are for.
#pragma once

#include "emulator/compiler/kernels/index_vectors.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

/// Where window and scatter dimensions lie in the arrays of one scatter.
struct ScatterGeometry {
  Dims window;               ///< one size an operand dimension; 1 if inserted or batching
  Dims window_dims;          ///< operand dimensions that a window spans
  Dims window_shape;         ///< sizes of those
  Dims update_window;        ///< strides of the updates' window dimensions, in the same order
  Dims update_scatter;       ///< strides of the updates' other dimensions
  bool windows_last = true;  ///< window dimensions come last in the updates, or there is one window
  bool single_start = true;  ///< windows have size 1 along every indexed dimension
};

ScatterGeometry geometry_of(const hlo::ScatterDimensionNumbers& numbers, const View& result,
                            const ConstView& updates);

/// The index vectors of a scatter into `call`'s result 0.
IndexVectors index_vectors(const KernelCall& call, const hlo::ScatterDimensionNumbers& numbers,
                           const ScatterGeometry& geometry);

}  // namespace tpu::compiler::kernels
