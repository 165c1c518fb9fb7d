// rng_bit_generator.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// The next state and random bits of `result_type`, as random_bits.h lays them out. `algorithm`:
/// THREE_FRY, PHILOX or DEFAULT, which is PHILOX.
std::vector<Literal> evaluate_rng_bit_generator(const Literal& initial_state,
                                                std::string_view algorithm,
                                                const TensorType& result_type);

}  // namespace tpu::hlo
