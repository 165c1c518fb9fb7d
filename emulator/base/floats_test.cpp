#include "emulator/base/floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tpu {
namespace {

struct Case {
  const char* name;
  FloatFormat format;
};

const std::vector<Case> kCases = {{"bf16", kBF16},
                                  {"f16", kF16},
                                  {"f8E4M3FN", kF8E4M3FN},
                                  {"f8E5M2", kF8E5M2},
                                  {"f8E4M3FNUZ", kF8E4M3FNUZ},
                                  {"f8E5M2FNUZ", kF8E5M2FNUZ},
                                  {"f8E4M3B11FNUZ", kF8E4M3B11FNUZ}};

// The value of a code by the textbook formula, with ldexp instead of bit operations.
double textbook_value(uint64_t code, const FloatFormat& f) {
  const int top = (1 << f.exponent_bits) - 1;
  const int field = static_cast<int>(code >> f.mantissa_bits) & top;
  const int fraction = static_cast<int>(code & ((1u << f.mantissa_bits) - 1));
  const bool negative = code >> (f.bits() - 1) & 1;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  if (f.specials == FloatSpecials::kIeee && field == top) {
    return fraction ? nan : negative ? -infinity : infinity;
  }
  if (f.specials == FloatSpecials::kFiniteNan && field == top &&
      fraction == (1 << f.mantissa_bits) - 1) {
    return nan;
  }
  if (f.specials == FloatSpecials::kUnsigned && negative && field == 0 && fraction == 0) return nan;
  const double m = std::ldexp(fraction, -f.mantissa_bits);
  const double value = field == 0 ? std::ldexp(m, 1 - f.bias) : std::ldexp(1 + m, field - f.bias);
  return negative ? -value : value;
}

class Floats : public testing::TestWithParam<Case> {};

TEST_P(Floats, EveryCodeDecodesToItsTextbookValueAndBack) {
  const FloatFormat& f = GetParam().format;
  for (uint64_t code = 0; code < uint64_t{1} << f.bits(); ++code) {
    const double want = textbook_value(code, f);
    const double got = decode_float(code, f);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << code;
      ASSERT_TRUE(std::isnan(textbook_value(encode_float(got, f), f))) << code;
    } else {
      ASSERT_EQ(want, got) << code;
      ASSERT_EQ(std::signbit(want), std::signbit(got)) << code;
      ASSERT_EQ(encode_float(got, f), code);
    }
  }
}

// Between two neighbours everything below the midpoint goes down, above goes up, the midpoint to
// the even code. Together with the codes themselves this fixes the rounding of every double.
TEST_P(Floats, RoundsToNearestEven) {
  const FloatFormat& f = GetParam().format;
  const double infinity = std::numeric_limits<double>::infinity();
  for (uint64_t code = 0; code <= f.max_finite(); ++code) {
    const double low = textbook_value(code, f);
    // Past the largest number the rounding goes on as if the exponent range had no end.
    const double step = low - textbook_value(code - (code > 0), f);
    const double high = code < f.max_finite() ? textbook_value(code + 1, f) : low + step;
    const double middle = low + (high - low) / 2;
    const uint64_t up = code < f.max_finite() ? code + 1 : f.overflow(false);
    EXPECT_EQ(encode_float(std::nextafter(middle, 0), f), code);
    EXPECT_EQ(encode_float(std::nextafter(middle, infinity), f), up);
    EXPECT_EQ(encode_float(middle, f), code % 2 == 0 ? code : up);
    EXPECT_EQ(encode_float(std::nextafter(low, infinity), f), code);
    if (code > 0) {
      EXPECT_EQ(encode_float(-std::nextafter(middle, 0), f), code | f.sign_bit());
    }
  }
}

TEST_P(Floats, EdgesOfTheRange) {
  const FloatFormat& f = GetParam().format;
  const double infinity = std::numeric_limits<double>::infinity();
  for (double large : {infinity, 1e300}) {
    EXPECT_EQ(encode_float(large, f), f.overflow(false));
    EXPECT_EQ(encode_float(-large, f), f.overflow(true));
  }
  EXPECT_EQ(encode_float(1e-300, f), 0u);
  EXPECT_EQ(encode_float(5e-324, f), 0u);
  const bool has_negative_zero = f.specials != FloatSpecials::kUnsigned;
  EXPECT_EQ(encode_float(-0.0, f), has_negative_zero ? f.sign_bit() : 0u);
  EXPECT_EQ(encode_float(-1e-300, f), has_negative_zero ? f.sign_bit() : 0u);
}

INSTANTIATE_TEST_SUITE_P(Formats, Floats, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

// The largest numbers that the formats' definitions name.
TEST(FloatFormats, LargestNumbers) {
  EXPECT_EQ(decode_float(kF8E4M3FN.max_finite(), kF8E4M3FN), 448);
  EXPECT_EQ(decode_float(kF8E5M2.max_finite(), kF8E5M2), 57344);
  EXPECT_EQ(decode_float(kF8E4M3FNUZ.max_finite(), kF8E4M3FNUZ), 240);
  EXPECT_EQ(decode_float(kF8E5M2FNUZ.max_finite(), kF8E5M2FNUZ), 57344);
  EXPECT_EQ(decode_float(kF8E4M3B11FNUZ.max_finite(), kF8E4M3B11FNUZ), 30);
  EXPECT_EQ(decode_float(kF16.max_finite(), kF16), 65504);
}

// The quick functions against the general one: every 16-bit code, and floats all over the range
// (every 7919th, a prime that meets all low bits).
TEST(FastFloats, AgreeWithTheGeneralFunctions) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    const float bf16 = bf16_to_float(code), f16 = f16_to_float(code);
    const double want_bf16 = decode_float(code, kBF16), want_f16 = decode_float(code, kF16);
    if (!std::isnan(want_bf16)) {
      ASSERT_EQ(std::bit_cast<uint64_t>(double{bf16}), std::bit_cast<uint64_t>(want_bf16));
    }
    if (!std::isnan(want_f16)) {
      ASSERT_EQ(std::bit_cast<uint64_t>(double{f16}), std::bit_cast<uint64_t>(want_f16));
    }
    ASSERT_EQ(std::isnan(bf16), std::isnan(want_bf16)) << code;
    ASSERT_EQ(std::isnan(f16), std::isnan(want_f16)) << code;
  }
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += 7919) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(bf16_to_float(bf16_from_float(value))));
      ASSERT_TRUE(std::isnan(f16_to_float(f16_from_float(value))));
      continue;
    }
    ASSERT_EQ(bf16_from_float(value), encode_float(value, kBF16)) << value;
    ASSERT_EQ(f16_from_float(value), encode_float(value, kF16)) << value;
  }
}

TEST(FastFloats, HalfwayCasesOfF16) {
  for (uint64_t code = 0; code <= kF16.max_finite(); ++code) {
    const double low = decode_float(code, kF16);
    const double high = code < kF16.max_finite() ? decode_float(code + 1, kF16) : 65536.0;
    const float middle = static_cast<float>((low + high) / 2);
    for (float value : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, 1e9f)}) {
      ASSERT_EQ(f16_from_float(value), encode_float(value, kF16)) << value;
      ASSERT_EQ(f16_from_float(-value), encode_float(-value, kF16)) << value;
    }
  }
}

static_assert(bf16_from_float(1.0f) == 0x3f80 && f16_from_float(1.0f) == 0x3c00);
static_assert(f8_from_float(448.0f, kF8E4M3FN) == 0x7e && f8_to_float(0x38, kF8E4M3FN) == 1.0f);

}  // namespace
}  // namespace tpu
