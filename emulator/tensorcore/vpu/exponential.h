// exp, exp2, expm1, logistic.
#pragma once

#include <type_traits>

#include "emulator/tensorcore/vpu/coefficients.h"
#include "emulator/tensorcore/vpu/format.h"
#include "emulator/tensorcore/vpu/polynomial.h"

namespace tpu::tensorcore {

/// The table of the two for element type T.
template <typename T, typename TableF32, typename TableF64>
constexpr const auto& table_for(const TableF32& for_float, const TableF64& for_double) {
  if constexpr (std::is_same_v<T, float>) {
    return for_float;
  } else {
    return for_double;
  }
}

namespace internal {

/// p * 2^n rounded once, where `shifted` = n + kRound + 2 kBias: 2^n is applied as two normal
/// factors, so that a result may be subnormal or infinite.
template <Machine M, typename T>
Value<M, T> scale_by_power(Value<M, T> p, Value<M, T> shifted) {
  using F = Format<T>;
  const auto exponents = bits(shifted);
  const auto half = exponents.shr_logical(1).shl(F::kMantissaBits);
  const auto other_half = exponents.shl(F::kMantissaBits) - half;
  return p * float_of(half) * float_of(other_half);
}

/// e^x for x in [-104, 89] (double: [-746, 710]) or NaN, with e^r approximated by `table`.
template <Machine M, typename T, size_t N>
Value<M, T> exp_in_range(Value<M, T> x, const std::array<T, N>& table) {
  using F = Format<T>;
  constexpr T kShift = F::kRound + 2 * F::kBias;
  const auto shifted = fma(x, F::kLog2E, kShift);
  const auto n = shifted - kShift;
  auto r = fma(n, -F::kLn2High, x);
  r = fma(n, -F::kLn2Low, r);
  return scale_by_power(polynomial(r, table), shifted);
}

/// e^(x + x_low) for x in [-746, 710] or NaN, |x_low| far below 1.
template <Machine M>
Value<M, double> exp_of_sum(Value<M, double> x, Value<M, double> x_low) {
  using F = Format<double>;
  constexpr double kShift = F::kRound + 2 * F::kBias;
  const auto shifted = fma(x, F::kLog2E, kShift);
  const auto n = shifted - kShift;
  const auto [r, lost] = exact_sum(fma(n, -F::kLn2High, x), n * -F::kLn2Low);
  const auto r_low = lost + x_low;
  // e^r = 1 + r + tail, and e^r_low is 1 + r_low to all bits that matter.
  const auto tail = r * r * polynomial(r, kExpm1F64);
  const auto low = fma(r + tail, r_low, r_low);
  return scale_by_power(1.0 + (r + (tail + low)), shifted);
}

/// e^x = 2^n (1 + tail).
template <Machine M, typename T>
struct PowerAndTail {
  Value<M, T> power;  ///< 2^n
  Value<M, T> tail;
};

/// Splits e^x = 2^n (1 + tail) for |x| where 2^n is normal, `table` being (e^r - 1 - r) / r^2. The
/// power is 2^(n + extra_exponent).
template <Machine M, typename T, size_t N>
PowerAndTail<M, T> split_exp(Value<M, T> x, const std::array<T, N>& table, int extra_exponent) {
  using F = Format<T>;
  const T shift = F::kRound + F::kBias + extra_exponent;
  const auto shifted = fma(x, F::kLog2E, shift);
  const auto n = shifted - shift;
  auto r = fma(n, -F::kLn2High, x);
  r = fma(n, -F::kLn2Low, r);
  return {float_of(bits(shifted).shl(F::kMantissaBits)), fma(r * r, polynomial(r, table), r)};
}

/// (e^x - 1) / 2, for x in [-40, 710.6] (float: up to 89.5) or NaN; infinite if it overflows. Not
/// precise if subnormal.
template <Machine M, typename T, size_t N>
Value<M, T> half_expm1(Value<M, T> x, const std::array<T, N>& table) {
  // 2^n may be too large for T where the result is not; a quarter of it is not.
  const auto [quarter_power, tail] = split_exp(x, table, -2);
  const auto quarter = fma(quarter_power, tail, quarter_power - T{0.25});
  return quarter + quarter;
}

}  // namespace internal

/// e^x.
template <Machine M, typename T>
Value<M, T> exp(Value<M, T> x) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  const auto in_range = at_least(at_most(x, kFloat ? T{89} : T{710}), kFloat ? T{-104} : T{-746});
  return internal::exp_in_range(in_range, table_for<T>(kExpF32, kExpF64));
}

/// 2^x.
template <Machine M, typename T>
Value<M, T> exp2(Value<M, T> x) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  constexpr T kShift = Format<T>::kRound + 2 * Format<T>::kBias;
  const auto in_range =
      at_least(at_most(x, kFloat ? T{129} : T{1025}), kFloat ? T{-151} : T{-1076});
  const auto shifted = in_range + kShift;
  const auto r = in_range - (shifted - kShift);
  return internal::scale_by_power(polynomial(r, table_for<T>(kExp2F32, kExp2F64)), shifted);
}

/// e^x - 1.
template <Machine M, typename T>
Value<M, T> expm1(Value<M, T> x) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  const auto in_range = at_least(at_most(x, kFloat ? T{89.5} : T{710.6}), T{-40});
  const auto half = internal::half_expm1(in_range, table_for<T>(kExpm1F32, kExpm1F64));
  // e^x - 1 rounds to x below half the epsilon; there, halves could be subnormal, and -0 be lost.
  return select(abs(x) < std::numeric_limits<T>::epsilon() / 4, x, half + half);
}

/// 1 / (1 + e^-x).
///
/// With z = e^-|x| and w = z / (1 + z) it is 1 - w for x >= 0, else z - z w: both round where the
/// result is large against the error of w, and the second is right down to subnormals.
template <Machine M, typename T>
Value<M, T> logistic(Value<M, T> x) {
  constexpr bool kFloat = std::is_same_v<T, float>;
  const auto in_range = at_least(-abs(x), kFloat ? T{-104} : T{-746});
  const auto z = internal::exp_in_range(in_range, table_for<T>(kExpF32, kExpF64));
  const auto w = z / (z + T{1});
  const auto base = select(x < T{0}, z, T{1});
  return fma(-base, w, base);
}

}  // namespace tpu::tensorcore
