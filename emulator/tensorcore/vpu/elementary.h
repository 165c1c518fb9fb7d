// Dispatch from the list of elementary functions to their templates.
//
// A function is added by a row in elementary_function.h and a case in `unary` or `binary` below;
// tests and docs/numerics.md follow from the row.
#pragma once

#include "emulator/tensorcore/vpu/elementary_function.h"
#include "emulator/tensorcore/vpu/error_function.h"
#include "emulator/tensorcore/vpu/exponential.h"
#include "emulator/tensorcore/vpu/gamma.h"
#include "emulator/tensorcore/vpu/hyperbolic.h"
#include "emulator/tensorcore/vpu/inverse_trigonometric.h"
#include "emulator/tensorcore/vpu/logarithm.h"
#include "emulator/tensorcore/vpu/machine.h"
#include "emulator/tensorcore/vpu/power.h"
#include "emulator/tensorcore/vpu/roots.h"
#include "emulator/tensorcore/vpu/trigonometric.h"

namespace tpu::tensorcore {

/// f(x), T being float or double. `function` takes one argument.
template <Machine M, typename T>
Value<M, T> unary(ElementaryFunction function, Value<M, T> x) {
  switch (function) {
    case ElementaryFunction::kExp:
      return exp(x);
    case ElementaryFunction::kExp2:
      return exp2(x);
    case ElementaryFunction::kExpm1:
      return expm1(x);
    case ElementaryFunction::kLogistic:
      return logistic(x);
    case ElementaryFunction::kLog:
      return log(x);
    case ElementaryFunction::kLog1p:
      return log1p(x);
    case ElementaryFunction::kLog2:
      return log2(x);
    case ElementaryFunction::kLog10:
      return log10(x);
    case ElementaryFunction::kSin:
      return sin(x);
    case ElementaryFunction::kCos:
      return cos(x);
    case ElementaryFunction::kTan:
      return tan(x);
    case ElementaryFunction::kAsin:
      return asin(x);
    case ElementaryFunction::kAcos:
      return acos(x);
    case ElementaryFunction::kAtan:
      return atan(x);
    case ElementaryFunction::kSinh:
      return sinh(x);
    case ElementaryFunction::kCosh:
      return cosh(x);
    case ElementaryFunction::kTanh:
      return tanh(x);
    case ElementaryFunction::kAsinh:
      return asinh(x);
    case ElementaryFunction::kAcosh:
      return acosh(x);
    case ElementaryFunction::kAtanh:
      return atanh(x);
    case ElementaryFunction::kErf:
      return erf(x);
    case ElementaryFunction::kErfc:
      return erfc(x);
    case ElementaryFunction::kErfInv:
      return erf_inv(x);
    case ElementaryFunction::kSqrt:
      return sqrt(x);
    case ElementaryFunction::kRsqrt:
      return rsqrt(x);
    case ElementaryFunction::kCbrt:
      return cbrt(x);
    case ElementaryFunction::kLgamma:
      return lgamma(x);
    case ElementaryFunction::kDigamma:
      return digamma(x);
    default:
      return x.constant(kNan<T>);
  }
}

/// f(x, y) likewise; pow(x, y) = x^y, atan2(x, y) is the angle of the point (y, x).
template <Machine M, typename T>
Value<M, T> binary(ElementaryFunction function, Value<M, T> x, Value<M, T> y) {
  switch (function) {
    case ElementaryFunction::kPow:
      return pow(x, y);
    case ElementaryFunction::kAtan2:
      return atan2(x, y);
    case ElementaryFunction::kHypot:
      return hypot(x, y);
    default:
      return x.constant(kNan<T>);
  }
}

/// The same in the machine's own types. `function` must take as many arguments.
template <Machine M>
typename M::F32 unary_f32(M& machine, ElementaryFunction function, typename M::F32 x) {
  return unary(function, Value<M, float>(machine, x)).native();
}
template <Machine M>
typename M::F64 unary_f64(M& machine, ElementaryFunction function, typename M::F64 x) {
  return unary(function, Value<M, double>(machine, x)).native();
}
template <Machine M>
typename M::F32 binary_f32(M& machine, ElementaryFunction function, typename M::F32 x,
                           typename M::F32 y) {
  return binary(function, Value<M, float>(machine, x), Value<M, float>(machine, y)).native();
}
template <Machine M>
typename M::F64 binary_f64(M& machine, ElementaryFunction function, typename M::F64 x,
                           typename M::F64 y) {
  return binary(function, Value<M, double>(machine, x), Value<M, double>(machine, y)).native();
}

}  // namespace tpu::tensorcore
