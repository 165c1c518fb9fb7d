// The machine that elementary functions are written for, and its scalar form.
//
// An elementary function (elementary.h) is a template over a Machine. Run on ScalarMachine it
// computes one value; run on the compiler's machine it emits instructions for a vector of values.
// As every operation below is exact or rounded once as IEEE 754 says, both give the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>

namespace tpu::tensorcore {

/// What `M` must offer so that elementary functions can be written for it.
///
/// The five value types are distinct C++ types (overloads are chosen by them), cheap to copy, and
/// have one lane or many; lanes never interact, except that `lookup` reads a shared table.
///
///   F32, F64   IEEE 754 binary32 and binary64, subnormals kept, round to nearest even
///   I32, I64   two's complement; add, sub and mul wrap
///   Mask       one truth value a lane, whatever the width of what was compared
///
/// Meaning of the operations:
///   f32(float) f64(double) i32(int32_t) i64(int64_t)   a constant in all lanes
///   add sub mul div fma sqrt        rounded once; fma(a, b, c) = a * b + c
///   neg abs                         of floats: change the sign bit only, also of a NaN
///   round_even floor                to an integral value of the same type, keeping -0
///   lt le gt ge eq                  false on a NaN; ne: true on a NaN; of integers signed
///   and_ or_ xor_ not_              bitwise on integers; and_ or_ not_ logical on masks
///   shl shr_logical shr_arithmetic  by an int or by a value of the same type, 0 <= count < width;
///                                   other counts give an unspecified value
///   select(mask, a, b)              a where the mask holds, else b; all five value types except
///                                   Mask; an unspecified value in the lane not chosen is harmless
///   bits float_of                   reinterpret: F32 <-> I32, F64 <-> I64
///   to_i32(F32 or F64)              of an integral value that fits; else an unspecified value
///   to_f32(I32) to_f64(I32)         the nearest float; exact for F64
///   widen(F32) -> F64, narrow(F64) -> F32    exact; rounded to nearest even
///   sign_extend(I32) -> I64, truncate(I64) -> I32    the low half
///   lookup(table, I32 index) -> F64          table[index] lane by lane, 0 <= index < size; the
///                                            table has static storage duration
///   is_nan(F32 or F64) -> Mask
template <typename M>
concept Machine =
    requires(M m, typename M::F32 f, typename M::F64 d, typename M::I32 i, typename M::I64 l,
             typename M::Mask p, int count, std::span<const double> table) {
      // Constants.
      { m.f32(1.0f) } -> std::same_as<typename M::F32>;
      { m.f64(1.0) } -> std::same_as<typename M::F64>;
      { m.i32(int32_t{1}) } -> std::same_as<typename M::I32>;
      { m.i64(int64_t{1}) } -> std::same_as<typename M::I64>;
      // Float arithmetic.
      { m.add(f, f) } -> std::same_as<typename M::F32>;
      { m.sub(f, f) } -> std::same_as<typename M::F32>;
      { m.mul(f, f) } -> std::same_as<typename M::F32>;
      { m.div(f, f) } -> std::same_as<typename M::F32>;
      { m.fma(f, f, f) } -> std::same_as<typename M::F32>;
      { m.neg(f) } -> std::same_as<typename M::F32>;
      { m.abs(f) } -> std::same_as<typename M::F32>;
      { m.sqrt(f) } -> std::same_as<typename M::F32>;
      { m.round_even(f) } -> std::same_as<typename M::F32>;
      { m.floor(f) } -> std::same_as<typename M::F32>;
      { m.add(d, d) } -> std::same_as<typename M::F64>;
      { m.sub(d, d) } -> std::same_as<typename M::F64>;
      { m.mul(d, d) } -> std::same_as<typename M::F64>;
      { m.div(d, d) } -> std::same_as<typename M::F64>;
      { m.fma(d, d, d) } -> std::same_as<typename M::F64>;
      { m.neg(d) } -> std::same_as<typename M::F64>;
      { m.abs(d) } -> std::same_as<typename M::F64>;
      { m.sqrt(d) } -> std::same_as<typename M::F64>;
      { m.round_even(d) } -> std::same_as<typename M::F64>;
      { m.floor(d) } -> std::same_as<typename M::F64>;
      // Integer arithmetic.
      { m.add(i, i) } -> std::same_as<typename M::I32>;
      { m.sub(i, i) } -> std::same_as<typename M::I32>;
      { m.mul(i, i) } -> std::same_as<typename M::I32>;
      { m.add(l, l) } -> std::same_as<typename M::I64>;
      { m.sub(l, l) } -> std::same_as<typename M::I64>;
      { m.mul(l, l) } -> std::same_as<typename M::I64>;
      { m.shl(i, count) } -> std::same_as<typename M::I32>;
      { m.shl(i, i) } -> std::same_as<typename M::I32>;
      { m.shr_logical(i, count) } -> std::same_as<typename M::I32>;
      { m.shr_logical(i, i) } -> std::same_as<typename M::I32>;
      { m.shr_arithmetic(i, count) } -> std::same_as<typename M::I32>;
      { m.shr_arithmetic(i, i) } -> std::same_as<typename M::I32>;
      { m.shl(l, count) } -> std::same_as<typename M::I64>;
      { m.shl(l, l) } -> std::same_as<typename M::I64>;
      { m.shr_logical(l, count) } -> std::same_as<typename M::I64>;
      { m.shr_logical(l, l) } -> std::same_as<typename M::I64>;
      { m.shr_arithmetic(l, count) } -> std::same_as<typename M::I64>;
      { m.shr_arithmetic(l, l) } -> std::same_as<typename M::I64>;
      // Bits and masks.
      { m.and_(i, i) } -> std::same_as<typename M::I32>;
      { m.or_(i, i) } -> std::same_as<typename M::I32>;
      { m.xor_(i, i) } -> std::same_as<typename M::I32>;
      { m.not_(i) } -> std::same_as<typename M::I32>;
      { m.and_(l, l) } -> std::same_as<typename M::I64>;
      { m.or_(l, l) } -> std::same_as<typename M::I64>;
      { m.xor_(l, l) } -> std::same_as<typename M::I64>;
      { m.not_(l) } -> std::same_as<typename M::I64>;
      { m.and_(p, p) } -> std::same_as<typename M::Mask>;
      { m.or_(p, p) } -> std::same_as<typename M::Mask>;
      { m.not_(p) } -> std::same_as<typename M::Mask>;
      // Comparisons and choice.
      { m.lt(f, f) } -> std::same_as<typename M::Mask>;
      { m.le(f, f) } -> std::same_as<typename M::Mask>;
      { m.gt(f, f) } -> std::same_as<typename M::Mask>;
      { m.ge(f, f) } -> std::same_as<typename M::Mask>;
      { m.eq(f, f) } -> std::same_as<typename M::Mask>;
      { m.ne(f, f) } -> std::same_as<typename M::Mask>;
      { m.is_nan(f) } -> std::same_as<typename M::Mask>;
      { m.lt(d, d) } -> std::same_as<typename M::Mask>;
      { m.le(d, d) } -> std::same_as<typename M::Mask>;
      { m.gt(d, d) } -> std::same_as<typename M::Mask>;
      { m.ge(d, d) } -> std::same_as<typename M::Mask>;
      { m.eq(d, d) } -> std::same_as<typename M::Mask>;
      { m.ne(d, d) } -> std::same_as<typename M::Mask>;
      { m.is_nan(d) } -> std::same_as<typename M::Mask>;
      { m.lt(i, i) } -> std::same_as<typename M::Mask>;
      { m.eq(i, i) } -> std::same_as<typename M::Mask>;
      { m.lt(l, l) } -> std::same_as<typename M::Mask>;
      { m.eq(l, l) } -> std::same_as<typename M::Mask>;
      { m.select(p, f, f) } -> std::same_as<typename M::F32>;
      { m.select(p, d, d) } -> std::same_as<typename M::F64>;
      { m.select(p, i, i) } -> std::same_as<typename M::I32>;
      { m.select(p, l, l) } -> std::same_as<typename M::I64>;
      // Conversions.
      { m.bits(f) } -> std::same_as<typename M::I32>;
      { m.bits(d) } -> std::same_as<typename M::I64>;
      { m.float_of(i) } -> std::same_as<typename M::F32>;
      { m.float_of(l) } -> std::same_as<typename M::F64>;
      { m.to_i32(f) } -> std::same_as<typename M::I32>;
      { m.to_i32(d) } -> std::same_as<typename M::I32>;
      { m.to_f32(i) } -> std::same_as<typename M::F32>;
      { m.to_f64(i) } -> std::same_as<typename M::F64>;
      { m.widen(f) } -> std::same_as<typename M::F64>;
      { m.narrow(d) } -> std::same_as<typename M::F32>;
      { m.sign_extend(i) } -> std::same_as<typename M::I64>;
      { m.truncate(l) } -> std::same_as<typename M::I32>;
      { m.lookup(table, i) } -> std::same_as<typename M::F64>;
    };

/// One lane, in the host's own types. Needs the default rounding mode.
struct ScalarMachine {
  using F32 = float;
  using F64 = double;
  using I32 = int32_t;
  using I64 = int64_t;
  using Mask = bool;

