// Sliding windows: how many positions a window has along one dimension.
#pragma once

#include <cstdint>

namespace tpu::hlo {

/// One dimension of a sliding window, as convolution, reduce_window and select_and_scatter use it.
/// Dilation d puts d - 1 holes between neighbours.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t low_padding = 0, high_padding = 0;
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;
};

/// Elements that `size` of them span with `dilation` - 1 holes between neighbours; 0 stays 0.
constexpr int64_t dilated_size(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

/// Positions of the window over an input of `input_size` elements (specification, convolution_c25
/// and reduce_window_c15). 0 if the window does not fit.
constexpr int64_t num_windows(int64_t input_size, const WindowDimension& window) {
  const int64_t padded =
      window.low_padding + dilated_size(input_size, window.base_dilation) + window.high_padding;
  const int64_t reach = dilated_size(window.size, window.window_dilation);
  return padded <= 0 || reach > padded ? 0 : (padded - reach) / window.stride + 1;
}

}  // namespace tpu::hlo
