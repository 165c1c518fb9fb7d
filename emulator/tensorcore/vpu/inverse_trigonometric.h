// atan, atan2, asin, acos.
#pragma once

#include "emulator/tensorcore/vpu/coefficients.h"
#include "emulator/tensorcore/vpu/format.h"
#include "emulator/tensorcore/vpu/polynomial.h"

namespace tpu::tensorcore {

namespace internal {

/// atan(y / x) as an unevaluated sum, for y, x >= 0, not both 0 or infinite.
///
/// With t = y / x up to tan(pi / 8), (y - x) / (y + x) up to tan(3 pi / 8), -x / y above, it is
/// 0, pi / 4 or pi / 2 plus atan(t) with |t| <= tan(pi / 8). One division serves all three.
template <Machine M, size_t N>
Sum2<M, double> atan_ratio(Value<M, double> y, Value<M, double> x,
                           const std::array<double, N>& table) {
  const auto middle = y > x * 0x1.a827999fcef32p-2;  // tan(pi / 8)
  const auto steep = y > x * 0x1.3504f333f9de6p+1;   // tan(3 pi / 8)
  const auto numerator = select(steep, -x, select(middle, y - x, y));
  const auto denominator = select(steep, y, select(middle, y + x, x));
  const auto base = select(steep, kPiHigh / 2, select(middle, kPiHigh / 4, x.constant(0.0)));
  const auto base_low = select(steep, kPiLow / 2, select(middle, kPiLow / 4, x.constant(0.0)));
  const auto t = numerator / denominator;
  const auto z = t * t;
  const auto tail = fma(t * z, polynomial(z, table), base_low);
  const auto [sum, lost] = exact_sum(base, t);
  return {sum, lost + tail};
}

/// atan2 for any y and x but NaN.
template <Machine M, size_t N>
Value<M, double> atan2_any(Value<M, double> y, Value<M, double> x,
                           const std::array<double, N>& table) {
  auto a = abs(y);
  auto b = abs(x);
  // Equal infinities stand for equal numbers, and 0 / 0 for 0 / 1.
  const auto both_infinite = (a == kInfinity<double>)&(b == kInfinity<double>);
  a = select(both_infinite, 1.0, a);
  b = select(both_infinite | ((a == 0.0) & (b == 0.0)), 1.0, b);
  const auto [high, low] = atan_ratio(a, b, table);
  const auto left = sign_bit(x);
  const auto result = select(left, kPiHigh - high + (kPiLow - low), high + low);
  return with_sign(abs(result), y);
}

/// What asin and acos share: with a = |x|, asin(a) = s + tail where a <= 1/2, else
/// pi / 2 - 2 (s + s_low + tail), as asin(a) = pi / 2 - 2 asin(sqrt((1 - a) / 2)).
template <Machine M>
struct ArcSine {
  Bool<M> large;
  Value<M, double> s;
  Value<M, double> s_low;
  Value<M, double> tail;
};

template <Machine M, size_t N>
ArcSine<M> arc_sine(Value<M, double> a, const std::array<double, N>& table) {
  const auto large = a > 0.5;
  const auto half_gap = fma(a, -0.5, 0.5);
  const auto root = sqrt(half_gap);
  const auto z = select(large, half_gap, a * a);
  const auto s = select(large, root, a);
  // What sqrt lost: (z - s^2) / (2 s).
  const auto lost = fma(-root, root, half_gap) / (root + root);
  const auto s_low = select(large & (half_gap > 0.0), lost, a.constant(0.0));
  return {large, s, s_low, s * z * polynomial(z, table)};
}

template <Machine M, size_t N>
Value<M, double> asin_any(Value<M, double> x, const std::array<double, N>& table) {
  const auto [large, s, s_low, tail] = arc_sine(abs(x), table);
  const auto [base, lost] = exact_sum_ordered(s.constant(kPiHigh / 2), -2.0 * s);
  const auto from_right = base + (lost + fma(s_low + tail, -2.0, kPiLow / 2));
  return with_sign(select(large, from_right, s + tail), x);
}

template <Machine M, size_t N>
Value<M, double> acos_any(Value<M, double> x, const std::array<double, N>& table) {
  const auto [large, s, s_low, tail] = arc_sine(abs(x), table);
  const auto negative = sign_bit(x);
  const auto twice = s + s;
  const auto twice_low = 2.0 * (s_low + tail);
  // Beyond 1/2: 2 asin(s) or pi - 2 asin(s). Else pi / 2 -+ asin(s).
  const auto [far, far_lost] = exact_sum_ordered(s.constant(kPiHigh), -twice);
  const auto beyond = select(negative, far + (far_lost + (kPiLow - twice_low)), twice + twice_low);
  const auto signed_s = select(negative, -s, s);
  const auto signed_tail = select(negative, -tail, tail);
  const auto [near, near_lost] = exact_sum_ordered(s.constant(kPiHigh / 2), -signed_s);
  const auto within = near + (near_lost + (kPiLow / 2 - signed_tail));
  return select(large, beyond, within);
}

}  // namespace internal

/// The angle of (x, y) in [-pi, pi]; zeros and infinities as C99 has it (F.9.1.4).
template <Machine M>
Value<M, float> atan2(Value<M, float> y, Value<M, float> x) {
  const auto result = narrow(internal::atan2_any(widen(y), widen(x), kAtanWide));
  return select(is_nan(x) | is_nan(y), x + y, result);
}
template <Machine M>
Value<M, double> atan2(Value<M, double> y, Value<M, double> x) {
  // Lest y + x overflow; what that makes subnormal is nothing against the other.
  const auto huge = (abs(x) > 0x1p1020) | (abs(y) > 0x1p1020);
  const auto scale = select(huge, 0x1p-4, x.constant(1.0));
  const auto result = internal::atan2_any(y * scale, x * scale, kAtanF64);
  return select(is_nan(x) | is_nan(y), x + y, result);
}

/// The inverse of tan, in [-pi / 2, pi / 2].
template <Machine M>
Value<M, float> atan(Value<M, float> x) {
  const auto wide = widen(x);
  const auto [high, low] = internal::atan_ratio(abs(wide), wide.constant(1.0), kAtanWide);
  return select(is_nan(x), x, narrow(with_sign(high + low, wide)));
}
template <Machine M>
Value<M, double> atan(Value<M, double> x) {
  const auto [high, low] = internal::atan_ratio(abs(x), x.constant(1.0), kAtanF64);
  return select(is_nan(x), x, with_sign(high + low, x));
}

/// The inverse of sin, in [-pi / 2, pi / 2]; NaN outside [-1, 1].
template <Machine M>
Value<M, float> asin(Value<M, float> x) {
  return narrow(internal::asin_any(widen(x), kAsinWide));
}
template <Machine M>
Value<M, double> asin(Value<M, double> x) {
  return internal::asin_any(x, kAsinF64);
}

/// The inverse of cos, in [0, pi]; NaN outside [-1, 1].
template <Machine M>
Value<M, float> acos(Value<M, float> x) {
  return narrow(internal::acos_any(widen(x), kAsinWide));
}
template <Machine M>
Value<M, double> acos(Value<M, double> x) {
  return internal::acos_any(x, kAsinF64);
}

}  // namespace tpu::tensorcore