  F32 f32(float value) { return value; }
  F64 f64(double value) { return value; }
  I32 i32(int32_t value) { return value; }
  I64 i64(int64_t value) { return value; }

  template <std::floating_point T>
  T add(T a, T b) {
    return a + b;
  }
  template <std::floating_point T>
  T sub(T a, T b) {
    return a - b;
  }
  template <std::floating_point T>
  T mul(T a, T b) {
    return a * b;
  }
  template <std::floating_point T>
  T div(T a, T b) {
    return a / b;
  }
  template <std::floating_point T>
  T fma(T a, T b, T c) {
    return std::fma(a, b, c);
  }
  template <std::floating_point T>
  T neg(T a) {
    return -a;
  }
  template <std::floating_point T>
  T abs(T a) {
    return std::fabs(a);
  }
  template <std::floating_point T>
  T sqrt(T a) {
    return std::sqrt(a);
  }
  template <std::floating_point T>
  T round_even(T a) {
    return std::nearbyint(a);
  }
  template <std::floating_point T>
  T floor(T a) {
    return std::floor(a);
  }
  template <std::floating_point T>
  Mask is_nan(T a) {
    return a != a;
  }

  I32 add(I32 a, I32 b) { return I32(uint32_t(a) + uint32_t(b)); }
  I32 sub(I32 a, I32 b) { return I32(uint32_t(a) - uint32_t(b)); }
  I32 mul(I32 a, I32 b) { return I32(uint32_t(a) * uint32_t(b)); }
  I64 add(I64 a, I64 b) { return I64(uint64_t(a) + uint64_t(b)); }
  I64 sub(I64 a, I64 b) { return I64(uint64_t(a) - uint64_t(b)); }
  I64 mul(I64 a, I64 b) { return I64(uint64_t(a) * uint64_t(b)); }

