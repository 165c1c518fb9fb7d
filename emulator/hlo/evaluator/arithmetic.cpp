#include "emulator/hlo/evaluator/arithmetic.h"

#include <bit>
#include <cmath>
#include <compare>
#include <limits>

#include "emulator/base/error.h"
#include "emulator/tensorcore/vpu/complex_functions.h"

namespace tpu::hlo {
namespace {

tensorcore::ScalarMachine machine;

[[noreturn]] void throw_no_such_op(std::string_view op, ElementType type) {
  throw Unimplemented(std::string(op) + " of " + std::string(name(type)) + " elements");
}

// Integer arithmetic on the 64-bit extension; make_integer wraps the result.
template <class F>
Element map_integer(F f, const Element& x, const Element& y) {
  return make_integer(x.type, f(x.bits(), y.bits()));
}

uint64_t width_mask(ElementType type) {
  return ~uint64_t{0} >> (64 - bit_width(type));
}

// The bits without sign extension.
uint64_t raw_bits(const Element& x) {
  return x.bits() & width_mask(x.type);
}

}  // namespace

Element add(const Element& x, const Element& y) {
  if (is_boolean(x.type)) return or_(x, y);
  if (is_float(x.type)) return map_float([](auto a, auto b) { return a + b; }, x, y);
  if (is_complex(x.type)) {
    return map_complex([](auto a, auto b) { return complex_add(machine, a, b); }, x, y);
  }
  return map_integer([](uint64_t a, uint64_t b) { return a + b; }, x, y);
}

Element subtract(const Element& x, const Element& y) {
  if (is_float(x.type)) return map_float([](auto a, auto b) { return a - b; }, x, y);
  if (is_complex(x.type)) {
    return map_complex([](auto a, auto b) { return complex_subtract(machine, a, b); }, x, y);
  }
  return map_integer([](uint64_t a, uint64_t b) { return a - b; }, x, y);
}

Element multiply(const Element& x, const Element& y) {
  if (is_boolean(x.type)) return and_(x, y);
  if (is_float(x.type)) return map_float([](auto a, auto b) { return a * b; }, x, y);
  if (is_complex(x.type)) {
    return map_complex([](auto a, auto b) { return complex_multiply(machine, a, b); }, x, y);
  }
  return map_integer([](uint64_t a, uint64_t b) { return a * b; }, x, y);
}

Element divide(const Element& x, const Element& y) {
  if (is_float(x.type)) return map_float([](auto a, auto b) { return a / b; }, x, y);
  if (is_complex(x.type)) {
    return map_complex([](auto a, auto b) { return complex_divide(machine, a, b); }, x, y);
  }
  if (y.bits() == 0) return make_integer(x.type, ~uint64_t{0});
  if (!is_signed_integer(x.type)) return make_integer(x.type, x.bits() / y.bits());
  if (y.integer() == -1) return negate(x);  // the minimum wraps to itself
  return make_integer(x.type, static_cast<uint64_t>(x.integer() / y.integer()));
}

Element remainder(const Element& x, const Element& y) {
  // fmod is exact, so every math library gives the same.
  if (is_float(x.type)) return map_float([](auto a, auto b) { return std::fmod(a, b); }, x, y);
  if (is_complex(x.type)) throw_no_such_op("remainder", x.type);
  if (y.bits() == 0) return x;
  if (!is_signed_integer(x.type)) return make_integer(x.type, x.bits() % y.bits());
  if (y.integer() == -1) return zero(x.type);
  return make_integer(x.type, static_cast<uint64_t>(x.integer() % y.integer()));
}

namespace {

template <class T>
T larger(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <class T>
T smaller(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

}  // namespace

Element maximum(const Element& x, const Element& y) {
  if (is_float(x.type)) return map_float([](auto a, auto b) { return larger(a, b); }, x, y);
  if (is_complex(x.type)) throw_no_such_op("maximum", x.type);
  return compare(x, y, "GE", "") ? x : y;
}

Element minimum(const Element& x, const Element& y) {
  if (is_float(x.type)) return map_float([](auto a, auto b) { return smaller(a, b); }, x, y);
  if (is_complex(x.type)) throw_no_such_op("minimum", x.type);
  return compare(x, y, "LE", "") ? x : y;
}

Element clamp(const Element& low, const Element& x, const Element& high) {
  return minimum(maximum(x, low), high);
}

Element integer_power(const Element& x, const Element& y) {
  if (is_signed_integer(y.type) && y.integer() < 0) {
    if (x.integer() == 1) return x;
    if (x.integer() == -1) return y.integer() % 2 == 0 ? one(x.type) : x;
    return zero(x.type);
  }
  uint64_t result = 1, base = x.bits();
  for (uint64_t exponent = y.bits(); exponent != 0; exponent >>= 1) {
    if (exponent & 1) result *= base;
    base *= base;
  }
  return make_integer(x.type, result);
}

Element negate(const Element& x) {
  if (is_float(x.type)) return map_float([](auto a) { return -a; }, x);
  if (is_complex(x.type)) {
    return map_complex([](auto a) { return complex_negate(machine, a); }, x);
  }
  return make_integer(x.type, -x.bits());
}

Element abs(const Element& x) {
  if (is_float(x.type)) return map_float([](auto a) { return std::fabs(a); }, x);
  if (x.type == ElementType::kComplexF32) {
    return make_float(ElementType::kF32, complex_abs(machine, std::get<Complex32>(x.value)));
  }
  if (x.type == ElementType::kComplexF64) {
    return make_float(ElementType::kF64, complex_abs(machine, std::get<Complex64>(x.value)));
  }
  return is_signed_integer(x.type) && x.integer() < 0 ? negate(x) : x;
}

Element sign(const Element& x) {
  if (is_complex(x.type)) {
    return map_complex([](auto a) { return complex_sign(machine, a); }, x);
  }
  if (is_float(x.type)) {
    return map_float(
        [](auto a) { return a == 0 || std::isnan(a) ? a : std::copysign(decltype(a){1}, a); }, x);
  }
  if (x.bits() == 0) return x;
  return make_integer(x.type, is_signed_integer(x.type) && x.integer() < 0 ? ~uint64_t{0} : 1);
}

Element ceil(const Element& x) {
  return map_float([](auto a) { return std::ceil(a); }, x);
}
Element floor(const Element& x) {
  return map_float([](auto a) { return std::floor(a); }, x);
}
Element round_nearest_afz(const Element& x) {
  return map_float([](auto a) { return std::round(a); }, x);
}
Element round_nearest_even(const Element& x) {
  return map_float([](auto a) { return std::nearbyint(a); }, x);
}

Element is_finite(const Element& x) {
  if (x.type == ElementType::kF64) return make_bool(std::isfinite(std::get<double>(x.value)));
  return make_bool(std::isfinite(std::get<float>(x.value)));
}

Element and_(const Element& x, const Element& y) {
  return map_integer([](uint64_t a, uint64_t b) { return a & b; }, x, y);
}
Element or_(const Element& x, const Element& y) {
  return map_integer([](uint64_t a, uint64_t b) { return a | b; }, x, y);
}
Element xor_(const Element& x, const Element& y) {
  return map_integer([](uint64_t a, uint64_t b) { return a ^ b; }, x, y);
}
Element not_(const Element& x) {
  return make_integer(x.type, ~x.bits());
}

Element shift_left(const Element& x, const Element& count) {
  const uint64_t by = raw_bits(count);
  return make_integer(x.type, by >= static_cast<uint64_t>(bit_width(x.type)) ? 0 : x.bits() << by);
}

Element shift_right_logical(const Element& x, const Element& count) {
  const uint64_t by = raw_bits(count);
  return make_integer(x.type,
                      by >= static_cast<uint64_t>(bit_width(x.type)) ? 0 : raw_bits(x) >> by);
}

Element shift_right_arithmetic(const Element& x, const Element& count) {
  // For an unsigned type, too, the top bit is what comes in from the left.
  const int unused = 64 - bit_width(x.type);
  const int64_t extended = static_cast<int64_t>(x.bits() << unused) >> unused;
  const uint64_t by = std::min<uint64_t>(raw_bits(count), 63);
  return make_integer(x.type, static_cast<uint64_t>(extended >> by));
}

Element popcnt(const Element& x) {
  return make_integer(x.type, static_cast<uint64_t>(std::popcount(raw_bits(x))));
}

Element count_leading_zeros(const Element& x) {
  const int unused = 64 - bit_width(x.type);
  return make_integer(x.type, static_cast<uint64_t>(std::countl_zero(raw_bits(x)) - unused));
}

namespace {

// std::partial_ordering of two elements; `unordered` if a NaN is among them.
template <class T>
std::partial_ordering total_order(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
  if (a == 0 && b == 0) return std::signbit(b) <=> std::signbit(a);
  return a <=> b;
}

template <class T>
std::partial_ordering order_floats(const Element& x, const Element& y, bool total) {
  const T a = std::get<T>(x.value), b = std::get<T>(y.value);
  return total ? total_order(a, b) : a <=> b;
}

std::partial_ordering order(const Element& x, const Element& y, bool total) {
  if (x.type == ElementType::kF64) return order_floats<double>(x, y, total);
  if (is_float(x.type)) return order_floats<float>(x, y, total);
  if (is_complex(x.type)) {
    return x.value == y.value ? std::partial_ordering::equivalent
                              : std::partial_ordering::unordered;
  }
  if (is_signed_integer(x.type)) return x.integer() <=> y.integer();
  return x.bits() <=> y.bits();
}

}  // namespace

bool compare(const Element& x, const Element& y, std::string_view direction,
             std::string_view compare_type) {
  const std::partial_ordering ordering = order(x, y, compare_type == "TOTALORDER");
  if (direction == "EQ") return ordering == 0;
  if (direction == "NE") return ordering != 0;
  if (is_complex(x.type)) throw_no_such_op("ordered comparison", x.type);
  if (direction == "GE") return ordering >= 0;
  if (direction == "GT") return ordering > 0;
  if (direction == "LE") return ordering <= 0;
  if (direction == "LT") return ordering < 0;
  throw InvalidArgument("comparison direction '" + std::string(direction) +
                        "'; expected EQ, NE, GE, GT, LE or LT");
}

}  // namespace tpu::hlo
