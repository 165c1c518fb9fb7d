// pow.
#pragma once

#include "emulator/tensorcore/vpu/exponential.h"
#include "emulator/tensorcore/vpu/logarithm.h"

namespace tpu::tensorcore {

namespace internal {

/// Turns |x|^y into pow(x, y): sign and the special cases of C99 (F.9.4.4). `magnitude` must be
/// right for |x| other than 1 with y other than 0, infinities included.
template <Machine M, typename T>
Value<M, T> with_pow_specials(Value<M, T> x, Value<M, T> y, Value<M, T> magnitude) {
  const auto half = y * T{0.5};
  const auto integral = round_even(y) == y;
  const auto odd = integral & (round_even(half) != half);
  const auto nan = x.constant(kNan<T>);
  // No real value; an infinite x has |x|^y as every real y comes from even ones, in C99's view.
  const auto undefined = (x < T{0}) & (x > -kInfinity<T>)&!integral;
  const auto result = select(undefined, nan, select(odd & sign_bit(x), -magnitude, magnitude));
  return select((y == T{0}) | (x == T{1}), T{1}, result);
}

/// log(x) = high + low with 10 bits or more beyond double, for x > 0.
///
/// log(m) = 2 s + 2/3 s^3 + s^5 P(s^2), s = (m - 1) / (m + 1): the first two terms need double the
/// precision, the rest is below 2^-12 of the first.
template <Machine M>
Sum2<M, double> log_precise(Value<M, double> x) {
  const auto [m, k] = split(x);
  const auto f = m - 1.0;
  const auto [denominator, denominator_low] = exact_sum(f, f.constant(2.0));
  const auto s = f / denominator;
  const auto remainder = fma(-s, denominator_low, fma(-s, denominator, f));
  const auto s_low = remainder / denominator;
  const auto [z, z_error] = exact_product(s, s);
  const auto z_low = fma(s + s, s_low, z_error);
  // 2/3 z + z^2 P(z), the first in two parts.
  constexpr double kTwoThirds = 0x1.5555555555555p-1;
  constexpr double kTwoThirdsLow = 0x1.5555555555555p-55;
  const auto [third, third_error] = exact_product(z, z.constant(kTwoThirds));
  const auto third_low = fma(z, kTwoThirdsLow, fma(z_low, kTwoThirds, third_error));
  const auto [tail, tail_low] =
      exact_sum_ordered(third, fma(z * z, polynomial(z, kLogPreciseF64), third_low));
  const auto [cubic, cubic_error] = exact_product(s, tail);
  const auto cubic_low = fma(s, tail_low, fma(s_low, tail, cubic_error));
  // k ln 2 + 2 s + cubic, largest first.
  const auto [sum, sum_low] = exact_sum(k * Format<double>::kLn2High, s + s);
  const auto [high, low] = exact_sum(sum, cubic);
  const auto rest = low + sum_low + fma(k, Format<double>::kLn2Low, s_low + s_low + cubic_low);
  const auto [result, result_low] = exact_sum_ordered(high, rest);
  return {result, result_low};
}

}  // namespace internal

/// x^y. float: 2^(y log2|x|) in double.
template <Machine M>
Value<M, float> pow(Value<M, float> x, Value<M, float> y) {
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr double kShift = Format<double>::kRound + Format<double>::kBias;
  const auto a = abs(x);
  auto log = internal::log2_wide(widen(a));
  log = select(widen(a) < kInfinity<double>, log, widen(a));
  log = select(a == 0.0f, -kInfinity<double>, log);
  // A finite y keeps log2(1) y = 0.
  const auto exponent = log * widen(at_least(at_most(y, kMax), -kMax));
  const auto in_range = at_least(at_most(exponent, 200.0), -200.0);
  const auto shifted = in_range + kShift;
  const auto r = in_range - (shifted - kShift);
  const auto power = float_of(bits(shifted).shl(52));
  const auto magnitude = narrow(power * polynomial(r, kExp2Wide));
  return internal::with_pow_specials(x, y, magnitude);
}
/// double: e^(y log|x|), the exponent in two parts.
template <Machine M>
Value<M, double> pow(Value<M, double> x, Value<M, double> y) {
  constexpr double kMax = std::numeric_limits<double>::max();
  const auto a = abs(x);
  const auto [log, log_low] = internal::log_precise(a);
  const auto finite_y = at_least(at_most(y, kMax), -kMax);
  const auto ordinary = (a < kInfinity<double>)&(a > 0.0);
  const auto [product, error] = exact_product(log, finite_y);
  const auto special = select(a == 0.0, -kInfinity<double>, a) * finite_y;
  const auto exponent = select(ordinary, product, special);
  const auto in_range = at_least(at_most(exponent, 710.0), -746.0);
  const auto low = fma(log_low, finite_y, error);
  const auto usable_low = select(in_range == product, low, x.constant(0.0));
  const auto magnitude = internal::exp_of_sum(in_range, usable_low);
  return internal::with_pow_specials(x, y, magnitude);
}

}  // namespace tpu::tensorcore
