// Elementary functions of complex numbers over a Machine, from those of real numbers. Formulas are
// the textbook ones, with each operation rounded; where a part of the formula is 0 times infinity
// the result's part may be NaN.
#pragma once

#include "emulator/tensorcore/vpu/complex.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::tensorcore {

namespace internal {

// The formulas, on Values.
template <class V>
struct ComplexFormulas {
  using Number = Complex<V>;

  static Number times(Number x, Number y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }

  static auto is_zero(Number x) { return (x.re == -x.re) & (x.im == -x.im); }
  static Number choose(auto mask, Number x, Number y) {
    return {select(mask, x.re, y.re), select(mask, x.im, y.im)};
  }

  /// e^re (cos im + i sin im); real for a real argument.
  static Number exponential(Number x) {
    const V scale = exp(x.re);
    return {scale * cos(x.im), select(x.im == -x.im, x.im, scale * sin(x.im))};
  }

  /// log |x| + i arg x.
  static Number logarithm(Number x) { return {log(hypot(x.re, x.im)), atan2(x.im, x.re)}; }

  /// The root in the right half plane: t = sqrt(|re| / 2 + |x| / 2) is the larger part, the other
  /// is im / 2t.
  static Number square_root(Number x) {
    const V half = constant(x, 0.5);
    const V t = sqrt(abs(x.re) * half + hypot(x.re, x.im) * half);
    const V other = x.im / (t + t);
    const V large = with_sign(t, x.im);
    const auto right = x.re >= constant(x, 0);
    const Number root = {select(right, t, abs(other)), select(right, other, large)};
    return choose(is_zero(x), {abs(x.re), x.im}, root);
  }

  /// sin a cosh b + i cos a sinh b.
  static Number sine(Number x) { return {sin(x.re) * cosh(x.im), cos(x.re) * sinh(x.im)}; }
  /// cos a cosh b - i sin a sinh b.
  static Number cosine(Number x) { return {cos(x.re) * cosh(x.im), -(sin(x.re) * sinh(x.im))}; }

  /// With t = tanh a and u = tan b: (t (1 + u^2) + i u (1 - t^2)) / (1 + t^2 u^2).
  static Number hyperbolic_tangent(Number x) {
    const V one = constant(x, 1);
    const V t = tanh(x.re), u = tan(x.im);
    const V tt = t * t, uu = u * u;
    const V denominator = one + tt * uu;
    return {t * (one + uu) / denominator, u * (one - tt) / denominator};
  }
  /// -i tanh(i x).
  static Number tangent(Number x) {
    const Number t = hyperbolic_tangent({-x.im, x.re});
    return {t.im, -t.re};
  }

  /// e^x - 1: (expm1 a cos b - 2 sin^2 (b / 2)) + i e^a sin b.
  static Number exponential_minus_one(Number x) {
    const V s = sin(x.im * constant(x, 0.5));
    return {expm1(x.re) * cos(x.im) - (s + s) * s,
            select(x.im == -x.im, x.im, exp(x.re) * sin(x.im))};
  }

  /// log(1 + x); near 0 by log1p(a (a + 2) + b^2) / 2 for the real part.
  static Number log_plus_one(Number x) {
    const V half = constant(x, 0.5), one = constant(x, 1), two = constant(x, 2);
    const auto near = (abs(x.re) < half) & (abs(x.im) < half);
    const V square = x.re * (x.re + two) + x.im * x.im;
    const V shifted = one + x.re;
    return {select(near, log1p(square) * half, log(hypot(shifted, x.im))), atan2(x.im, shifted)};
  }

  /// exp(y log x); 0 to any power is 0, except to the power 0, which is 1.
  static Number power(Number x, Number y) {
    const V nought = constant(x, 0);
    const V at_zero = select(is_zero(y), constant(x, 1), nought);
    return choose(is_zero(x), {at_zero, nought}, exponential(times(y, logarithm(x))));
  }

  /// exp(log(x) / 3).
  static Number cube_root(Number x) {
    const V three = constant(x, 3);
    const Number l = logarithm(x);
    return choose(is_zero(x), x, exponential({l.re / three, l.im / three}));
  }

