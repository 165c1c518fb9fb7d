// Pooling over two or three spatial dimensions: what max and average pooling share.
#pragma once

#include <vector>

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// A pooled tensor as [planes, sizes...], whatever came before the spatial dimensions.
struct Image {
  Value* x;
  Dims leading;  ///< the sizes in front of the spatial dimensions
  Dims sizes;

  int64_t planes() const { return tpu::hlo::num_elements(leading); }
  int64_t pixels() const { return tpu::hlo::num_elements(sizes); }
  /// [leading..., spatial...]
  Dims with_leading(const Dims& spatial) const;
};

Image read_image(Lowering& op, const Tensor& input, int64_t spatial);

/// One spatial dimension under a sliding window.
struct PoolAxis {
  int64_t size, kernel, stride, padding, dilation, out;
  /// Padding at the end, so that `out` windows fit (more than `padding` under ceil_mode, and less,
  /// even negative, where the last elements are in no window).
  int64_t high() const { return (out - 1) * stride + dilation * (kernel - 1) + 1 - size - padding; }
};

/// From kernel_size, stride, padding, dilation and ceil_mode.
std::vector<PoolAxis> read_axes(Lowering& op, const Image& image);
Dims output_sizes(const std::vector<PoolAxis>& axes);
/// Over [planes, sizes...].
Builder::Window pooling_window(const std::vector<PoolAxis>& axes);

/// Output `i` of `out` adaptive bins over `size` elements covers [begin, end).
struct Bin {
  int64_t begin, end;
};
Bin adaptive_bin(int64_t i, int64_t size, int64_t out);

}  // namespace torch_tpu::aten
