#include "emulator/tensorcore/mxu/conv_geometry.h"

#include <algorithm>
#include <numeric>

namespace tpu::tensorcore {
namespace {

/// Leaves out taps that no output of the phase meets inside the input.
void drop_outer_taps(PhaseWindow& phase, int64_t input) {
  const int64_t travel = (phase.outputs - 1) * phase.input_step;
  while (phase.taps > 0 && phase.origin + travel < 0) {
    phase.first_tap += phase.tap_step;
    phase.origin += phase.tap_reach;
    --phase.taps;
  }
  while (phase.taps > 0 && phase.origin + (phase.taps - 1) * phase.tap_reach >= input) {
    --phase.taps;
  }
}

PhaseWindow phase_of(const SpatialWindow& w, int64_t first_output, int64_t period) {
  PhaseWindow phase;
  phase.first_output = first_output;
  phase.output_step = period;
  phase.outputs = (w.output - first_output + period - 1) / period;
  phase.input_step = period * w.stride / w.base_dilation;
  phase.tap_step = w.base_dilation / std::gcd(w.window_dilation, w.base_dilation);
  phase.tap_reach = phase.tap_step * w.window_dilation / w.base_dilation;
  for (int64_t t = 0; t < std::min(w.kernel, phase.tap_step); ++t) {
    const int64_t u = first_output * w.stride + t * w.window_dilation - w.pad_low;
    if (u % w.base_dilation != 0) continue;
    phase.first_tap = t;
    phase.taps = (w.kernel - t + phase.tap_step - 1) / phase.tap_step;
    phase.origin = u / w.base_dilation;
  }
  drop_outer_taps(phase, w.input);
  return phase;
}

/// The part of `phase` from output `first` on that keeps the same taps inside the input.
PhaseWindow inner_part(const PhaseWindow& phase, int64_t first, int64_t input) {
  const auto trimmed = [&](int64_t output) {
    PhaseWindow part = phase;
    part.first_output += output * phase.output_step;
    part.origin += output * phase.input_step;
    part.outputs = 1;
    drop_outer_taps(part, input);
    return part;
  };
  PhaseWindow part = trimmed(first);
  for (int64_t output = first + 1; output < phase.outputs; ++output, ++part.outputs) {
    const PhaseWindow next = trimmed(output);
    if (next.first_tap != part.first_tap || next.taps != part.taps) break;
  }
  return part;
}

void split_at_borders(const PhaseWindow& phase, int64_t input, std::vector<PhaseWindow>& parts) {
  for (int64_t output = 0; output < phase.outputs;) {
    parts.push_back(inner_part(phase, output, input));
    output += parts.back().outputs;
  }
}

}  // namespace

std::vector<PhaseWindow> phases_of(const SpatialWindow& window, Padding padding) {
  const int64_t period = window.base_dilation / std::gcd(window.stride, window.base_dilation);
  std::vector<PhaseWindow> phases;
  for (int64_t first = 0; first < std::min(period, window.output); ++first) {
    const PhaseWindow phase = phase_of(window, first, period);
    if (padding == Padding::kAllowed) {
      phases.push_back(phase);
    } else {
      split_at_borders(phase, window.input, phases);
    }
  }
  return phases;
}

std::vector<std::vector<PhaseWindow>> phase_combinations(const ConvolutionShape& shape,
                                                         Padding padding) {
  std::vector<std::vector<PhaseWindow>> combinations = {{}};
  for (const SpatialWindow& window : shape.window) {
    std::vector<std::vector<PhaseWindow>> longer;
    for (const auto& prefix : combinations) {
      for (const PhaseWindow& phase : phases_of(window, padding)) {
        longer.push_back(prefix);
        longer.back().push_back(phase);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

std::vector<int64_t> chunk_bounds(const ConvolutionShape& shape,
                                  const std::vector<PhaseWindow>& phase, int64_t depth) {
  const int64_t features = shape.features_per_group;
  int64_t taps = 1;
  for (const PhaseWindow& p : phase) taps *= p.taps;
  std::vector<int64_t> bounds = {0};
  int64_t chunk = -1, kept = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t rest = tap, number = 0, scale = 1;
    for (size_t d = phase.size(); d-- > 0; rest /= phase[d].taps) {
      number += (phase[d].first_tap + rest % phase[d].taps * phase[d].tap_step) * scale;
      scale *= shape.window[d].kernel;
    }
    int64_t k = number * features;
    for (const int64_t end = k + features; k < end;) {
      const int64_t count = std::min(end, (k / depth + 1) * depth) - k;
      if (k / depth != chunk && kept > 0) bounds.push_back(kept);
      chunk = k / depth;
      k += count;
      kept += count;
    }
  }
  if (kept > 0) bounds.push_back(kept);
  return bounds;
}

}  // namespace tpu::tensorcore
