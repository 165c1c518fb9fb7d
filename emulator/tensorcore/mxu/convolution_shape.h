// A convolution's geometry: which tensor dimension plays which role, and where its window goes.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/hlo/attributes.h"

namespace tpu::tensorcore {

/// One spatial dimension. Output position o and tap t meet the (dilated, padded) input at
/// u = o * stride + t * window_dilation - pad_low, which is the input's element u / base_dilation
/// if that division is exact and the quotient lies in [0, input). Tap t reads the kernel's element
/// t, or kernel - 1 - t if `reversed`.
struct SpatialWindow {
  int64_t input = 1, kernel = 1, output = 1;
  int64_t stride = 1;
  int64_t pad_low = 0;  ///< may be negative: it crops
  int64_t base_dilation = 1, window_dilation = 1;
  bool reversed = false;

  /// The input element that output `o` and tap `t` meet; -1 if it is padding or a dilation hole.
  int64_t input_index(int64_t o, int64_t t) const {
    const int64_t u = o * stride + t * window_dilation - pad_low;
    if (u < 0 || u % base_dilation != 0) return -1;
    const int64_t index = u / base_dilation;
    return index < input ? index : -1;
  }
  int64_t kernel_index(int64_t t) const { return reversed ? kernel - 1 - t : t; }
};

/// `stablehlo.convolution`: attributes checked against the operands' shapes.
struct ConvolutionShape {
  hlo::ConvDimensionNumbers numbers;
  std::vector<SpatialWindow> window;  ///< one a spatial dimension, in the dimension numbers' order
  int64_t feature_groups = 1, batch_groups = 1;
  int64_t input_batch = 1, input_features = 1;    ///< of the whole lhs
  int64_t output_batch = 1, output_features = 1;  ///< of the whole result
  int64_t features_per_group = 1;                 ///< the kernel's input feature dimension

  int rank() const { return static_cast<int>(window.size()); }
  /// Length of the contraction: kernel positions times features per group.
  int64_t contraction() const;
  int64_t output_positions() const;
  /// Output features of one feature or batch group.
  int64_t outputs_per_group() const {
    return output_features / (feature_groups > 1 ? feature_groups : batch_groups);
  }
};

/// Reads the attributes of a convolution with the given operand and result shapes.
/// Throws InvalidArgument if they do not fit together.
ConvolutionShape convolution_shape(const hlo::Attributes& attributes, std::span<const int64_t> lhs,
                                   std::span<const int64_t> rhs, std::span<const int64_t> result);

}  // namespace tpu::tensorcore
