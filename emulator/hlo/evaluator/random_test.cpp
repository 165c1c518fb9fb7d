#include "emulator/hlo/evaluator/expect.h"
#include "emulator/hlo/evaluator/random_bits.h"

namespace tpu::hlo {
namespace {

// Test vectors of the Random123 library: counter, key, result.
TEST(RandomBits, KnownAnswers) {
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(threefry2x32({0, 0}, {0, 0}), (std::array<uint32_t, 2>{0x6b200159, 0x99ba4efe}));
  EXPECT_EQ(threefry2x32({kOnes, kOnes}, {kOnes, kOnes}),
            (std::array<uint32_t, 2>{0x1cb996fc, 0xbb002be7}));
}

// `state` has ui64 words; what XLA's CPU backend gives for the same.
void expect_random(const std::string& algorithm, const std::string& state, int words,
                   const std::string& next, const std::string& type, const std::string& expected) {
  const std::string state_type = "tensor<" + std::to_string(words) + "xui64>";
  expect_pairs("func.func @main() -> (" + state_type + ", " + state_type + ", " + type + ", " +
               type + ") {\n  %s = stablehlo.constant dense<" + state + "> : " + state_type +
               "\n  %0:2 = \"stablehlo.rng_bit_generator\"(%s) <{rng_algorithm = "
               "#stablehlo<rng_algorithm " +
               algorithm + ">}> : (" + state_type + ") -> (" + state_type + ", " + type +
               ")\n  %e0 = stablehlo.constant dense<" + next + "> : " + state_type +
               "\n  %e1 = stablehlo.constant dense<" + expected + "> : " + type +
               "\n  return %0#0, %e0, %0#1, %e1 : " + state_type + ", " + state_type + ", " + type +
               ", " + type + "\n}\n");
}

TEST(RandomBits, ThreefryAsXla) {
  expect_random("THREE_FRY", "[1, 2]", 2, "[1, 4]", "tensor<3xui32>",
                "[43444564, 2150618427, 3979645651]");
  expect_random("THREE_FRY", "[1, 2]", 2, "[1, 3]", "tensor<ui32>", "43444564");
  expect_random("THREE_FRY", "[1, 2]", 2, "[1, 4]", "tensor<2x2xui16>",
                "[[59732, 37587], [54587, 20483]]");
  expect_random("THREE_FRY", "[1, 2]", 2, "[1, 5]", "tensor<3xui64>",
                "[9236835810183407956, 16087790271692313299, 18212823393184779219]");
  expect_random("THREE_FRY", "[1, 2]", 2, "[1, 4]", "tensor<3xui4>", "[4, 11, 3]");
}

TEST(RandomBits, PhiloxAsXla) {
  expect_random("PHILOX", "[1, 2, 3]", 3, "[1, 4, 3]", "tensor<5xui32>",
                "[4031113034, 1366700262, 495645701, 3051723414, 89414891]");
  expect_random("PHILOX", "[1, 2, 3]", 3, "[1, 4, 3]", "tensor<3xui64>",
                "[5869932932755744586, 13107052260063114245, 8234580641674714347]");
  expect_random("DEFAULT", "[1, 2]", 2, "[1, 4]", "tensor<5xui32>",
                "[2100602697, 2847456232, 2074354647, 800269529, 1828267006]");
  // The counter carries into its high word.
  expect_random("PHILOX", "[1, 18446744073709551615, 3]", 3, "[1, 1, 4]", "tensor<5xui32>",
                "[3023135040, 2618764561, 763147620, 1543521082, 3140572256]");
}

}  // namespace
}  // namespace tpu::hlo
