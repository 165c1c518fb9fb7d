// Evaluation of polynomials.
#pragma once

#include <array>
#include <bit>
#include <cstddef>

#include "emulator/tensorcore/vpu/value.h"

namespace tpu::tensorcore {

/// c[0] + c[1] x + c[2] x^2 + ... by Horner's scheme, one fma a step.
template <Machine M, typename T, size_t N>
Value<M, T> polynomial(Value<M, T> x, const std::array<T, N>& c) {
  static_assert(N >= 2);
  Value<M, T> sum = fma(x, c[N - 1], c[N - 2]);
  for (size_t i = N - 2; i-- > 0;) sum = fma(sum, x, c[i]);
  return sum;
}

namespace internal {

/// c[First] + ... + c[First + Count - 1] x^(Count - 1), where powers[i] = x^(2^i).
template <size_t First, size_t Count, Machine M, typename T, size_t N, size_t K>
Value<M, T> estrin_part(const std::array<Value<M, T>, K>& powers, const std::array<T, N>& c) {
  if constexpr (Count == 1) {
    return powers[0].constant(c[First]);
  } else {
    constexpr size_t kLow = std::bit_ceil(Count) / 2;
    const auto high = estrin_part<First + kLow, Count - kLow>(powers, c);
    return fma(powers[std::countr_zero(kLow)], high, estrin_part<First, kLow>(powers, c));
  }
}

}  // namespace internal

/// The same by Estrin's scheme, as (c[0] + c[1] x) + x^2 (c[2] + c[3] x) and so on: a chain of
/// log2(N) steps instead of N - 1, for a multiplication more a level. It pays in a function that is
/// one long chain, where the host waits for results and not for a free unit.
template <Machine M, typename T, size_t N>
Value<M, T> estrin(Value<M, T> x, const std::array<T, N>& c) {
  static_assert(N >= 2 && N <= 8);
  const auto square = x * x;
  const std::array powers = {x, square, square * square};
  return internal::estrin_part<0, N>(powers, c);
}

}  // namespace tpu::tensorcore
