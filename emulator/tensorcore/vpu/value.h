// Arithmetic notation for a Machine's values, so that elementary functions read like formulas.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "emulator/tensorcore/vpu/machine.h"

namespace tpu::tensorcore {

namespace internal {

template <typename M, typename T>
struct NativeOf;
template <typename M>
struct NativeOf<M, float> {
  using Type = typename M::F32;
};
template <typename M>
struct NativeOf<M, double> {
  using Type = typename M::F64;
};
template <typename M>
struct NativeOf<M, int32_t> {
  using Type = typename M::I32;
};
template <typename M>
struct NativeOf<M, int64_t> {
  using Type = typename M::I64;
};
template <typename M>
struct NativeOf<M, bool> {
  using Type = typename M::Mask;
};

}  // namespace internal

/// A value of element type T (float, double, int32_t, int64_t; bool for a mask) on machine M. Each
/// operator is one operation of the machine: nothing is reassociated or contracted. The other
/// operand may be a constant.
template <Machine M, typename T>
class Value {
 public:
  using Native = typename internal::NativeOf<M, T>::Type;

  Value(M& machine, Native native) : machine_(&machine), native_(native) {}

  M& machine() const { return *machine_; }
  Native native() const { return native_; }

  /// A constant on the same machine; its element type is that of the argument.
  template <typename U>
  Value<M, U> constant(U value) const {
    if constexpr (std::is_same_v<U, float>) {
      return {*machine_, machine_->f32(value)};
    } else if constexpr (std::is_same_v<U, double>) {
      return {*machine_, machine_->f64(value)};
    } else if constexpr (std::is_same_v<U, int32_t>) {
      return {*machine_, machine_->i32(value)};
    } else {
      static_assert(std::is_same_v<U, int64_t>);
      return {*machine_, machine_->i64(value)};
    }
  }

  friend Value operator+(Value a, Value b) { return {a.m(), a.m().add(a.native_, b.native_)}; }
  friend Value operator-(Value a, Value b) { return {a.m(), a.m().sub(a.native_, b.native_)}; }
  friend Value operator*(Value a, Value b) { return {a.m(), a.m().mul(a.native_, b.native_)}; }
  friend Value operator/(Value a, Value b) { return {a.m(), a.m().div(a.native_, b.native_)}; }
  friend Value operator&(Value a, Value b) { return {a.m(), a.m().and_(a.native_, b.native_)}; }
  friend Value operator|(Value a, Value b) { return {a.m(), a.m().or_(a.native_, b.native_)}; }
  friend Value operator^(Value a, Value b) { return {a.m(), a.m().xor_(a.native_, b.native_)}; }
  friend Value operator+(Value a, T b) { return a + a.constant(b); }
  friend Value operator-(Value a, T b) { return a - a.constant(b); }
  friend Value operator*(Value a, T b) { return a * a.constant(b); }
  friend Value operator/(Value a, T b) { return a / a.constant(b); }
  friend Value operator&(Value a, T b) { return a & a.constant(b); }
  friend Value operator|(Value a, T b) { return a | a.constant(b); }
  friend Value operator^(Value a, T b) { return a ^ a.constant(b); }
  friend Value operator+(T a, Value b) { return b.constant(a) + b; }
  friend Value operator-(T a, Value b) { return b.constant(a) - b; }
  friend Value operator*(T a, Value b) { return b.constant(a) * b; }
  friend Value operator/(T a, Value b) { return b.constant(a) / b; }

  /// Of floats: changes the sign, also of zero and NaN.
  Value operator-() const { return {m(), m().neg(native_)}; }
  Value operator~() const { return {m(), m().not_(native_)}; }
  Value operator!() const { return {m(), m().not_(native_)}; }

  friend Value<M, bool> operator<(Value a, Value b) {
    return {a.m(), a.m().lt(a.native_, b.native_)};
  }
  friend Value<M, bool> operator<=(Value a, Value b) {
    return {a.m(), a.m().le(a.native_, b.native_)};
  }
  friend Value<M, bool> operator>(Value a, Value b) {
    return {a.m(), a.m().gt(a.native_, b.native_)};
  }
  friend Value<M, bool> operator>=(Value a, Value b) {
    return {a.m(), a.m().ge(a.native_, b.native_)};
  }
  friend Value<M, bool> operator==(Value a, Value b) {
    return {a.m(), a.m().eq(a.native_, b.native_)};
  }
  friend Value<M, bool> operator!=(Value a, Value b) {
    return {a.m(), a.m().ne(a.native_, b.native_)};
  }
  friend Value<M, bool> operator<(Value a, T b) { return a < a.constant(b); }
  friend Value<M, bool> operator<=(Value a, T b) { return a <= a.constant(b); }
  friend Value<M, bool> operator>(Value a, T b) { return a > a.constant(b); }
  friend Value<M, bool> operator>=(Value a, T b) { return a >= a.constant(b); }
  friend Value<M, bool> operator==(Value a, T b) { return a == a.constant(b); }
  friend Value<M, bool> operator!=(Value a, T b) { return a != a.constant(b); }

