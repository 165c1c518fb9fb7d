// A batch of matrix products over strided tensors, for any element types.
#pragma once

#include "emulator/tensorcore/mxu/host_kernels.h"
#include "emulator/tensorcore/mxu/numerics.h"
#include "emulator/tensorcore/mxu/strided_matrix.h"

namespace tpu::tensorcore {

/// result[b][m][n] = sum over k of lhs[b][m][k] * rhs[b][k][n]: lhs.lines are the rows, rhs.lines
/// the columns. `element_stride` of all three is the element's width.
struct StridedProduct {
  StridedMatrix lhs, rhs;
  StridedResult result;
};

/// Computes the product in the declared order (numerics.h).
void multiply(const StridedProduct& product, Precision precision, int depth,
              const HostKernels& host);

}  // namespace tpu::tensorcore
