// What the rule needs to know of a dtype.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

namespace conformance {

enum class Kind : uint8_t { kFloat, kInteger };

/// A dtype by PyTorch's name; a complex one by its parts.
struct Element {
  std::string_view name;
  Kind kind = Kind::kFloat;
  double unit_roundoff = 0;  ///< 2^-p for p significand bits, the hidden one included
  double max_finite = 0;
  double min_normal = 0, min_subnormal = 0;
  bool has_infinity = true;
};

namespace detail {

/// `bits` significand bits, exponents of normal numbers from `low` to `high` (IEEE 754-2019, 3.3).
inline Element make_float(std::string_view name, int bits, int low, int high) {
  Element e{name};
  e.unit_roundoff = std::ldexp(1.0, -bits);
  e.max_finite = std::ldexp(2.0 - std::ldexp(1.0, 1 - bits), high);
  e.min_normal = std::ldexp(1.0, low);
  e.min_subnormal = std::ldexp(1.0, low - bits + 1);
  return e;
}

}  // namespace detail

/// The element of a dtype such as "float32" or "complex64"; nothing for a name that is none.
inline std::optional<Element> find_element(std::string_view name) {
  using detail::make_float;
  if (name == "float64" || name == "complex128") return make_float(name, 53, -1022, 1023);
  if (name == "float32" || name == "complex64") return make_float(name, 24, -126, 127);
  if (name == "float16" || name == "complex32") return make_float(name, 11, -14, 15);
  if (name == "bfloat16") return make_float(name, 8, -126, 127);
  // OCP 8-bit floating point specification 1.0, table 2: e4m3 gives its top exponent to numbers.
  if (name == "float8_e5m2") return make_float(name, 3, -14, 15);
  if (name == "float8_e4m3fn") {
    Element e = make_float(name, 4, -6, 8);
    e.max_finite = 448;
    e.has_infinity = false;
    return e;
  }
  // The forms without infinity and negative zero (Noune et al., arXiv 2206.02915): one binade
  // lower.
  for (const auto& [fnuz, bits, low, high] :
       {std::tuple{"float8_e4m3fnuz", 4, -7, 7}, {"float8_e5m2fnuz", 3, -15, 15}}) {
    if (name != fnuz) continue;
    Element e = make_float(name, bits, low, high);
    e.has_infinity = false;
    return e;
  }
  for (std::string_view integer :
       {"bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"}) {
    if (name == integer) return Element{integer, Kind::kInteger};
  }
  return std::nullopt;
}

}  // namespace conformance
