// What elementary functions need to know of float and double, and small tools in either.
#pragma once

#include <cstdint>
#include <limits>

#include "emulator/tensorcore/vpu/value.h"

namespace tpu::tensorcore {

template <typename T>
struct Format;

template <>
struct Format<float> {
  using Int = int32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Int kBias = 127;
  static constexpr Int kSign = std::numeric_limits<Int>::min();
  /// Adding it to |x| < 2^22 rounds x to an integer (ties to even) that stands in the low bits.
  static constexpr float kRound = 0x1.8p23f;
  static constexpr float kLog2E = 0x1.715476p+0f;
  /// ln 2 in two parts; the first has so few bits that a multiple of it is exact.
  static constexpr float kLn2High = 0x1.62e4p-1f;
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kLn2 = 0x1.62e43p-1f;
};

template <>
struct Format<double> {
  using Int = int64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Int kBias = 1023;
  static constexpr Int kSign = std::numeric_limits<Int>::min();
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1;
  static constexpr double kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kLn2 = 0x1.62e42fefa39efp-1;
};

inline constexpr double kPiHigh = 0x1.921fb54442d18p+1;
inline constexpr double kPiLow = 0x1.1a62633145c07p-53;

template <typename T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <typename T>
inline constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

/// |magnitude| with the sign bit of `sign`. `magnitude` must not be negative.
template <Machine M, typename T>
Value<M, T> with_sign(Value<M, T> magnitude, Value<M, T> sign) {
  return float_of(bits(magnitude) | (bits(sign) & Format<T>::kSign));
}

/// Whether the sign bit is set (also of -0 and NaN).
template <Machine M, typename T>
Bool<M> sign_bit(Value<M, T> x) {
  using Int = typename Format<T>::Int;
  return bits(x) < Int{0};
}

/// A number as the unevaluated sum of two: `low` is at most about half a unit in the last place of
/// `high`.
template <Machine M, typename T>
struct Sum2 {
  Value<M, T> high;
  Value<M, T> low;
};

/// a + b exactly (Knuth).
template <Machine M, typename T>
Sum2<M, T> exact_sum(Value<M, T> a, Value<M, T> b) {
  const Value<M, T> sum = a + b;
  const Value<M, T> b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

/// a + b exactly where |a| >= |b| or a is zero (Dekker).
template <Machine M, typename T>
Sum2<M, T> exact_sum_ordered(Value<M, T> a, Value<M, T> b) {
  const Value<M, T> sum = a + b;
  return {sum, b - (sum - a)};
}

/// a * b exactly, as long as nothing underflows.
template <Machine M, typename T>
Sum2<M, T> exact_product(Value<M, T> a, Value<M, T> b) {
  const Value<M, T> product = a * b;
  return {product, fma(a, b, -product)};
}

}  // namespace tpu::tensorcore
