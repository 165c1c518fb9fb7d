// log, log1p, log2, log10.
#pragma once

#include "emulator/tensorcore/vpu/coefficients.h"
#include "emulator/tensorcore/vpu/format.h"
#include "emulator/tensorcore/vpu/polynomial.h"

namespace tpu::tensorcore {

namespace internal {

/// log of what is not positive and finite.
template <Machine M, typename T>
Value<M, T> with_log_specials(Value<M, T> x, Value<M, T> result) {
  result = select(x < kInfinity<T>, result, x);
  return select(x <= T{0}, select(x == T{0}, -kInfinity<T>, x.constant(kNan<T>)), result);
}

/// x = 2^k m with m in [sqrt(1/2), sqrt(2)].
template <Machine M>
struct Scaled {
  Value<M, double> m;
  Value<M, double> k;
};

/// For normal x > 0 (others give garbage, without harm).
template <Machine M>
Scaled<M> split_normal(Value<M, double> x) {
  constexpr int64_t kLow = 0x3fe6a09e667f3bcd;  // sqrt(1/2)
  constexpr int64_t kOne = 0x3ff0000000000000;
  constexpr int64_t kMantissa = 0x000fffffffffffff;
  // 2^52 + an integer below 2^52 has that integer in its low bits.
  constexpr int64_t kTwo52 = 0x4330000000000000;
  const auto shifted = bits(x) + (kOne - kLow);
  const auto k = float_of(shifted.shr_logical(52) | kTwo52) - (0x1p52 + 1023);
  return {float_of((shifted & kMantissa) + kLow), k};
}

/// For x > 0, also subnormal.
template <Machine M>
Scaled<M> split(Value<M, double> x) {
  const auto small = x < std::numeric_limits<double>::min();
  const auto [m, k] = split_normal(select(small, x * 0x1p54, x));
  return {m, k - select(small, x.constant(54.0), x.constant(0.0))};
}

/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)] as f - low (both rounded once or twice, low small
/// against f), by s = f / (2 + f), log(1 + f) = log((1 + s) / (1 - s)); `extra` is added.
template <Machine M, size_t N>
Value<M, double> log1p_reduced(Value<M, double> f, const std::array<double, N>& table,
                               Value<M, double> extra) {
  const auto s = f / (f + 2.0);
  const auto z = s * s;
  const auto tail = z * polynomial(z, table);
  const auto half_square = 0.5 * f * f;
  return f - (half_square - fma(s, half_square + tail, extra));
}

/// log(x) for normal positive x of a double, good for a float result.
template <Machine M>
Value<M, double> log_wide(Value<M, double> x) {
  const auto [m, k] = split_normal(x);
  const auto f = m - 1.0;
  const auto s = f / (f + 2.0);
  const auto z = s * s;
  const auto log_m = s * fma(z, polynomial(z, kLogWide), 2.0);
  return fma(k, Format<double>::kLn2, log_m);
}

/// log2(x) likewise.
template <Machine M>
Value<M, double> log2_wide(Value<M, double> x) {
  const auto [m, k] = split_normal(x);
  const auto f = m - 1.0;
  const auto s = f / (f + 2.0);
  const auto z = s * s;
  return fma(s * fma(z, polynomial(z, kLogWide), 2.0), Format<double>::kLog2E, k);
}

/// log(x + x_low) for x > 0.
template <Machine M>
Value<M, double> log_accurate(Value<M, double> x, Value<M, double> x_low) {
  const auto [m, k] = split(x);
  const auto correction = x_low / x;
  const auto extra = fma(k, Format<double>::kLn2Low, correction);
  return fma(k, Format<double>::kLn2High, log1p_reduced(m - 1.0, kLogF64, extra));
}

/// log(1 + x) for x > -1, good for a float result. Right also for tiny x, without a sign for -0.
template <Machine M>
Value<M, double> log1p_wide(Value<M, double> x) {
  const auto sum = 1.0 + x;
  const auto lost = x - (sum - 1.0);
  // `lost` matters only where sum is near 1, so it need not be divided by sum.
  return log_wide(sum) + select(abs(x) < 0.5, lost, x.constant(0.0));
}

/// log(1 + x) for x > -1, without a sign for -0.
template <Machine M>
Value<M, double> log1p_accurate(Value<M, double> x) {
  const auto [sum, lost] = exact_sum(x.constant(1.0), x);
  return log_accurate(sum, lost);
}

/// log1p of what is not finite and above -1; keeps -0.
template <Machine M, typename T>
Value<M, T> with_log1p_specials(Value<M, T> x, Value<M, T> result) {
  result = select((x < kInfinity<T>)&(x != T{0}), result, x);
  return select(x <= T{-1}, select(x == T{-1}, -kInfinity<T>, x.constant(kNan<T>)), result);
}

/// The natural logarithm of m 2^k as log(m) + k ln 2, scaled: log(m) * factor + k * unit, with
/// `factor` and `unit` in two parts.
template <Machine M>
Value<M, double> log_in_base(Value<M, double> x, double factor_high, double factor_low,
                             double unit_high, double unit_low) {
  const auto [m, k] = split(x);
  const auto f = m - 1.0;
  const auto log_m = log1p_reduced(f, kLogF64, f.constant(0.0));
  const auto [high, low] = exact_product(log_m, log_m.constant(factor_high));
  const auto small = fma(k, unit_low, fma(log_m, factor_low, low));
  const auto [sum, sum_low] = exact_sum(k * unit_high, high);
  return sum + (sum_low + small);
}

/// log(1 + f) for 1 + f in [2/3, 4/3], plus k ln 2. k float(ln 2) inside an fma is precise enough,
/// as float(ln 2) is within 2^-28 of ln 2.
template <Machine M>
Value<M, float> log_of_parts(Value<M, float> f, Value<M, float> k) {
  return fma(k, Format<float>::kLn2, fma(f * f, polynomial(f, kLogF32), f));
}

/// Where x = 2^k (1 + f) with 1 + f in [2/3, 4/3], bits(x) - kTwoThirds has k above kMantissaF32
/// and bits(1 + f) - kTwoThirds in it.
inline constexpr int32_t kTwoThirds = 0x3f2aaaab;
inline constexpr int32_t kMantissaF32 = 0x007fffff;

}  // namespace internal

