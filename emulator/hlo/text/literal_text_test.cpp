#include "emulator/hlo/text/literal_text.h"

#include <gtest/gtest.h>

#include <cstring>

#include "emulator/base/error.h"
#include "emulator/base/property.h"
#include "emulator/hlo/testing/rng.h"
#include "emulator/hlo/testing/values.h"
#include "emulator/hlo/text/float_text.h"

namespace tpu::hlo::text {
namespace {

constexpr ElementType kFloats[] = {
    ElementType::kF8E4M3FN,   ElementType::kF8E5M2,        ElementType::kF8E4M3FNUZ,
    ElementType::kF8E5M2FNUZ, ElementType::kF8E4M3B11FNUZ, ElementType::kBF16,
    ElementType::kF16,        ElementType::kF32,           ElementType::kF64};

Literal reparsed(const std::string& text) {
  Lexer lexer(text);
  Literal literal = parse_literal(lexer);
  EXPECT_TRUE(lexer.at(TokenKind::kEnd));
  return literal;
}

void expect_float_survives(ElementType type, uint64_t encoding) {
  const std::string text = float_text(type, encoding);
  Lexer lexer(text);
  ASSERT_EQ(parse_float(lexer, type), encoding) << name(type) << " printed as " << text;
}

TEST(FloatText, EveryNarrowFloatSurvives) {
  for (const ElementType type : kFloats) {
    if (bit_width(type) > 16) continue;
    const uint64_t end = uint64_t{1} << bit_width(type);
    for (uint64_t encoding = 0; encoding < end; ++encoding) expect_float_survives(type, encoding);
  }
}

TEST(FloatText, RandomWideFloatsSurvive) {
  const uint64_t seed = tpu::testing::seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  testing::Rng rng(seed);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = rng.bits();
    expect_float_survives(ElementType::kF32, bits >> 32);
    expect_float_survives(ElementType::kF64, bits);
    // Few significant bits, so that short decimals come up.
    expect_float_survives(ElementType::kF64, bits & 0xffff'0000'0000'0000);
  }
}

TEST(FloatText, SpellsAsMlirDoes) {
  const auto f32 = [](float value) {
    uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof(bits));
    return float_text(ElementType::kF32, bits);
  };
  EXPECT_EQ(f32(1.0f), "1.000000e+00");
  EXPECT_EQ(f32(-0.0f), "-0.000000e+00");
  EXPECT_EQ(f32(0.1f), "1.000000e-01");
  EXPECT_EQ(f32(0.01f), "0.00999999977");
  EXPECT_EQ(f32(12345.6789f), "12345.6787");
  EXPECT_EQ(f32(3.4028235e38f), "3.40282347E+38");
  EXPECT_EQ(f32(0.000123456789f), "1.2345679E-4");
  EXPECT_EQ(f32(1234567.0f), "0x4996B438");
  EXPECT_EQ(f32(std::numeric_limits<float>::infinity()), "0x7F800000");
  EXPECT_EQ(float_text(ElementType::kF16, 0x2e66), "9.997550e-02");
}

TEST(LiteralText, RandomLiteralsSurvive) {
  const uint64_t seed = tpu::testing::seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  testing::Rng rng(seed);
  const auto last = static_cast<int64_t>(ElementType::kComplexF64);
  for (int i = 0; i < 3000; ++i) {
    TensorType type{static_cast<ElementType>(rng.between(0, last)), {}};
    // Both sides of the limit above which bytes are printed.
    for (int64_t rank = rng.below(4); rank > 0; --rank) type.shape.push_back(rng.below(7));
    const Literal literal = testing::random_literal(rng, type);
    const std::string text = literal_text(literal);
    ASSERT_EQ(reparsed(text), literal) << text;
  }
}

TEST(LiteralText, SpellsSplatsListsAndBytes) {
  const auto ints = [](ElementType type, const Dims& shape, int64_t count) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(i % 100);
    return literal_text(from_ints(type, shape, values));
  };
  EXPECT_EQ(ints(ElementType::kSI32, {2, 2}, 4), "dense<[[0, 1], [2, 3]]> : tensor<2x2xi32>");
  EXPECT_EQ(literal_text(splat({ElementType::kBF16, {5}}, 2.0)),
            "dense<2.000000e+00> : tensor<5xbf16>");
  EXPECT_EQ(literal_text(scalar(ElementType::kI1, int64_t{1})), "dense<true> : tensor<i1>");
  EXPECT_EQ(literal_text(splat({ElementType::kF32, {0, 2}}, 1.0)), "dense<> : tensor<0x2xf32>");
  EXPECT_TRUE(ints(ElementType::kUI8, {100}, 100).starts_with("dense<[0, 1, 2"));
  EXPECT_TRUE(ints(ElementType::kUI8, {101}, 101).starts_with("dense<\"0x000102"));
}

TEST(LiteralText, ReadsOtherSpellings) {
  const Literal minus_one = splat({ElementType::kSI8, {2}}, int64_t{-1});
  EXPECT_EQ(reparsed("dense<0xFF> : tensor<2xi8>"), minus_one);
  EXPECT_EQ(reparsed("dense<255> : tensor<2xi8>"), minus_one);
  EXPECT_EQ(reparsed("dense<\"0xFF\"> : tensor<2xi8>"), minus_one);
  EXPECT_EQ(reparsed("dense<\"0xFFff\"> : tensor<2xi8>"), minus_one);
  EXPECT_EQ(reparsed("dense<1> : tensor<2xi1>"), splat({ElementType::kI1, {2}}, int64_t{1}));
  EXPECT_EQ(reparsed("dense<\"0x0F\"> : tensor<3xi4>"),
            splat({ElementType::kSI4, {3}}, int64_t{-1}));
  EXPECT_EQ(reparsed("dense<[[], []]> : tensor<2x0xf32>"),
            Literal(TensorType{ElementType::kF32, {2, 0}}));
  EXPECT_EQ(reparsed("dense<1.e5> : tensor<f32>"), scalar(ElementType::kF32, 1e5));
}

TEST(LiteralText, RefusesWhatDoesNotFit) {
  for (const char* text : {"dense<-129> : tensor<2xi8>",
                           "dense<256> : tensor<2xi8>",
                           "dense<1> : tensor<2xf32>",
                           "dense<1.0> : tensor<2xi32>",
                           "dense<true> : tensor<2xi8>",
                           "dense<-1> : tensor<ui8>",
                           "dense<(1.0)> : tensor<complex<f32>>",
                           "dense<[1.0]> : tensor<f32>",
                           "dense<2> : tensor<i1>",
                           "dense<[1, 2]> : tensor<3xi32>",
                           "dense<[[1], [2, 3]]> : tensor<2x1xi32>",
                           "dense<[1, [2]]> : tensor<2xi32>",
                           "dense<[[1], 2]> : tensor<2x1xi32>",
                           "dense<-0x7FC00000> : tensor<f32>",
                           "dense<0x1FC00000000> : tensor<f32>",
                           "dense<\"0x010203\"> : tensor<2xi8>",
                           "dense<\"0x0G\"> : tensor<i8>",
                           "dense<\"01\"> : tensor<i8>",
                           "dense<> : tensor<2xi8>",
                           "dense<1.0e999> : tensor<f64>",
                           "dense<18446744073709551616> : tensor<ui64>",
                           "dense<9223372036854775808> : tensor<i64>",
                           "dense<1.0> : tensor<1000000x1000000xf32>"}) {
    Lexer lexer(text);
    EXPECT_THROW(parse_literal(lexer), InvalidArgument) << text;
  }
}

}  // namespace
}  // namespace tpu::hlo::text
