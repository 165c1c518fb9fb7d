// sin, cos, tan.
//
// The argument is reduced to r = x - n pi / 2 with |r| <= pi / 4, and n mod 4 says which of sin and
// cos of r it is. float arguments are reduced and evaluated in double.
#pragma once

#include <array>
#include <utility>

#include "emulator/tensorcore/vpu/coefficients.h"
#include "emulator/tensorcore/vpu/format.h"
#include "emulator/tensorcore/vpu/polynomial.h"
#include "emulator/tensorcore/vpu/two_over_pi.h"

namespace tpu::tensorcore {

namespace internal {

/// A reduced argument: x = n pi / 2 + high + low. n is integral and exact modulo 4.
template <Machine M>
struct Reduced {
  Value<M, double> n;
  Value<M, double> high;
  Value<M, double> low;
};

/// r pi / 2 for the exact turn fraction r.high + r.low.
template <Machine M>
Sum2<M, double> times_pi_over_2(Value<M, double> high, Value<M, double> low) {
  const auto [product, error] = exact_product(high, high.constant(kPiHigh / 2));
  return exact_sum_ordered(product, fma(high, kPiLow / 2, fma(low, kPiHigh / 2, error)));
}

/// Reduces any finite x after Payne and Hanek: x times those bits of 2 / pi that are neither too
/// large to matter modulo 4 nor too small to matter at all. For |x| < 2^-27 the relative precision
/// of `high` may be lost.
template <Machine M>
Reduced<M> reduce_any(Value<M, double> x) {
  const auto exponent = truncate((bits(x) & 0x7fffffffffffffff).shr_logical(52));
  const auto entry = exponent.shr_logical(3).shl(2);
  const auto scaled = select(exponent.constant(1599) < exponent, x * 0x1p-256, x);
  const std::span<const double> table(kTwoOverPi);
  const auto [p0, e0] = exact_product(scaled, lookup(table, entry));
  const auto [p1, e1] = exact_product(scaled, lookup(table, entry + 1));
  const auto [p2, e2] = exact_product(scaled, lookup(table, entry + 2));
  const auto p3 = scaled * lookup(table, entry + 3);
  const auto modulo_4 = [](Value<M, double> v) { return fma(round_even(v * 0.25), -4.0, v); };

  const auto [s1, t1] = exact_sum(modulo_4(p0), modulo_4(e0));
  const auto [s2, t2] = exact_sum(s1, modulo_4(p1));
  const auto n = round_even(s2);
  Value<M, double> high = s2 - n;
  Value<M, double> low = x.constant(0.0);
  for (const auto& term : {t1, t2, e1, p2, e2, p3}) {
    const auto [sum, error] = exact_sum(high, term);
    high = sum;
    low = low + error;
  }
  const auto [turn, turn_low] = exact_sum(high, low);
  const auto [r, r_low] = times_pi_over_2(turn, turn_low);
  return {n, r, r_low};
}

/// compute() in the lanes of the mask, `otherwise` in the others. A machine that can branch may
/// have a `where_any` of its own that leaves compute() out if no lane wants it; the bits are the
/// same.
template <Machine M, size_t N, typename Compute>
std::array<Value<M, double>, N> where_any(Bool<M> mask, std::array<Value<M, double>, N> otherwise,
                                          Compute compute) {
  if constexpr (requires { mask.machine().where_any(mask, otherwise, compute); }) {
    return mask.machine().where_any(mask, otherwise, compute);
  }
  std::array<Value<M, double>, N> result = compute();
  for (size_t i = 0; i < N; ++i) result[i] = select(mask, result[i], otherwise[i]);
  return result;
}

/// Reduces a widened float. After Cody and Waite where that is precise: for |x| < 2^28 no float is
/// nearer than 2^-31 to a multiple of pi / 2.
template <Machine M>
Reduced<M> reduce_wide(Value<M, double> x) {
  const auto n = fma(x, 0x1.45f306dc9c883p-1, Format<double>::kRound) - Format<double>::kRound;
  const auto near = fma(n, -kPiHigh / 2, x);
  const auto r = fma(n, -kPiLow / 2, near);
  const auto result = where_any<M, 2>(abs(x) >= 0x1p28, {n, r}, [&] {
    const auto reduced = reduce_any(x);
    return std::array{reduced.n, reduced.high};
  });
  return {result[0], result[1], x.constant(0.0)};
}

/// sin and cos of |r| <= pi / 4, good for a float result.
template <Machine M>
std::pair<Value<M, double>, Value<M, double>> sin_cos_wide(Value<M, double> r) {
  const auto z = r * r;
  return {fma(r * z, polynomial(z, kSinWide), r), fma(z, polynomial(z, kCosWide), 1.0)};
}

/// sin and cos of high + low, |high| <= pi / 4.
template <Machine M>
std::pair<Value<M, double>, Value<M, double>> sin_cos(Value<M, double> high, Value<M, double> low) {
  const auto z = high * high;
  const auto half = 0.5 * z;
  // sin(h + l) = sin h + l cos h, where cos h = 1 - z / 2 will do.
  const auto sin = high + fma(high * z, polynomial(z, kSinF64), fma(-half, low, low));
  // cos(h + l) = cos h - l sin h; what is lost in 1 - z / 2 is added back.
  const auto first = 1.0 - half;
  const auto lost = (1.0 - first) - half;
  const auto cos = first + (lost + fma(z * z, polynomial(z, kCosF64), -(high * low)));
  return {sin, cos};
}

/// The quadrant n mod 4 as the two lowest bits.
template <Machine M>
Value<M, int64_t> quadrant_bits(Value<M, double> n) {
  return bits(n + Format<double>::kRound);
}

/// Sine of an angle from sine and cosine of its reduced form.
template <Machine M>
Value<M, double> combine(Value<M, int64_t> quadrant, Value<M, double> sin, Value<M, double> cos) {
  const auto odd = (quadrant & 1) == 1;
  const auto sign = (quadrant & 2).shl(62);
  return float_of(bits(select(odd, cos, sin)) ^ sign);
}

template <Machine M>
Value<M, double> tan_of(Value<M, int64_t> quadrant, Value<M, double> sin, Value<M, double> cos) {
  const auto odd = (quadrant & 1) == 1;
  return select(odd, -cos, sin) / select(odd, sin, cos);
}

/// sin(pi f) and cos(pi f) for |f| <= 1/2.
template <Machine M>
std::pair<Value<M, double>, Value<M, double>> sin_cos_pi(Value<M, double> f) {
  const auto n = round_even(f + f);
  const auto [r, r_low] = times_pi_over_2(f + f - n, f.constant(0.0));
  const auto [sin, cos] = sin_cos(r, r_low);
  const auto quadrant = quadrant_bits(n);
  return {combine(quadrant, sin, cos), combine(quadrant + 1, sin, cos)};
}

/// result, but NaN where x is not finite.
template <Machine M, typename T>
Value<M, T> only_finite(Value<M, T> x, Value<M, T> result) {
  return select(abs(x) < kInfinity<T>, result, kNan<T>);
}

}  // namespace internal

/// sin of radians. Keeps -0; NaN for infinities.
template <Machine M>
Value<M, float> sin(Value<M, float> x) {
  const auto reduced = internal::reduce_wide(widen(x));
  const auto [s, c] = internal::sin_cos_wide(reduced.high);
  const auto result = internal::combine(internal::quadrant_bits(reduced.n), s, c);
  return select(x == 0.0f, x, internal::only_finite(x, narrow(result)));
}
template <Machine M>
Value<M, double> sin(Value<M, double> x) {
  const auto reduced = internal::reduce_any(x);
  const auto [s, c] = internal::sin_cos(reduced.high, reduced.low);
  const auto result = internal::combine(internal::quadrant_bits(reduced.n), s, c);
  return select(abs(x) < 0x1p-27, x, internal::only_finite(x, result));
}

/// cos of radians. NaN for infinities.
template <Machine M>
Value<M, float> cos(Value<M, float> x) {
  const auto reduced = internal::reduce_wide(widen(x));
  const auto [s, c] = internal::sin_cos_wide(reduced.high);
  const auto result = internal::combine(internal::quadrant_bits(reduced.n) + 1, s, c);
  return internal::only_finite(x, narrow(result));
}
template <Machine M>
Value<M, double> cos(Value<M, double> x) {
  const auto reduced = internal::reduce_any(x);
  const auto [s, c] = internal::sin_cos(reduced.high, reduced.low);
  const auto result = internal::combine(internal::quadrant_bits(reduced.n) + 1, s, c);
  return internal::only_finite(x, result);
}

/// tan of radians. Keeps -0; NaN for infinities.
template <Machine M>
Value<M, float> tan(Value<M, float> x) {
  const auto reduced = internal::reduce_wide(widen(x));
  const auto [s, c] = internal::sin_cos_wide(reduced.high);
  const auto result = internal::tan_of(internal::quadrant_bits(reduced.n), s, c);
  return select(x == 0.0f, x, internal::only_finite(x, narrow(result)));
}
template <Machine M>
Value<M, double> tan(Value<M, double> x) {
  const auto reduced = internal::reduce_any(x);
  const auto [s, c] = internal::sin_cos(reduced.high, reduced.low);
  const auto result = internal::tan_of(internal::quadrant_bits(reduced.n), s, c);
  return select(abs(x) < 0x1p-27, x, internal::only_finite(x, result));
}

}  // namespace tpu::tensorcore
