// One element of a tensor, in the type that arithmetic on it runs in.
#pragma once

#include <cstdint>
#include <variant>

#include "emulator/hlo/literal.h"
#include "emulator/hlo/types.h"
#include "emulator/tensorcore/vpu/complex.h"

namespace tpu::hlo {

using Complex32 = tensorcore::Complex<float>;
using Complex64 = tensorcore::Complex<double>;

/// A value of an element type. What `value` holds follows from the type:
///   i1, integers         the bits as uint64_t, sign- or zero-extended from the type's width
///   fp8, bf16, f16, f32  float; always a number the type can represent
///   f64                  double
///   complex<f32, f64>    Complex<float, double>
struct Element {
  ElementType type = ElementType::kI1;
  std::variant<uint64_t, float, double, Complex32, Complex64> value = uint64_t{0};

  uint64_t bits() const { return std::get<uint64_t>(value); }
  /// The integer as a number; exact for all types but ui64, which wraps.
  int64_t integer() const { return static_cast<int64_t>(bits()); }
  /// True for an i1 that holds.
  bool truth() const { return bits() != 0; }
};

/// An element of i1 or an integer type: `bits` modulo the type's width.
Element make_integer(ElementType type, uint64_t bits);
Element make_bool(bool value);
/// An element of a float type: `value` rounded to it, to nearest even. A double becomes an
/// element narrower than f32 by way of f32, as all arithmetic on those types does.
Element make_float(ElementType type, float value);
Element make_float(ElementType type, double value);
Element make_complex(Complex32 value);
Element make_complex(Complex64 value);
/// 0 in any type; false for i1.
Element zero(ElementType type);
Element one(ElementType type);

/// Element `position` (row-major) of a tensor.
Element load(const Literal& tensor, int64_t position);
void store(Literal& tensor, int64_t position, const Element& element);
/// The rank-0 tensor of one element, and back.
Literal to_literal(const Element& element);
inline Element to_element(const Literal& scalar) {
  return load(scalar, 0);
}

/// An index element as a position between 0 and `last`, whichever is nearest.
int64_t clamp_start(const Element& index, int64_t last);

/// Applies `f` to the float, double or complex numbers of elements of one type and makes an
/// element of that type of the result (each narrow float rounded once).
template <class F>
Element map_float(F f, const Element& x) {
  if (x.type == ElementType::kF64) return make_float(x.type, f(std::get<double>(x.value)));
  return make_float(x.type, f(std::get<float>(x.value)));
}
template <class F>
Element map_float(F f, const Element& x, const Element& y) {
  if (x.type == ElementType::kF64) {
    return make_float(x.type, f(std::get<double>(x.value), std::get<double>(y.value)));
  }
  return make_float(x.type, f(std::get<float>(x.value), std::get<float>(y.value)));
}
template <class F>
Element map_complex(F f, const Element& x) {
  if (x.type == ElementType::kComplexF64) return make_complex(f(std::get<Complex64>(x.value)));
  return make_complex(f(std::get<Complex32>(x.value)));
}
template <class F>
Element map_complex(F f, const Element& x, const Element& y) {
  if (x.type == ElementType::kComplexF64) {
    return make_complex(f(std::get<Complex64>(x.value), std::get<Complex64>(y.value)));
  }
  return make_complex(f(std::get<Complex32>(x.value), std::get<Complex32>(y.value)));
}

}  // namespace tpu::hlo
