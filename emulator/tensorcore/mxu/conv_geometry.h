// How a convolution's taps and outputs fall on the input once dilation holes are taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/tensorcore/mxu/convolution_shape.h"

namespace tpu::tensorcore {

/// With base dilation b, output o meets tap t only where o * stride + t * dilation - pad is a
/// multiple of b. Outputs of one residue share their taps, and among themselves are a convolution
/// without base dilation: output first_output + j * output_step and tap first_tap + i * tap_step
/// meet input element origin + j * input_step + i * tap_reach.
struct PhaseWindow {
  int64_t first_output = 0, output_step = 1, outputs = 0;
  int64_t first_tap = 0, tap_step = 1, taps = 0;  ///< taps that meet the input at all
  int64_t origin = 0, input_step = 0, tap_reach = 0;

  /// The input elements touched: [low, high), which may reach beyond the input.
  int64_t low() const { return origin; }
  int64_t high() const { return origin + (outputs - 1) * input_step + (taps - 1) * tap_reach + 1; }
};

/// What may lie under a tap that a phase keeps.
enum class Padding : uint8_t {
  kAllowed,  ///< padding, for some of the outputs
  kNever,    ///< outputs are split further, until all of a phase have their taps inside
};

/// The phases of one spatial dimension; together they have each output once.
std::vector<PhaseWindow> phases_of(const SpatialWindow& window, Padding padding);

/// One phase for each spatial dimension: all combinations.
std::vector<std::vector<PhaseWindow>> phase_combinations(const ConvolutionShape& shape,
                                                         Padding padding);

/// Where the chunks of `depth` end among the contraction indices whose taps the phase keeps, these
/// numbered 0, 1, ... without the gaps. Starts with 0; chunks that keep nothing are left out.
std::vector<int64_t> chunk_bounds(const ConvolutionShape& shape,
                                  const std::vector<PhaseWindow>& phase, int64_t depth);

}  // namespace tpu::tensorcore
