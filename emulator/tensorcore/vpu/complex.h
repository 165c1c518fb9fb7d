// Complex arithmetic over a Machine: the formulas that decide the bits of complex numbers.
#pragma once

namespace tpu::tensorcore {

/// A complex number; in memory, and as a pair of a Machine's values.
template <class T>
struct Complex {
  T re, im;
  bool operator==(const Complex&) const = default;
};

/// `value` as one of the machine's floats of the type of `like`.
template <class M>
typename M::F32 constant_like(M& m, typename M::F32, double value) {
  return m.f32(static_cast<float>(value));
}
template <class M>
typename M::F64 constant_like(M& m, typename M::F64, double value) {
  return m.f64(value);
}

template <class M, class T>
Complex<T> complex_add(M& m, Complex<T> x, Complex<T> y) {
  return {m.add(x.re, y.re), m.add(x.im, y.im)};
}

template <class M, class T>
Complex<T> complex_subtract(M& m, Complex<T> x, Complex<T> y) {
  return {m.sub(x.re, y.re), m.sub(x.im, y.im)};
}

template <class M, class T>
Complex<T> complex_negate(M& m, Complex<T> x) {
  return {m.neg(x.re), m.neg(x.im)};
}

/// (re re - im im) + (re im + im re) i, each product and sum rounded. No special case recovers
/// an infinity from inf - inf.
template <class M, class T>
Complex<T> complex_multiply(M& m, Complex<T> x, Complex<T> y) {
  return {m.sub(m.mul(x.re, y.re), m.mul(x.im, y.im)), m.add(m.mul(x.re, y.im), m.mul(x.im, y.re))};
}

/// Smith's division (R. L. Smith, Algorithm 116, CACM 1962): scales by the ratio of the divisor's
/// smaller part to its larger one, so that its square does not overflow. A divisor of 0 divides
/// each part of `x` by 0.
template <class M, class T>
Complex<T> complex_divide(M& m, Complex<T> x, Complex<T> y) {
  const auto real_larger = m.ge(m.abs(y.re), m.abs(y.im));
  const T large = m.select(real_larger, y.re, y.im);
  const T small = m.select(real_larger, y.im, y.re);
  const auto is_zero = m.eq(large, m.neg(large));
  const T ratio = m.select(is_zero, m.abs(large), m.div(small, large));
  const T denominator = m.add(large, m.mul(small, ratio));
  const T re =
      m.select(real_larger, m.add(x.re, m.mul(x.im, ratio)), m.add(m.mul(x.re, ratio), x.im));
  const T im =
      m.select(real_larger, m.sub(x.im, m.mul(x.re, ratio)), m.sub(m.mul(x.im, ratio), x.re));
  return {m.div(re, denominator), m.div(im, denominator)};
}

}  // namespace tpu::tensorcore