/// The natural logarithm.
template <Machine M>
Value<M, float> log(Value<M, float> x) {
  using internal::kTwoThirds;
  const auto small = x < std::numeric_limits<float>::min();
  const auto normal = select(small, x * 0x1p23f, x);
  const auto offset = bits(normal) - kTwoThirds;
  const auto k = to_f32(offset.shr_arithmetic(23)) - select(small, 23.0f, x.constant(0.0f));
  const auto f = float_of((offset & internal::kMantissaF32) + kTwoThirds) - 1.0f;
  return internal::with_log_specials(x, internal::log_of_parts(f, k));
}
template <Machine M>
Value<M, double> log(Value<M, double> x) {
  return internal::with_log_specials(x, internal::log_accurate(x, x.constant(0.0)));
}

/// log(1 + x).
///
/// float: with 1 + x = sum + lost and sum = 2^k (1 + f), the argument is 2^k (1 + f + lost 2^-k).
/// Where k = 0, f + lost is x itself.
template <Machine M>
Value<M, float> log1p(Value<M, float> x) {
  using internal::kTwoThirds;
  const auto sum = x + 1.0f;
  // Exact where it matters: above 2^24, rounding takes no more than log(sum) can show.
  const auto lost = x - (sum - 1.0f);
  const auto offset = bits(sum) - kTwoThirds;
  const auto k = to_f32(offset.shr_arithmetic(23));
  const auto scale = float_of(0x3f800000 - (offset & ~internal::kMantissaF32));  // 2^-k
  const auto correction = select(x < 0x1p24f, lost * scale, 0.0f);
  const auto rounded = float_of((offset & internal::kMantissaF32) + kTwoThirds) - 1.0f;
  return internal::with_log1p_specials(x, internal::log_of_parts(rounded + correction, k));
}
template <Machine M>
Value<M, double> log1p(Value<M, double> x) {
  return internal::with_log1p_specials(x, internal::log1p_accurate(x));
}

/// The logarithm to base 2; exact for powers of 2.
template <Machine M>
Value<M, float> log2(Value<M, float> x) {
  return internal::with_log_specials(x, narrow(internal::log2_wide(widen(x))));
}
template <Machine M>
Value<M, double> log2(Value<M, double> x) {
  const auto result =
      internal::log_in_base(x, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56, 1.0, 0.0);
  return internal::with_log_specials(x, result);
}

/// The logarithm to base 10.
template <Machine M>
Value<M, float> log10(Value<M, float> x) {
  const auto result = internal::log_wide(widen(x)) * 0x1.bcb7b1526e50ep-2;
  return internal::with_log_specials(x, narrow(result));
}
template <Machine M>
Value<M, double> log10(Value<M, double> x) {
  const auto result = internal::log_in_base(x, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57,
                                            0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59);
  return internal::with_log_specials(x, result);
}

}  // namespace tpu::tensorcore
