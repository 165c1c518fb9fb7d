// Random inputs.
#pragma once

#include "emulator/hlo/literal.h"
#include "emulator/hlo/testing/rng.h"

namespace tpu::hlo::testing {

/// What a tensor's numbers are like.
enum class ValueStyle : uint8_t {
  kMild,      ///< a few units in size, fractions, zeros of both signs
  kSmallInt,  ///< integers of -4 .. 4, also as floats: many ties and exact results
  kWide,      ///< every magnitude that the type has
  kSpecial,   ///< kWide with infinities, NaNs, subnormals, extremes
};

/// A style by chance, mild ones more often.
ValueStyle random_style(Rng& rng);

Literal random_literal(Rng& rng, const TensorType& type, ValueStyle style);
Literal random_literal(Rng& rng, const TensorType& type);

}  // namespace tpu::hlo::testing
