#include "emulator/hlo/evaluator/random.h"

#include <cstring>
#include <string>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/evaluator/random_bits.h"

namespace tpu::hlo {
namespace {

// Element i of the result has the lowest bits of generator's i-th number, whatever the type.
template <class Generator>
Literal random_literal(const Generator& generator, const TensorType& type) {
  Literal result(type);
  const int64_t width = byte_width(type.element);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    uint64_t bits = width == 8 ? generator.bits64(i) : generator.bits32(i);
    if (is_integer(type.element)) bits = make_integer(type.element, bits).bits();
    std::memcpy(result.mutable_bytes().data() + i * width, &bits, width);
  }
  return result;
}

}  // namespace

std::vector<Literal> evaluate_rng_bit_generator(const Literal& initial_state,
                                                std::string_view algorithm,
                                                const TensorType& result_type) {
  if (is_complex(result_type.element) || is_boolean(result_type.element)) {
    throw Unimplemented("rng_bit_generator of " + to_string(result_type));
  }
  const int width = bit_width(result_type.element);
  Literal state = initial_state;
  const std::span<const uint64_t> words = initial_state.as<uint64_t>();
  if (algorithm == "THREE_FRY") {
    const ThreefryBits generator(words, result_type.shape);
    ThreefryBits::advance(state.mutable_as<uint64_t>(), generator.num_blocks(width));
    return {state, random_literal(generator, result_type)};
  }
  if (algorithm == "PHILOX" || algorithm == "DEFAULT") {
    PhiloxBits::advance(state.mutable_as<uint64_t>(),
                        PhiloxBits::num_blocks(result_type.num_elements(), width));
    return {state, random_literal(PhiloxBits(words), result_type)};
  }
  throw InvalidArgument("rng_algorithm '" + std::string(algorithm) +
                        "'; expected THREE_FRY, PHILOX or DEFAULT");
}

}  // namespace tpu::hlo