 private:
  template <typename M>
  static Value<M, float> constant_as(Value<M, float> like, double value) {
    return like.constant(static_cast<float>(value));
  }
  template <typename M>
  static Value<M, double> constant_as(Value<M, double> like, double value) {
    return like.constant(value);
  }
  static V constant(Number like, double value) { return constant_as(like.re, value); }
};

template <Machine M>
auto complex_value(M& m, Complex<typename M::F32> x) {
  using V = Value<M, float>;
  return Complex<V>{V(m, x.re), V(m, x.im)};
}
template <Machine M>
auto complex_value(M& m, Complex<typename M::F64> x) {
  using V = Value<M, double>;
  return Complex<V>{V(m, x.re), V(m, x.im)};
}
template <class V>
auto complex_native(Complex<V> x) {
  return Complex<typename V::Native>{x.re.native(), x.im.native()};
}

}  // namespace internal

/// Functions of complex numbers that StableHLO has beyond arithmetic.
enum class ComplexFunction : uint8_t {
  kCbrt,
  kCos,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kLogistic,
  kRsqrt,
  kSin,
  kSqrt,
  kTan,
  kTanh,
};

/// f(x), on the parts' native types.
template <class M, class T>
Complex<T> complex_unary(M& m, ComplexFunction function, Complex<T> x) {
  const auto v = internal::complex_value(m, x);
  using F = internal::ComplexFormulas<std::remove_const_t<decltype(v.re)>>;
  const Complex<T> one = {constant_like(m, x.re, 1), constant_like(m, x.re, 0)};
  switch (function) {
    case ComplexFunction::kCbrt:
      return internal::complex_native(F::cube_root(v));
    case ComplexFunction::kCos:
      return internal::complex_native(F::cosine(v));
    case ComplexFunction::kExp:
      return internal::complex_native(F::exponential(v));
    case ComplexFunction::kExpm1:
      return internal::complex_native(F::exponential_minus_one(v));
    case ComplexFunction::kLog:
      return internal::complex_native(F::logarithm(v));
    case ComplexFunction::kLog1p:
      return internal::complex_native(F::log_plus_one(v));
    case ComplexFunction::kLogistic: {  // 1 / (1 + e^-x)
      const Complex<T> e = complex_unary(m, ComplexFunction::kExp, complex_negate(m, x));
      return complex_divide(m, one, complex_add(m, one, e));
    }
    case ComplexFunction::kRsqrt:
      return complex_divide(m, one, complex_unary(m, ComplexFunction::kSqrt, x));
    case ComplexFunction::kSin:
      return internal::complex_native(F::sine(v));
    case ComplexFunction::kSqrt:
      return internal::complex_native(F::square_root(v));
    case ComplexFunction::kTan:
      return internal::complex_native(F::tangent(v));
    default:
      return internal::complex_native(F::hyperbolic_tangent(v));
  }
}

/// x^y.
template <class M, class T>
Complex<T> complex_power(M& m, Complex<T> x, Complex<T> y) {
  const auto v = internal::complex_value(m, x), w = internal::complex_value(m, y);
  using F = internal::ComplexFormulas<std::remove_const_t<decltype(v.re)>>;
  return internal::complex_native(F::power(v, w));
}

/// |x|.
template <Machine M>
typename M::F32 complex_abs(M& m, Complex<typename M::F32> x) {
  return binary_f32(m, ElementaryFunction::kHypot, x.re, x.im);
}
template <Machine M>
typename M::F64 complex_abs(M& m, Complex<typename M::F64> x) {
  return binary_f64(m, ElementaryFunction::kHypot, x.re, x.im);
}

/// x / |x|, and 0 for 0.
template <class M, class T>
Complex<T> complex_sign(M& m, Complex<T> x) {
  const T modulus = complex_abs(m, x);
  const auto is_zero = m.eq(modulus, m.neg(modulus));
  return {m.select(is_zero, x.re, m.div(x.re, modulus)),
          m.select(is_zero, x.im, m.div(x.im, modulus))};
}

}  // namespace tpu::tensorcore
