// Arithmetic on elements in their storage form: how each element type widens, computes and rounds.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "emulator/base/floats.h"
#include "emulator/hlo/types.h"
#include "emulator/tensorcore/vpu/complex.h"

namespace tpu::compiler::kernels {

using tensorcore::Complex;

/// An element type that computes in a C++ arithmetic type of its own.
template <class T>
struct NativeElement {
  using Storage = T;
  using Compute = T;
  static Compute load(Storage value) { return value; }
  static Storage store(Compute value) { return value; }
};

/// Truth values: bytes 0 and 1.
struct BooleanElement : NativeElement<uint8_t> {};

struct BF16Element {
  using Storage = uint16_t;
  using Compute = float;
  static Compute load(Storage value) { return bf16_to_float(value); }
  static Storage store(Compute value) { return bf16_from_float(value); }
};

struct F16Element {
  using Storage = uint16_t;
  using Compute = float;
  static Compute load(Storage value) { return f16_to_float(value); }
  static Storage store(Compute value) { return f16_from_float(value); }
};

/// Calls `body(Element{})` for the element types with arithmetic in the kernels; false, without a
/// call, for the others (4-bit integers, 8-bit floats, tokens).
template <class Body>
bool visit_element(hlo::ElementType type, Body&& body) {
  using enum hlo::ElementType;
  switch (type) {
    case kI1:
      return body(BooleanElement{}), true;
    case kSI8:
      return body(NativeElement<int8_t>{}), true;
    case kSI16:
      return body(NativeElement<int16_t>{}), true;
    case kSI32:
      return body(NativeElement<int32_t>{}), true;
    case kSI64:
      return body(NativeElement<int64_t>{}), true;
    case kUI8:
      return body(NativeElement<uint8_t>{}), true;
    case kUI16:
      return body(NativeElement<uint16_t>{}), true;
    case kUI32:
      return body(NativeElement<uint32_t>{}), true;
    case kUI64:
      return body(NativeElement<uint64_t>{}), true;
    case kBF16:
      return body(BF16Element{}), true;
    case kF16:
      return body(F16Element{}), true;
    case kF32:
      return body(NativeElement<float>{}), true;
    case kF64:
      return body(NativeElement<double>{}), true;
    case kComplexF32:
      return body(NativeElement<Complex<float>>{}), true;
    case kComplexF64:
      return body(NativeElement<Complex<double>>{}), true;
    default:
      return false;
  }
}

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

// The combiners, on Compute values. `Element` tells i1 from ui8: on truth values add and maximum
// are OR, multiply and minimum are AND.
template <class Element>
struct AddOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) {
    if constexpr (std::is_same_v<Element, BooleanElement>) {
      return a | b;
    } else if constexpr (kIsComplex<T>) {
      return {a.re + b.re, a.im + b.im};
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }
};

template <class Element>
struct MultiplyOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) {
    if constexpr (kIsComplex<T>) {
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

// A float's bits, to choose between zeros without a branch.
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// NaN if either is NaN; +0 is larger than -0.
template <class Element>
struct MaximumOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = BitsOf<T>;
      const T zero = std::bit_cast<T>(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b));
      const T larger = ((a > b) | (a != a)) ? a : b;
      return a == b ? zero : larger;
    } else {
      return a > b ? a : b;
    }
  }
};

template <class Element>
struct MinimumOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = BitsOf<T>;
      const T zero = std::bit_cast<T>(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b));
      const T smaller = ((a < b) | (a != a)) ? a : b;
      return a == b ? zero : smaller;
    } else {
      return a < b ? a : b;
    }
  }
};

template <class Element>
struct AndOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) { return a & b; }
};
template <class Element>
struct OrOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) { return a | b; }
};
template <class Element>
struct XorOp {
  using T = typename Element::Compute;
  static T apply(T a, T b) { return a ^ b; }
};

}  // namespace tpu::compiler::kernels
