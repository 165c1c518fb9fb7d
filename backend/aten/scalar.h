// A number of the host as an operator argument.
#pragma once

#include <c10/core/ScalarType.h>

#include <complex>
#include <cstdint>

namespace torch_tpu::aten {

/// A Python number (or a 0-d CPU tensor's value), in the widest type of its kind.
struct ScalarValue {
  enum class Kind : uint8_t { kBool, kInt, kFloat, kComplex };

  Kind kind = Kind::kInt;
  int64_t integer = 0;          ///< of kBool and kInt
  std::complex<double> number;  ///< of kFloat (imaginary part 0) and kComplex

  static ScalarValue of(bool value) { return {Kind::kBool, value, {}}; }
  static ScalarValue of(int64_t value) { return {Kind::kInt, value, {}}; }
  static ScalarValue of(double value) { return {Kind::kFloat, 0, {value, 0}}; }
  static ScalarValue of(std::complex<double> value) { return {Kind::kComplex, 0, value}; }

  bool is_integral() const { return kind == Kind::kBool || kind == Kind::kInt; }
  bool is(double value) const { return to_double() == value && number.imag() == 0; }
  double to_double() const { return is_integral() ? static_cast<double>(integer) : number.real(); }
  int64_t to_int() const { return is_integral() ? integer : static_cast<int64_t>(number.real()); }

  /// The dtype in which the number enters a program: bool, int64, float64 or complex128.
  c10::ScalarType carrier() const {
    switch (kind) {
      case Kind::kBool:
        return c10::ScalarType::Bool;
      case Kind::kInt:
        return c10::ScalarType::Long;
      case Kind::kFloat:
        return c10::ScalarType::Double;
      case Kind::kComplex:
        return c10::ScalarType::ComplexDouble;
    }
    return c10::ScalarType::Undefined;
  }
};

}  // namespace torch_tpu::aten
