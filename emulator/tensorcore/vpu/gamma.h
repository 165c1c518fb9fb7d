// lgamma and digamma. float arguments are evaluated in double.
#pragma once

#include "emulator/tensorcore/vpu/logarithm.h"
#include "emulator/tensorcore/vpu/trigonometric.h"

namespace tpu::tensorcore {

namespace internal {

/// log(Gamma(x)) for x > 0, finite.
///
/// Below 8, x is moved into [1, 2.5] by Gamma(x + 1) = x Gamma(x), where a polynomial has lgamma's
/// zeros 1 and 2 as factors; from 8 on Stirling's series.
template <Machine M>
Value<M, double> lgamma_positive(Value<M, double> x) {
  const auto below = x < 1.0;
  auto product = select(below, x, 1.0);
  auto z = x;
  for (int step = 0; step < 6; ++step) {
    const auto move = z >= 2.5;
    z = select(move, z - 1.0, z);
    product = select(move, product * z, product);
  }
  // From below 1, the argument is x + 1, but the sum would be rounded; so the factors are taken
  // from x.
  const auto from_1 = select(below, x, z - 1.0);
  const auto from_2 = from_1 - 1.0;
  const auto large = x >= 8.0;
  const auto log = log_accurate(select(large, x, product), x.constant(0.0));
  const auto ratio = polynomial(from_1 - 0.75, kLgammaF64);
  const auto near = fma(from_1 * from_2, ratio, select(below, -log, log));

  constexpr double kHalfLog2Pi = 0x1.d67f1c864beb5p-1;
  const auto inverse = 1.0 / x;
  const auto series = fma(inverse, polynomial(inverse * inverse, kStirlingF64), kHalfLog2Pi);
  const auto [main, main_low] = exact_product(x - 0.5, log - 1.0);
  const auto far = main + (select(main < kInfinity<double>, main_low, 0.0) + (series - 0.5));
  return select(large, far, near);
}

/// digamma(x) for x > 0, finite.
///
/// Below 8, x is moved into [1, 2], where a polynomial vanishes at digamma's root as digamma does.
template <Machine M>
Value<M, double> digamma_positive(Value<M, double> x) {
  const auto below = x < 1.0;
  auto z = x;
  // The sum of 1 / z over the steps down, as one fraction.
  auto numerator = select(below, -1.0, x.constant(0.0));
  auto denominator = select(below, x, x.constant(1.0));
  for (int step = 0; step < 6; ++step) {
    const auto move = z >= 2.0;
    z = select(move, z - 1.0, z);
    numerator = select(move, fma(numerator, z, denominator), numerator);
    denominator = select(move, denominator * z, denominator);
  }
  constexpr double kRoot = 0x1.762d86356be3fp+0;
  constexpr double kRootLow = 0x1.b86a722197829p-54;
  const auto t = (z - select(below, kRoot - 1.0, x.constant(kRoot))) - kRootLow;
  const auto near = fma(t, polynomial(t, kDigammaF64), numerator / denominator);

  const auto inverse = 1.0 / x;
  const auto w = inverse * inverse;
  const auto correction = fma(inverse, -0.5, w * polynomial(w, kDigammaAsymptoticF64));
  const auto far = log_accurate(x, correction * x);
  return select(x >= 8.0, far, near);
}

template <Machine M>
Value<M, double> lgamma_any(Value<M, double> x) {
  const auto a = abs(x);
  const auto positive = lgamma_positive(a);
  // Gamma(-a) = -pi / (a sin(pi a) Gamma(a)); whole numbers are poles.
  const auto [sine, cosine] = sin_cos_pi(x - round_even(x));
  const auto product = a * abs(sine);
  const auto log = log_accurate(product / kPiHigh, x.constant(0.0));
  const auto negative = -(log + positive);
  // Near 0, where the product may underflow, Gamma(x) = 1 / x.
  const auto reflect = x < -0x1p-60;
  const auto pole = (x <= 0.0) & (floor(x) == x);
  const auto result = select(reflect, negative, positive);
  return select(is_nan(x), x, select(pole | (a == kInfinity<double>), kInfinity<double>, result));
}

template <Machine M>
Value<M, double> digamma_any(Value<M, double> x) {
  // digamma(1 - x) - pi / tan(pi x) for x < 0.
  const auto reflect = x < 0.0;
  const auto positive = digamma_positive(select(reflect, 1.0 - x, x));
  const auto [sine, cosine] = sin_cos_pi(x - round_even(x));
  const auto result = select(reflect, positive - kPiHigh * (cosine / sine), positive);
  const auto pole = reflect & (floor(x) == x);
  const auto at_zero = with_sign(x.constant(kInfinity<double>), -x);
  const auto finite = select(pole, kNan<double>, select(x == 0.0, at_zero, result));
  return select(x == kInfinity<double>, x, finite);
}

}  // namespace internal

/// log |Gamma(x)|; +inf at 0, at negative whole numbers and at both infinities.
template <Machine M>
Value<M, float> lgamma(Value<M, float> x) {
  return narrow(internal::lgamma_any(widen(x)));
}
template <Machine M>
Value<M, double> lgamma(Value<M, double> x) {
  return internal::lgamma_any(x);
}

/// The derivative of log Gamma; -inf at 0, +inf at -0, NaN at negative whole numbers and -inf.
template <Machine M>
Value<M, float> digamma(Value<M, float> x) {
  return narrow(internal::digamma_any(widen(x)));
}
template <Machine M>
Value<M, double> digamma(Value<M, double> x) {
  return internal::digamma_any(x);
}

}  // namespace tpu::tensorcore
