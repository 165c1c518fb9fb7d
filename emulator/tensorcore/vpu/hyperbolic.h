// sinh, cosh, tanh and their inverses.
#pragma once

#include "emulator/tensorcore/vpu/exponential.h"
#include "emulator/tensorcore/vpu/logarithm.h"

namespace tpu::tensorcore {

namespace internal {

/// (e^|x| - 1) / 2 of a float in double, or of a double.
template <Machine M>
Value<M, double> half_expm1_of_abs(Value<M, float> x) {
  return half_expm1(at_most(abs(widen(x)), 90.0), kExpm1Wide);
}
template <Machine M>
Value<M, double> half_expm1_of_abs(Value<M, double> x) {
  return half_expm1(at_most(abs(x), 710.6), kExpm1F64);
}

/// With h = (e^|x| - 1) / 2, sinh |x| = h + h / (2 h + 1).
template <Machine M>
Value<M, double> sinh_from(Value<M, double> h) {
  // inf / inf would be NaN.
  return h + at_most(h, std::numeric_limits<double>::max()) / (h + h + 1.0);
}

/// cosh x = e^|x| / 2 + 1 / (4 (e^|x| / 2)).
template <Machine M>
Value<M, double> cosh_from(Value<M, double> h) {
  const auto half_power = h + 0.5;
  return half_power + 0.25 / half_power;
}

}  // namespace internal

/// The hyperbolic sine.
template <Machine M>
Value<M, float> sinh(Value<M, float> x) {
  return with_sign(narrow(internal::sinh_from(internal::half_expm1_of_abs(x))), x);
}
template <Machine M>
Value<M, double> sinh(Value<M, double> x) {
  const auto result = with_sign(internal::sinh_from(internal::half_expm1_of_abs(x)), x);
  return select(abs(x) < 0x1p-27, x, result);
}

/// The hyperbolic cosine.
template <Machine M>
Value<M, float> cosh(Value<M, float> x) {
  return narrow(internal::cosh_from(internal::half_expm1_of_abs(x)));
}
template <Machine M>
Value<M, double> cosh(Value<M, double> x) {
  return internal::cosh_from(internal::half_expm1_of_abs(x));
}

/// The hyperbolic tangent.
///
/// With h = (e^(2 |x|) - 1) / 2 it is h / (1 + h): for h < 1 as h - h (h / (1 + h)), above as
/// 1 - 1 / (1 + h), so that the quotient's error hardly counts.
template <Machine M, typename T>
Value<M, T> tanh(Value<M, T> x) {
  using F = Format<T>;
  constexpr bool kFloat = std::is_same_v<T, float>;
  constexpr T kShift = F::kRound + F::kBias;
  const auto a = at_most(abs(x), kFloat ? T{10} : T{20});
  const auto shifted = fma(a, 2 * F::kLog2E, kShift);
  const auto n = shifted - kShift;
  // a - n ln(2) / 2. The error of ln 2 is damped as e^(-2 a) and needs no second part.
  const auto r = fma(n, -F::kLn2 / 2, a);
  const auto tail = fma(r * r, polynomial(r, table_for<T>(kTanhF32, kTanhF64)), r);
  const auto power = float_of(bits(shifted).shl(F::kMantissaBits));
  const auto h = fma(power, tail, fma(power, T{0.5}, T{-0.5}));
  const auto base = at_most(h, T{1});
  const auto quotient = base / (h + T{1});
  return with_sign(abs(fma(-base, quotient, base)), x);
}

namespace internal {

/// Where squares might overflow, and 1 is nothing against them.
inline constexpr double kLargeForSquares = 0x1p60;

/// What asinh (|x|) is log1p of, for |x| below kLargeForSquares.
template <Machine M>
Value<M, double> asinh_argument(Value<M, double> a) {
  const auto square = a * a;
  return a + square / (1.0 + sqrt(square + 1.0));
}

/// What acosh(1 + t) is log1p of.
template <Machine M>
Value<M, double> acosh_argument(Value<M, double> t) {
  return t + sqrt(t * (t + 2.0));
}

/// log1p(argument), or log(2 x) where x is large.
template <Machine M>
Value<M, double> log1p_or_log_2x(Value<M, double> x, Value<M, double> argument) {
  const auto large = x >= kLargeForSquares;
  const auto result = log1p_accurate(select(large, x, argument));
  return result + select(large, x.constant(Format<double>::kLn2), x.constant(0.0));
}

}  // namespace internal

/// The inverse of sinh.
template <Machine M>
Value<M, float> asinh(Value<M, float> x) {
  const auto wide = abs(widen(x));
  const auto result = narrow(internal::log1p_wide(internal::asinh_argument(wide)));
  return select(abs(x) < kInfinity<float>, with_sign(abs(result), x), x);
}
template <Machine M>
Value<M, double> asinh(Value<M, double> x) {
  const auto a = abs(x);
  const auto result = internal::log1p_or_log_2x(a, internal::asinh_argument(a));
  return select((a < kInfinity<double>)&(a >= 0x1p-27), with_sign(abs(result), x), x);
}

/// The inverse of cosh, >= 0; NaN below 1.
template <Machine M>
Value<M, float> acosh(Value<M, float> x) {
  const auto t = widen(x) - 1.0;
  const auto result = narrow(internal::log1p_wide(internal::acosh_argument(t)));
  return select(x < kInfinity<float>, select(x < 1.0f, kNan<float>, abs(result)), x);
}
template <Machine M>
Value<M, double> acosh(Value<M, double> x) {
  const auto t = x - 1.0;
  const auto result = internal::log1p_or_log_2x(x, internal::acosh_argument(t));
  return select(x < kInfinity<double>, select(x < 1.0, kNan<double>, abs(result)), x);
}

/// The inverse of tanh; infinite at +-1, NaN beyond. atanh(a) = log1p(2 a / (1 - a)) / 2.
template <Machine M>
Value<M, float> atanh(Value<M, float> x) {
  const auto a = abs(x);
  const auto wide = widen(a);
  const auto result = narrow(0.5 * internal::log1p_wide((wide + wide) / (1.0 - wide)));
  const auto finite = with_sign(abs(result), x);
  return select(
      a < 1.0f, finite,
      select(a == 1.0f, with_sign(x.constant(kInfinity<float>), x), x.constant(kNan<float>)));
}
template <Machine M>
Value<M, double> atanh(Value<M, double> x) {
  const auto a = abs(x);
  const auto result = 0.5 * internal::log1p_accurate((a + a) / (1.0 - a));
  const auto finite = select(a < 0x1p-27, x, with_sign(abs(result), x));
  return select(
      a < 1.0, finite,
      select(a == 1.0, with_sign(x.constant(kInfinity<double>), x), x.constant(kNan<double>)));
}

}  // namespace tpu::tensorcore