  Value shl(int count) const { return {m(), m().shl(native_, count)}; }
  Value shr_logical(int count) const { return {m(), m().shr_logical(native_, count)}; }
  Value shr_arithmetic(int count) const { return {m(), m().shr_arithmetic(native_, count)}; }

 private:
  M& m() const { return *machine_; }

  M* machine_;
  Native native_;
};

template <Machine M>
using Bool = Value<M, bool>;

/// a * b + c, rounded once.
template <Machine M, typename T>
Value<M, T> fma(Value<M, T> a, Value<M, T> b, Value<M, T> c) {
  return {a.machine(), a.machine().fma(a.native(), b.native(), c.native())};
}
template <Machine M, typename T>
Value<M, T> fma(Value<M, T> a, std::type_identity_t<T> b, Value<M, T> c) {
  return fma(a, a.constant(b), c);
}
template <Machine M, typename T>
Value<M, T> fma(Value<M, T> a, Value<M, T> b, std::type_identity_t<T> c) {
  return fma(a, b, a.constant(c));
}
template <Machine M, typename T>
Value<M, T> fma(Value<M, T> a, std::type_identity_t<T> b, std::type_identity_t<T> c) {
  return fma(a, a.constant(b), a.constant(c));
}

template <Machine M, typename T>
Value<M, T> abs(Value<M, T> a) {
  return {a.machine(), a.machine().abs(a.native())};
}
template <Machine M, typename T>
Value<M, T> sqrt(Value<M, T> a) {
  return {a.machine(), a.machine().sqrt(a.native())};
}
template <Machine M, typename T>
Value<M, T> round_even(Value<M, T> a) {
  return {a.machine(), a.machine().round_even(a.native())};
}
template <Machine M, typename T>
Value<M, T> floor(Value<M, T> a) {
  return {a.machine(), a.machine().floor(a.native())};
}
template <Machine M, typename T>
Bool<M> is_nan(Value<M, T> a) {
  return {a.machine(), a.machine().is_nan(a.native())};
}

/// a where the mask holds, else b.
template <Machine M, typename T>
Value<M, T> select(Bool<M> mask, Value<M, T> a, Value<M, T> b) {
  return {a.machine(), a.machine().select(mask.native(), a.native(), b.native())};
}
template <Machine M, typename T>
Value<M, T> select(Bool<M> mask, std::type_identity_t<T> a, Value<M, T> b) {
  return select(mask, b.constant(a), b);
}
template <Machine M, typename T>
Value<M, T> select(Bool<M> mask, Value<M, T> a, std::type_identity_t<T> b) {
  return select(mask, a, a.constant(b));
}

/// The smaller (larger) of x and a bound; x where it is a NaN.
template <Machine M, typename T>
Value<M, T> at_most(Value<M, T> x, std::type_identity_t<T> bound) {
  return select(x.constant(bound) < x, bound, x);
}
template <Machine M, typename T>
Value<M, T> at_least(Value<M, T> x, std::type_identity_t<T> bound) {
  return select(x.constant(bound) > x, bound, x);
}

template <Machine M>
Value<M, int32_t> bits(Value<M, float> a) {
  return {a.machine(), a.machine().bits(a.native())};
}
template <Machine M>
Value<M, int64_t> bits(Value<M, double> a) {
  return {a.machine(), a.machine().bits(a.native())};
}
template <Machine M>
Value<M, float> float_of(Value<M, int32_t> a) {
  return {a.machine(), a.machine().float_of(a.native())};
}
template <Machine M>
Value<M, double> float_of(Value<M, int64_t> a) {
  return {a.machine(), a.machine().float_of(a.native())};
}
template <Machine M, typename T>
Value<M, int32_t> to_i32(Value<M, T> a) {
  return {a.machine(), a.machine().to_i32(a.native())};
}
template <Machine M>
Value<M, float> to_f32(Value<M, int32_t> a) {
  return {a.machine(), a.machine().to_f32(a.native())};
}
template <Machine M>
Value<M, double> to_f64(Value<M, int32_t> a) {
  return {a.machine(), a.machine().to_f64(a.native())};
}
template <Machine M>
Value<M, double> widen(Value<M, float> a) {
  return {a.machine(), a.machine().widen(a.native())};
}
template <Machine M>
Value<M, float> narrow(Value<M, double> a) {
  return {a.machine(), a.machine().narrow(a.native())};
}
template <Machine M>
Value<M, int64_t> sign_extend(Value<M, int32_t> a) {
  return {a.machine(), a.machine().sign_extend(a.native())};
}
template <Machine M>
Value<M, int32_t> truncate(Value<M, int64_t> a) {
  return {a.machine(), a.machine().truncate(a.native())};
}
template <Machine M>
Value<M, double> lookup(std::span<const double> table, Value<M, int32_t> index) {
  return {index.machine(), index.machine().lookup(table, index.native())};
}

}  // namespace tpu::tensorcore
