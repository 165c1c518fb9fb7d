#include "emulator/hlo/literal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "emulator/base/error.h"
#include "emulator/base/property.h"

namespace tpu::hlo {
namespace {

using enum ElementType;

const std::vector<ElementType> kIntegers = {kSI4, kSI8, kSI16, kSI32, kSI64,
                                            kUI4, kUI8, kUI16, kUI32, kUI64};
const std::vector<ElementType> kNarrowFloats = {kF8E4M3FN,      kF8E5M2, kF8E4M3FNUZ, kF8E5M2FNUZ,
                                                kF8E4M3B11FNUZ, kBF16,   kF16};

// The value of a signed or unsigned number of `bits` bits, by its definition.
int64_t modulo(int64_t value, int bits, bool is_signed) {
  if (bits == 64) return value;
  const int64_t size = int64_t{1} << bits;
  int64_t rest = value % size;
  if (rest < 0) rest += size;
  return is_signed && rest >= size / 2 ? rest - size : rest;
}

TEST(Literal, IntegersWrap) {
  testing::check_property(2000, [](testing::Choices& choices) -> std::string {
    const ElementType type = kIntegers[choices.in(0, static_cast<int64_t>(kIntegers.size()) - 1)];
    const int shift = static_cast<int>(choices.in(0, 62));
    const int64_t value = choices.in(-1000, 1000) * (int64_t{1} << shift >> 10);
    const int64_t want = modulo(value, bit_width(type), is_signed_integer(type));
    const int64_t got = decode_int(scalar(type, value), 0);
    if (got == want) return "";
    return std::string(name(type)) + " of " + std::to_string(value) + " is " + std::to_string(got);
  });
}

TEST(Literal, DoublesBecomeIntegersByTruncationAndWrapping) {
  EXPECT_EQ(decode_int(scalar(kSI32, 2.9), 0), 2);
  EXPECT_EQ(decode_int(scalar(kSI32, -2.9), 0), -2);
  EXPECT_EQ(decode_int(scalar(kUI8, 257.5), 0), 1);
  EXPECT_EQ(decode_int(scalar(kUI8, -1.0), 0), 255);
  EXPECT_EQ(decode_int(scalar(kSI4, 9.0), 0), -7);
  EXPECT_EQ(decode_double(scalar(kUI64, 0x1p63), 0), 0x1p63);
  EXPECT_EQ(decode_int(scalar(kSI64, 0x1p64 + 4096), 0), 4096);
  EXPECT_EQ(decode_int(scalar(kSI16, std::nan("")), 0), 0);
}

TEST(Literal, FourBitValuesTakeAByteEach) {
  const Literal signed_bits = scalar(kSI4, int64_t{-3});
  EXPECT_EQ(signed_bits.as<int8_t>()[0], -3);
  EXPECT_EQ(scalar(kUI4, int64_t{-3}).as<uint8_t>()[0], 13);
}

TEST(Literal, BooleansAreZeroAndOne) {
  EXPECT_EQ(scalar(kI1, int64_t{256}).as<uint8_t>()[0], 1);
  EXPECT_EQ(scalar(kI1, 0.25).as<uint8_t>()[0], 1);
  EXPECT_EQ(scalar(kI1, 0.0).as<uint8_t>()[0], 0);
}

// Every code of every narrow float decodes to a number that encodes to the code again.
TEST(Literal, NarrowFloatsRoundTrip) {
  for (ElementType type : kNarrowFloats) {
    const int64_t codes = int64_t{1} << bit_width(type);
    Literal all(TensorType{type, {codes}});
    const int width = byte_width(type);
    for (int64_t code = 0; code < codes; ++code) {
      std::memcpy(all.mutable_bytes().data() + code * width, &code, width);
    }
    for (int64_t code = 0; code < codes; ++code) {
      const double value = decode_double(all, code);
      const std::vector<std::byte> back = encode(type, value);
      if (std::isnan(value)) {
        const Literal nan(TensorType{type, {}}, back);
        ASSERT_TRUE(std::isnan(decode_double(nan, 0))) << name(type) << " " << code;
        continue;
      }
      int64_t got = 0;
      std::memcpy(&got, back.data(), width);
      ASSERT_EQ(got, code) << name(type) << " " << value;
    }
  }
}

// A large integer next to a tie: rounding to double first would round the wrong way.
TEST(Literal, IntegersRoundToFloatsOnce) {
  const int64_t tie = (int64_t{1} << 60) + (int64_t{1} << 52);  // between two bf16 numbers
  EXPECT_EQ(decode_double(scalar(kBF16, tie), 0), 0x1p60);
  EXPECT_EQ(decode_double(scalar(kBF16, tie + 1), 0), 0x1p60 + 0x1p53);
  EXPECT_EQ(decode_double(scalar(kBF16, -tie - 1), 0), -0x1p60 - 0x1p53);
  EXPECT_EQ(decode_double(scalar(kF32, (int64_t{1} << 60) + (int64_t{1} << 36) + 1), 0),
            0x1p60 + 0x1p37);
}

TEST(Literal, ComplexNumbersHaveARealPart) {
  const Literal value = scalar(kComplexF32, 1.5);
  EXPECT_EQ(value.bytes().size(), 8u);
  EXPECT_EQ(value.as<float>()[0], 1.5f);
  EXPECT_EQ(value.as<float>()[1], 0.0f);
  EXPECT_EQ(decode_double(scalar(kComplexF64, int64_t{-7}), 0), -7.0);
}

TEST(Literal, CopiesShareBytesUntilWritten) {
  const Literal original = splat(TensorType{kF32, {2, 3}}, 4.0);
  Literal copy = original;
  EXPECT_EQ(copy.bytes().data(), original.bytes().data());
  copy.mutable_as<float>()[5] = 1.0f;
  EXPECT_EQ(decode_double(original, 5), 4.0);
  EXPECT_EQ(decode_double(copy, 5), 1.0);
  EXPECT_TRUE(original.is_splat());
  EXPECT_FALSE(copy.is_splat());
}

TEST(Literal, EqualityIsOfTypesAndBytes) {
  EXPECT_EQ(splat(TensorType{kF32, {2}}, 1.0), splat(TensorType{kF32, {2}}, int64_t{1}));
  EXPECT_FALSE(scalar(kF32, 0.0) == scalar(kF32, -0.0));
  EXPECT_FALSE(scalar(kSI32, int64_t{0}) == scalar(kUI32, int64_t{0}));
  EXPECT_FALSE(splat(TensorType{kF32, {2}}, 1.0) == splat(TensorType{kF32, {2, 1}}, 1.0));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(scalar(kF32, nan), scalar(kF32, nan));
}

TEST(Literal, EmptyArraysAreNoSplats) {
  const Literal empty(TensorType{kF32, {3, 0}});
  EXPECT_FALSE(empty.is_splat());
  EXPECT_EQ(empty.bytes().size(), 0u);
  EXPECT_EQ(empty, Literal(TensorType{kF32, {3, 0}}));
  EXPECT_TRUE(scalar(kF32, 1.0).is_splat());
}

TEST(Literal, RefusesTheWrongAmount) {
  EXPECT_THROW(Literal(TensorType{kF32, {2}}, std::vector<std::byte>(7)), InvalidArgument);
  const int64_t values[] = {1, 2, 3};
  EXPECT_THROW(from_ints(kSI64, {2}, values), InvalidArgument);
  EXPECT_THROW(decode_int(from_ints(kSI64, {3}, values), 3), InvalidArgument);
  EXPECT_THROW(scalar(kToken, 1.0), InvalidArgument);
}

TEST(Literal, FromIntsIsRowMajor) {
  const int64_t values[] = {0, 1, 2, 3, 4, 5};
  const Literal literal = from_ints(kSI16, {2, 3}, values);
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(decode_int(literal, i), i);
}

}  // namespace
}  // namespace tpu::hlo
