#include "emulator/compiler/kernels/rng_bit_generator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/hlo/evaluator/random_bits.h"

namespace tpu::compiler::kernels {
namespace {

constexpr int64_t kChunk = 4096;  // elements; a multiple of a block's

bool is_dense(const View& view) {
  const Dims dense = hlo::row_major_strides(view.shape);
  for (size_t d = 0; d < dense.size(); ++d) {
    if (view.shape[d] != 1 && view.strides[d] != dense[d]) return false;
  }
  return true;
}

// The low bits of a random word as an element: 4-bit types keep 4, extended to the byte.
template <class T>
T cut(uint64_t bits, ElementType element) {
  if (element == ElementType::kUI4) return static_cast<T>(bits & 15);
  if (element == ElementType::kSI4) return static_cast<T>(((bits & 15) ^ 8) - 8);
  return static_cast<T>(bits);
}

// Ten rounds of Philox4x32 on kLanes blocks side by side: hlo::philox4x32 in a form that compilers
// turn into vector instructions.
constexpr int kLanes = 16;
struct PhiloxLanes {
  uint32_t word[4][kLanes];
};

void philox_rounds(PhiloxLanes& lanes, uint32_t key0, uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t product0 = uint64_t{0xD2511F53} * lanes.word[0][l];
      const uint64_t product1 = uint64_t{0xCD9E8D57} * lanes.word[2][l];
      lanes.word[0][l] = static_cast<uint32_t>(product1 >> 32) ^ lanes.word[1][l] ^ key0;
      lanes.word[1][l] = static_cast<uint32_t>(product1);
      lanes.word[2][l] = static_cast<uint32_t>(product0 >> 32) ^ lanes.word[3][l] ^ key1;
      lanes.word[3][l] = static_cast<uint32_t>(product0);
    }
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
}

// The state of PHILOX, as random_bits.h reads it.
struct PhiloxState {
  std::array<uint32_t, 2> key;
  uint64_t low, high;

  explicit PhiloxState(std::span<const uint64_t> words)
      : key(hlo::split_words(words[0])),
        low(words[1]),
        high(hlo::PhiloxBits::counter_high(words)) {}

  /// Blocks number .. number + kLanes - 1.
  PhiloxLanes blocks(uint64_t number) const {
    PhiloxLanes lanes;
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t offset = number + static_cast<uint64_t>(l);
      const uint64_t sum = low + offset;
      const uint64_t carried = high + (sum < offset ? 1 : 0);
      lanes.word[0][l] = static_cast<uint32_t>(sum);
      lanes.word[1][l] = static_cast<uint32_t>(sum >> 32);
      lanes.word[2][l] = static_cast<uint32_t>(carried);
      lanes.word[3][l] = static_cast<uint32_t>(carried >> 32);
    }
    philox_rounds(lanes, key[0], key[1]);
    return lanes;
  }
};

// Elements [begin, end), of which begin is the first of a block.
template <class T>
void fill_philox(const PhiloxState& generator, ElementType element, int64_t begin, int64_t end,
                 T* to) {
  constexpr int64_t kPerBlock = sizeof(T) == 8 ? 2 : 4;
  for (int64_t i = begin; i < end; i += kPerBlock * kLanes) {
    const PhiloxLanes lanes = generator.blocks(static_cast<uint64_t>(i / kPerBlock));
    const int64_t n = std::min(end - i, kPerBlock * kLanes);
    for (int64_t k = 0; k < n; ++k) {
      const int64_t l = k / kPerBlock, w = k % kPerBlock;
      if constexpr (sizeof(T) == 8) {
        to[i + k] = hlo::join_words(lanes.word[2 * w][l], lanes.word[2 * w + 1][l]);
      } else {
        to[i + k] = cut<T>(lanes.word[w][l], element);
      }
    }
  }
}

template <class T>
void fill_threefry(const hlo::ThreefryBits& generator, ElementType element, int64_t begin,
                   int64_t end, T* to) {
  for (int64_t i = begin; i < end; ++i) {
    to[i] = sizeof(T) == 8 ? cut<T>(generator.bits64(i), element)
                           : cut<T>(generator.bits32(i), element);
  }
}

void advance_state(const KernelCall& call, std::span<const uint64_t> state, int64_t blocks,
                   bool threefry) {
  std::vector<uint64_t> next(state.begin(), state.end());
  if (threefry) {
    hlo::ThreefryBits::advance(next, blocks);
  } else {
    hlo::PhiloxBits::advance(next, blocks);
  }
  const View& result = call.results[0];
  for (size_t i = 0; i < next.size(); ++i) {
    reinterpret_cast<uint64_t*>(result.data)[static_cast<int64_t>(i) * result.strides[0]] = next[i];
  }
}

std::vector<uint64_t> read_state(const ConstView& view) {
  std::vector<uint64_t> state(static_cast<size_t>(view.shape[0]));
  for (size_t i = 0; i < state.size(); ++i) {
    const auto* words = reinterpret_cast<const uint64_t*>(view.data);
    state[i] = words[static_cast<int64_t>(i) * view.strides[0]];
  }
  return state;
}

}  // namespace

void rng_bit_generator(const KernelCall& call) {
  const std::string& algorithm = call.attributes.get_enum("rng_algorithm");
  const bool threefry = algorithm == "THREE_FRY";
  if (!threefry && algorithm != "PHILOX" && algorithm != "DEFAULT") {
    throw InvalidArgument("rng_algorithm '" + algorithm +
                          "'; expected THREE_FRY, PHILOX or DEFAULT");
  }
  const std::vector<uint64_t> state = read_state(call.operands[0]);
  const View& result = call.results[1];
  const int64_t count = elements(result);
  const int bits = hlo::bit_width(result.element);
  const int64_t width = hlo::byte_width(result.element);
  const PhiloxState philox(state);
  const hlo::ThreefryBits three_fry(state, result.shape);

  // Elements are numbered row-major; a result in another layout goes by way of a dense array.
  const bool dense = is_dense(result);
  std::vector<std::byte> buffer(dense ? 0 : static_cast<size_t>(count * width));
  std::byte* to = dense ? result.data : buffer.data();
  visit_width(static_cast<int>(width), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, Wide>) {
      throw Unimplemented("rng_bit_generator of complex<f64>");
    } else {
      // Threads share whole chunks, so that each starts with a block of its own.
      parallel_for((count + kChunk - 1) / kChunk, 1, [&](int64_t first, int64_t last) {
        const int64_t begin = first * kChunk, end = std::min(last * kChunk, count);
        T* typed = reinterpret_cast<T*>(to);
        if (threefry) {
          fill_threefry(three_fry, result.element, begin, end, typed);
        } else {
          fill_philox(philox, result.element, begin, end, typed);
        }
      });
    }
  });
  if (!dense) {
    copy({result.element, result.shape, hlo::row_major_strides(result.shape), to}, result);
  }
  advance_state(call, state,
                threefry ? three_fry.num_blocks(bits) : hlo::PhiloxBits::num_blocks(count, bits),
                threefry);
}

}  // namespace tpu::compiler::kernels
