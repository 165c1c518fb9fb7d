// The windows of reduce_window and select_and_scatter.
#pragma once

#include <cstdint>

#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

/// Attributes that describe a window, one entry a dimension, with the defaults filled in.
struct Window {
  Dims size, stride, base_dilation, dilation, low, high;

  /// Reads window_dimensions, window_strides, base_dilations, window_dilations and padding.
  Window(const hlo::Attributes& attributes, size_t rank);

  /// Where window element `k` of output `o` lies along dimension `d`: a position in the operand, or
  /// -1 if it falls on padding or between dilated elements.
  int64_t position(size_t d, int64_t o, int64_t k, int64_t operand_size) const {
    const int64_t dilated = o * stride[d] + k * dilation[d] - low[d];
    if (dilated < 0 || dilated % base_dilation[d] != 0) return -1;
    const int64_t at = dilated / base_dilation[d];
    return at < operand_size ? at : -1;
  }
};

}  // namespace tpu::compiler::kernels