  I32 shl(I32 a, I32 count) { return I32(uint32_t(a) << (count & 31)); }
  I32 shr_logical(I32 a, I32 count) { return I32(uint32_t(a) >> (count & 31)); }
  I32 shr_arithmetic(I32 a, I32 count) { return a >> (count & 31); }
  I64 shl(I64 a, I64 count) { return I64(uint64_t(a) << (count & 63)); }
  I64 shr_logical(I64 a, I64 count) { return I64(uint64_t(a) >> (count & 63)); }
  I64 shr_arithmetic(I64 a, I64 count) { return a >> (count & 63); }
  I64 shl(I64 a, int count) { return shl(a, I64{count}); }
  I64 shr_logical(I64 a, int count) { return shr_logical(a, I64{count}); }
  I64 shr_arithmetic(I64 a, int count) { return shr_arithmetic(a, I64{count}); }

  template <std::integral T>
  T and_(T a, T b) {
    return T(a & b);
  }
  template <std::integral T>
  T or_(T a, T b) {
    return T(a | b);
  }
  template <std::integral T>
  T xor_(T a, T b) {
    return T(a ^ b);
  }
  Mask not_(Mask a) { return !a; }
  I32 not_(I32 a) { return ~a; }
  I64 not_(I64 a) { return ~a; }

  template <typename T>
  Mask lt(T a, T b) {
    return a < b;
  }
  template <typename T>
  Mask le(T a, T b) {
    return a <= b;
  }
  template <typename T>
  Mask gt(T a, T b) {
    return a > b;
  }
  template <typename T>
  Mask ge(T a, T b) {
    return a >= b;
  }
  template <typename T>
  Mask eq(T a, T b) {
    return a == b;
  }
  template <typename T>
  Mask ne(T a, T b) {
    return a != b;
  }
  template <typename T>
  T select(Mask mask, T a, T b) {
    return mask ? a : b;
  }

  I32 bits(F32 a) { return std::bit_cast<I32>(a); }
  I64 bits(F64 a) { return std::bit_cast<I64>(a); }
  F32 float_of(I32 a) { return std::bit_cast<F32>(a); }
  F64 float_of(I64 a) { return std::bit_cast<F64>(a); }
  I32 to_i32(F32 a) { return to_i32(F64{a}); }
  I32 to_i32(F64 a) {
    const bool fits = a >= -2147483648.0 && a <= 2147483647.0;
    return fits ? static_cast<I32>(a) : std::numeric_limits<I32>::min();
  }
  F32 to_f32(I32 a) { return static_cast<F32>(a); }
  F64 to_f64(I32 a) { return a; }
  F64 widen(F32 a) { return a; }
  F32 narrow(F64 a) { return static_cast<F32>(a); }
  I64 sign_extend(I32 a) { return a; }
  I32 truncate(I64 a) { return static_cast<I32>(a); }
  F64 lookup(std::span<const double> table, I32 index) { return table[static_cast<size_t>(index)]; }
};

static_assert(Machine<ScalarMachine>);

}  // namespace tpu::tensorcore
