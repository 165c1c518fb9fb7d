#include "emulator/compiler/kernels/fft.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using tpu::testing::check_property;

OpCase random_fft(Choices& choices) {
  const std::string type = pick(choices, std::vector<std::string>{"FFT", "IFFT", "RFFT", "IRFFT"});
  const bool wide = choices.coin();
  const ElementType real = wide ? ElementType::kF64 : ElementType::kF32;
  const ElementType complex = wide ? ElementType::kComplexF64 : ElementType::kComplexF32;
  Dims shape = random_shape(choices, choices.in(0, 2), 3), lengths;
  const int64_t rank = choices.in(1, 3);
  for (int64_t d = 0; d < rank; ++d) {
    lengths.push_back(rank == 1 ? choices.in(1, 64) : choices.in(1, 9));
    shape.push_back(lengths.back());
  }
  if (type == "IRFFT") shape.back() = lengths.back() / 2 + 1;
  const TensorType operand{type == "RFFT" ? real : complex, shape};
  return {OpKind::kFft,
          {random_literal(choices, operand, Values::kSmall)},
          {{"fft_type", hlo::EnumValue{type}}, {"fft_length", lengths}}};
}

TEST(Fft, GivesTheEvaluatorsBits) {
  check_property(200, [](Choices& choices) {
    return difference_from_evaluator(choices, random_fft(choices));
  });
}

TEST(Fft, FindsTheToneInALongLine) {
  // A cosine of 5 periods over 3 * 2^12 samples has two lines in its spectrum, of n / 2 each.
  const int64_t n = 3 << 12;
  Literal wave({ElementType::kF64, {n}});
  for (int64_t i = 0; i < n; ++i) {
    wave.mutable_as<double>()[static_cast<size_t>(i)] =
        std::cos(2 * std::numbers::pi * 5 * static_cast<double>(i) / static_cast<double>(n));
  }
  Choices choices(tpu::testing::seed());
  const Literal spectrum =
      run_kernel(choices, fft, std::vector{wave}, {{ElementType::kComplexF64, {n / 2 + 1}}},
                 {{"fft_type", hlo::EnumValue{"RFFT"}}, {"fft_length", Dims{n}}})[0];
  for (size_t k = 0; k <= static_cast<size_t>(n / 2); ++k) {
    const double expected = k == 5 ? static_cast<double>(n) / 2 : 0;
    ASSERT_NEAR(spectrum.as<double>()[2 * k], expected, 1e-8) << k;
    ASSERT_NEAR(spectrum.as<double>()[2 * k + 1], 0, 1e-8) << k;
  }
}

}  // namespace
}  // namespace tpu::compiler::kernels
