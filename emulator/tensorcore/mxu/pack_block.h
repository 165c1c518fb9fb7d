// Packs rectangular, evenly strided blocks of any float type into float panels.
#pragma once

#include "emulator/hlo/types.h"
#include "emulator/tensorcore/mxu/host_kernels.h"

namespace tpu::tensorcore {

/// Element (r, c) at data + r * row_stride + c * column_stride, in bytes.
struct SourceBlock {
  hlo::ElementType element;
  const std::byte* data;
  int64_t row_stride, column_stride;
  int64_t rows, columns;
};

/// Reads the block, splits its elements into bf16 parts if `splits` (they are f32 or count as it),
/// stores it where `target` says. Dense columns are converted in place, dense rows by way of a
/// transposition, anything else element by element.
MagnitudeRange pack_block(const SourceBlock& source, const PackTarget& target, bool splits,
                          const HostKernels& host);

}  // namespace tpu::tensorcore
