// The counter-based generators of rng_bit_generator, in the layout that XLA publishes:
// Philox4x32-10 and Threefry2x32-20 (J. K. Salmon et al., "Parallel random numbers: as easy as 1,
// 2, 3", SC 2011).
//
// Both map (key, counter) to a block of random words. The element that a block's word becomes
// depends on the element's position only, so that any part of the result can be made on its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tpu::hlo {

/// Ten rounds of Philox4x32: a bijection of the counter for each key.
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
               static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
               static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Twenty rounds of Threefry2x32: a bijection of the counter for each key.
inline std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> counter,
                                            std::array<uint32_t, 2> key) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t schedule[3] = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDA};
  uint32_t x0 = counter[0] + schedule[0];
  uint32_t x1 = counter[1] + schedule[1];
  for (uint32_t group = 0; group < 5; ++group) {
    for (int rotation : kRotations[group % 2]) {
      x0 += x1;
      x1 = (x1 << rotation | x1 >> (32 - rotation)) ^ x0;
    }
    x0 += schedule[(group + 1) % 3];
    x1 += schedule[(group + 2) % 3] + group + 1;
  }
  return {x0, x1};
}

/// Low word first.
inline std::array<uint32_t, 2> split_words(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
}
inline uint64_t join_words(uint32_t low, uint32_t high) {
  return uint64_t{high} << 32 | low;
}

/// PHILOX. The state is ui64[3], {key, counter low, counter high}, or ui64[2], {key, counter low},
/// where the key is the counter's high half, too.
/// Block b has counter + b (128 bits). Types of up to 32 bits: element i is word i % 4 of block
/// i / 4, cut to its width. 64 bits: words 2 (i % 2), low, and 2 (i % 2) + 1, high, of block i / 2.
class PhiloxBits {
 public:
  /// The counter's high half, of a state of 2 or 3 words.
  static uint64_t counter_high(std::span<const uint64_t> state) {
    return state.size() > 2 ? state[2] : state[0];
  }

  /// `state`: 2 or 3 words.
  explicit PhiloxBits(std::span<const uint64_t> state)
      : key_(split_words(state[0])), low_(state[1]), high_(counter_high(state)) {}

  std::array<uint32_t, 4> block(uint64_t number) const {
    const uint64_t low = low_ + number;
    const uint64_t high = high_ + (low < number ? 1 : 0);
    const auto [l0, l1] = split_words(low);
    const auto [h0, h1] = split_words(high);
    return philox4x32({l0, l1, h0, h1}, key_);
  }
  uint32_t bits32(int64_t element) const { return block(element / 4)[element % 4]; }
  uint64_t bits64(int64_t element) const {
    const std::array<uint32_t, 4> words = block(element / 2);
    return element % 2 == 0 ? join_words(words[0], words[1]) : join_words(words[2], words[3]);
  }

  /// Blocks that `elements` elements of `bit_width` bits take.
  static int64_t num_blocks(int64_t elements, int bit_width) {
    return bit_width == 64 ? (elements + 1) / 2 : (elements + 3) / 4;
  }
  /// Moves `state` on past `blocks` blocks.
  static void advance(std::span<uint64_t> state, int64_t blocks) {
    const uint64_t by = static_cast<uint64_t>(blocks);
    state[1] += by;
    if (state.size() > 2 && state[1] < by) ++state[2];
  }

 private:
  std::array<uint32_t, 2> key_;
  uint64_t low_, high_;
};

/// THREE_FRY. The state is ui64[2], {key, counter}. Block b has counter + b (64 bits).
///
/// 64-bit types: element i is block i, first word low. Types of up to 32 bits: the result is split
/// in two along one dimension s: the first of even size, otherwise the first of the largest size.
/// Blocks are numbered row-major over the result's shape with size ceil(size / 2) in dimension s;
/// the element at coordinate c of s is word c % 2 of the block at coordinate c / 2, cut to its
/// width. A rank-0 result is word 0 of block 0.
class ThreefryBits {
 public:
  ThreefryBits(std::span<const uint64_t> state, std::span<const int64_t> shape)
      : key_(split_words(state[0])), counter_(state[1]) {
    if (shape.empty()) return;
    const size_t s = split_dimension(shape);
    size_ = shape[s];
    for (size_t d = s + 1; d < shape.size(); ++d) inner_ *= shape[d];
    for (size_t d = 0; d < s; ++d) outer_ *= shape[d];
  }

  std::array<uint32_t, 2> block(uint64_t number) const {
    return threefry2x32(split_words(counter_ + number), key_);
  }
  uint32_t bits32(int64_t element) const {
    const int64_t inner = element % inner_;
    const int64_t coordinate = element / inner_ % size_;
    const int64_t outer = element / inner_ / size_;
    return block((outer * half() + coordinate / 2) * inner_ + inner)[coordinate % 2];
  }
  uint64_t bits64(int64_t element) const {
    const auto [low, high] = block(element);
    return join_words(low, high);
  }

  int64_t num_blocks(int bit_width) const {
    return bit_width == 64 ? outer_ * size_ * inner_ : outer_ * half() * inner_;
  }
  static void advance(std::span<uint64_t> state, int64_t blocks) {
    state[1] += static_cast<uint64_t>(blocks);
  }

 private:
  static size_t split_dimension(std::span<const int64_t> shape) {
    size_t largest = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] % 2 == 0) return d;
      if (shape[d] > shape[largest]) largest = d;
    }
    return largest;
  }
  int64_t half() const { return (size_ + 1) / 2; }

  std::array<uint32_t, 2> key_;
  uint64_t counter_;
  int64_t outer_ = 1, size_ = 1, inner_ = 1;
};

}  // namespace tpu::hlo
