// rsqrt, cbrt, hypot.
#pragma once

#include "emulator/tensorcore/vpu/format.h"

namespace tpu::tensorcore {

/// 1 / sqrt(x): -inf for -0, NaN below 0.
template <Machine M, typename T>
Value<M, T> rsqrt(Value<M, T> x) {
  return T{1} / sqrt(x);
}

namespace internal {

/// The cube root of a finite positive normal x that is good to about 2^-48: the exponent divided by
/// three, and two steps of Halley's method y (y^3 + 2 x) / (2 y^3 + x).
template <Machine M>
Value<M, double> cbrt_start(Value<M, double> x) {
  // Bits of a float are nearly its logarithm; those of a double's upper half likewise. The constant
  // was chosen so that the error of the start is about the same to both sides.
  const auto upper = to_f64(truncate(bits(x).shr_logical(32)));
  const auto third = to_i32(round_even(fma(upper, 1.0 / 3, 715094163.0 - 1.0 / 3)));
  auto y = float_of(sign_extend(third).shl(32));
  for (int step = 0; step < 2; ++step) {
    const auto cube = y * y * y;
    y = y * ((cube + 2.0 * x) / (2.0 * cube + x));
  }
  return y;
}

}  // namespace internal

/// The cube root, also of negative numbers.
template <Machine M>
Value<M, float> cbrt(Value<M, float> x) {
  const auto a = abs(x);
  const auto result = with_sign(narrow(internal::cbrt_start(widen(a))), x);
  return select((a < kInfinity<float>)&(a > 0.0f), result, x);
}
template <Machine M>
Value<M, double> cbrt(Value<M, double> x) {
  const auto a = abs(x);
  const auto small = a < 0x1p-1000;
  const auto large = a > 0x1p1000;
  const auto scale = select(small, 0x1p300, select(large, 0x1p-300, x.constant(1.0)));
  const auto unscale = select(small, 0x1p-100, select(large, 0x1p100, x.constant(1.0)));
  const auto scaled = a * scale;
  const auto y = internal::cbrt_start(scaled);
  // Newton's step with y^3 - x to double the precision.
  const auto [square, square_low] = exact_product(y, y);
  const auto [cube, cube_low] = exact_product(square, y);
  const auto excess = (cube - scaled) + fma(square_low, y, cube_low);
  const auto result = y - excess / (3.0 * square);
  return select((a < kInfinity<double>)&(a > 0.0), with_sign(result * unscale, x), x);
}

/// sqrt(x^2 + y^2); infinite if either is, even beside a NaN.
template <Machine M>
Value<M, float> hypot(Value<M, float> x, Value<M, float> y) {
  const auto a = widen(x);
  const auto b = widen(y);
  const auto result = narrow(sqrt(fma(a, a, b * b)));
  const auto infinite = (abs(x) == kInfinity<float>) | (abs(y) == kInfinity<float>);
  return select(infinite, kInfinity<float>, result);
}
template <Machine M>
Value<M, double> hypot(Value<M, double> x, Value<M, double> y) {
  const auto a = abs(x);
  const auto b = abs(y);
  const auto swap = b > a;
  const auto larger = select(swap, b, a);
  const auto smaller = select(swap, a, b);
  const auto huge = larger > 0x1p500;
  const auto tiny = larger < 0x1p-500;
  const auto scale = select(huge, 0x1p-600, select(tiny, 0x1p600, x.constant(1.0)));
  const auto unscale = select(huge, 0x1p600, select(tiny, 0x1p-600, x.constant(1.0)));
  const auto l = larger * scale;
  const auto s = smaller * scale;
  const auto result = sqrt(fma(l, l, s * s)) * unscale;
  const auto infinite = (a == kInfinity<double>) | (b == kInfinity<double>);
  return select(infinite, kInfinity<double>, result);
}

}  // namespace tpu::tensorcore
