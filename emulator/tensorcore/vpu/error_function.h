// erf, erfc, erf_inv.
#pragma once

#include "emulator/tensorcore/vpu/exponential.h"
#include "emulator/tensorcore/vpu/logarithm.h"

namespace tpu::tensorcore {

namespace internal {

inline constexpr double kErfSlope = 0x1.20dd750429b6dp+0;  // 2 / sqrt(pi)
inline constexpr double kErfSlopeLow = 0x1.1ae3a914fed80p-56;

/// erfc(a) for a in [0, 28] as e^(-a^2) times (a + 2) erfcx(a), a function of (a - 2) / (a + 2)
/// that is nearly flat (after Shepherd and Laframboise, 1981), over a + 2.
template <Machine M, size_t N, size_t K>
Value<M, double> erfc_positive(Value<M, double> a, const std::array<double, N>& erfcx_table,
                               const std::array<double, K>& exponential_table) {
  const auto inverse = 1.0 / (a + 2.0);
  const auto t = (a - 2.0) * inverse;
  const auto [square, square_low] = exact_product(a, a);
  const auto power = exp_in_range(at_least(-square, -746.0), exponential_table);
  const auto result = power * (polynomial(t, erfcx_table) * inverse);
  return fma(-square_low, result, result);
}

/// erf(x) for |x| < 1.
template <Machine M>
Value<M, double> erf_small(Value<M, double> x) {
  const auto z = x * x;
  const auto slope_error = fma(z, polynomial(z, kErfF64), kErfSlopeLow);
  return fma(x, kErfSlope, x * slope_error);
}

/// erf_inv(x) / x from w = -log(1 - x^2).
template <Machine M, size_t N>
Value<M, double> erf_inv_ratio(Value<M, double> w, const std::array<double, N>& tail_table) {
  return select(w < 5.0, polynomial(w, kErfInvCenter), polynomial(sqrt(w), tail_table));
}

}  // namespace internal

/// The error function.
///
/// float: erf(a) = 1 - e^-q(a) with a polynomial q(a) = -log(erfc(a)). As 1 - e^-q is formed
/// without cancellation, the relative precision holds down to 0 without a second formula. The two
/// polynomials follow each other; by Horner's scheme the chain took 95 cycles and GELU waited for
/// it.
template <Machine M>
Value<M, float> erf(Value<M, float> x) {
  using F = Format<float>;
  constexpr float kShift = F::kRound + F::kBias;
  constexpr float kSlope = static_cast<float>(internal::kErfSlope);
  constexpr float kSlopeLow = static_cast<float>(internal::kErfSlope - kSlope);
  const auto a = at_most(abs(x), 3.93f);  // erf rounds to 1 from there on
  const auto q = fma(a, kSlope, fma(a * a, estrin(a, kErfcExponentF32), a * kSlopeLow));
  const auto shifted = fma(q, -F::kLog2E, kShift);
  const auto n = shifted - kShift;
  const auto r = fma(n, F::kLn2, q);
  const auto tail = fma(r * r, estrin(r, kMinusExpm1F32), r);
  const auto power = float_of(bits(shifted).shl(F::kMantissaBits));
  return with_sign(abs(fma(power, tail, 1.0f - power)), x);
}
template <Machine M>
Value<M, double> erf(Value<M, double> x) {
  const auto a = at_most(abs(x), 6.0);
  const auto large = with_sign(1.0 - internal::erfc_positive(a, kErfcxF64, kExpF64), x);
  return select(abs(x) < 1.0, internal::erf_small(x), select(is_nan(x), x, large));
}

/// 1 - erf(x) without cancellation.
template <Machine M>
Value<M, float> erfc(Value<M, float> x) {
  const auto a = at_most(abs(widen(x)), 11.0);
  const auto positive = internal::erfc_positive(a, kErfcxWide, kExpWide);
  return narrow(select(x < 0.0f, 2.0 - positive, positive));
}
template <Machine M>
Value<M, double> erfc(Value<M, double> x) {
  const auto a = at_most(abs(x), 28.0);
  const auto positive = internal::erfc_positive(a, kErfcxF64, kExpF64);
  const auto near_zero = 1.0 - internal::erf_small(x);
  return select(a < 0.25, near_zero, select(x < 0.0, 2.0 - positive, positive));
}

/// The inverse of erf; infinite at +-1, NaN beyond.
template <Machine M>
Value<M, float> erf_inv(Value<M, float> x) {
  const auto wide = widen(x);
  const auto w = -internal::log_wide(fma(-wide, wide, 1.0));
  const auto result = narrow(wide * internal::erf_inv_ratio(w, kErfInvTailWide));
  const auto a = abs(x);
  const auto infinite = with_sign(x.constant(kInfinity<float>), x);
  return select(a < 1.0f, result, select(a == 1.0f, infinite, kNan<float>));
}
/// double: a step of Halley's method, of third order, from a start that is good to 2^-24.
template <Machine M>
Value<M, double> erf_inv(Value<M, double> x) {
  const auto a = abs(x);
  const auto w = -internal::log_wide((1.0 - a) * (1.0 + a));
  const auto start = a * internal::erf_inv_ratio(w, kErfInvTailF64);
  const auto beyond = 1.0 - a - internal::erfc_positive(start, kErfcxF64, kExpF64);
  // Up to a result of 1/2: there the result has a bit more than erfc(start), whose error would
  // count twice.
  const auto error = select(a < 0x1.0a8p-1, internal::erf_small(start) - a, beyond);
  const auto slope = internal::kErfSlope * internal::exp_in_range(-(start * start), kExpWide);
  const auto newton = error / slope;
  const auto result = start - newton / fma(start, newton, 1.0);
  const auto infinite = with_sign(x.constant(kInfinity<double>), x);
  // Near 0, erf_inv(x) = sqrt(pi) / 2 x; the step would work on subnormals.
  const auto tiny = fma(a, 0x1.c5bf891b4ef6bp-1, a * -0x1.618f13eb7ca89p-55);
  const auto finite = with_sign(abs(select(a < 0x1p-28, tiny, result)), x);
  return select(a < 1.0, finite, select(a == 1.0, infinite, kNan<double>));
}

}  // namespace tpu::tensorcore
