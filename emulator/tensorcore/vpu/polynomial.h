// Evaluation of polynomials.
#pragma once

#include <array>
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

}  // namespace tpu::tensorcore
