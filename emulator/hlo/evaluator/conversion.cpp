#include "emulator/hlo/evaluator/conversion.h"

#include <bit>
#include <cmath>
#include <limits>

#include "emulator/base/error.h"

namespace tpu::hlo {
namespace {

bool is_nonzero(const Element& x) {
  if (is_complex(x.type)) return is_nonzero(real(x)) || is_nonzero(imag(x));
  if (x.type == ElementType::kF64) return std::get<double>(x.value) != 0;
  if (is_float(x.type)) return std::get<float>(x.value) != 0;
  return x.bits() != 0;
}

// The integer nearest to `value` from zero's side, within the type's range.
Element saturate(ElementType type, double value) {
  if (std::isnan(value)) return zero(type);
  const int width = bit_width(type);
  const bool is_signed = is_signed_integer(type);
  const double end = std::ldexp(1.0, is_signed ? width - 1 : width);  // first value too large
  const uint64_t largest = ~uint64_t{0} >> (64 - width + (is_signed ? 1 : 0));
  if (value >= end) return make_integer(type, largest);
  if (!is_signed) return make_integer(type, value <= 0 ? 0 : static_cast<uint64_t>(value));
  if (value <= -end) return make_integer(type, ~largest);
  return make_integer(type, static_cast<uint64_t>(static_cast<int64_t>(value)));
}

Element integer_to_float(const Element& x, ElementType to) {
  const bool is_signed = is_signed_integer(x.type);
  if (to == ElementType::kF64) {
    return make_float(to,
                      is_signed ? static_cast<double>(x.integer()) : static_cast<double>(x.bits()));
  }
  return make_float(to, is_signed ? static_cast<float>(x.integer()) : static_cast<float>(x.bits()));
}

Element to_complex(const Element& x, ElementType to) {
  const Element re = convert(real(x), real_part(to));
  const Element im = is_complex(x.type) ? convert(imag(x), real_part(to)) : zero(real_part(to));
  return complex(re, im);
}

// IEEE 754 binary formats by the widths of their fields.
template <class T>
struct Format;
template <>
struct Format<float> {
  using Bits = uint32_t;
  static constexpr int exponent_bits = 8, mantissa_bits = 23;
};
template <>
struct Format<double> {
  using Bits = uint64_t;
  static constexpr int exponent_bits = 11, mantissa_bits = 52;
};

template <class T>
T reduce(T value, int64_t exponent_bits, int64_t mantissa_bits) {
  using F = Format<T>;
  using Bits = typename F::Bits;
  const Bits sign_mask = Bits{1} << (F::exponent_bits + F::mantissa_bits);
  const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const Bits sign = std::bit_cast<Bits>(value) & sign_mask;
  if (std::isnan(value)) return mantissa_bits > 0 ? value : std::bit_cast<T>(sign | infinity);

  Bits bits = std::bit_cast<Bits>(value) & ~sign_mask;
  if (mantissa_bits < F::mantissa_bits) {
    const int drop = F::mantissa_bits - static_cast<int>(mantissa_bits);
    const Bits last_kept = bits >> drop & 1;
    bits += (Bits{1} << (drop - 1)) - 1 + last_kept;  // a carry moves into the exponent
    bits &= ~((Bits{1} << drop) - 1);
  }
  if (exponent_bits < F::exponent_bits && bits < infinity) {
    const int64_t bias = (int64_t{1} << (F::exponent_bits - 1)) - 1;
    const int64_t reduced_bias = (int64_t{1} << (exponent_bits - 1)) - 1;
    const int64_t exponent = static_cast<int64_t>(bits >> F::mantissa_bits) - bias;
    if (exponent > reduced_bias) bits = infinity;
    if (exponent <= -reduced_bias) bits = 0;
  }
  return std::bit_cast<T>(sign | bits);
}

}  // namespace

Element convert(const Element& x, ElementType to) {
  if (x.type == to) return x;
  if (is_boolean(to)) return make_bool(is_nonzero(x));
  if (is_complex(to)) return to_complex(x, to);
  if (is_complex(x.type)) return convert(real(x), to);
  if (is_float(x.type)) {
    if (x.type == ElementType::kF64) {
      const double value = std::get<double>(x.value);
      return is_float(to) ? make_float(to, value) : saturate(to, value);
    }
    const float value = std::get<float>(x.value);
    return is_float(to) ? make_float(to, value) : saturate(to, value);
  }
  return is_float(to) ? integer_to_float(x, to) : make_integer(to, x.bits());
}

Element reduce_precision(const Element& x, int64_t exponent_bits, int64_t mantissa_bits) {
  return map_float([&](auto value) { return reduce(value, exponent_bits, mantissa_bits); }, x);
}

Element complex(const Element& real, const Element& imag) {
  if (real.type == ElementType::kF64) {
    return make_complex(Complex64{std::get<double>(real.value), std::get<double>(imag.value)});
  }
  return make_complex(Complex32{std::get<float>(real.value), std::get<float>(imag.value)});
}

Element real(const Element& x) {
  if (x.type == ElementType::kComplexF32) {
    return make_float(ElementType::kF32, std::get<Complex32>(x.value).re);
  }
  if (x.type == ElementType::kComplexF64) {
    return make_float(ElementType::kF64, std::get<Complex64>(x.value).re);
  }
  return x;
}

Element imag(const Element& x) {
  if (x.type == ElementType::kComplexF32) {
    return make_float(ElementType::kF32, std::get<Complex32>(x.value).im);
  }
  if (x.type == ElementType::kComplexF64) {
    return make_float(ElementType::kF64, std::get<Complex64>(x.value).im);
  }
  return zero(x.type);
}

Literal evaluate_bitcast_convert(const Literal& operand, const TensorType& result_type) {
  const auto sub_byte = [](ElementType type) { return bit_width(type) < 8; };
  const ElementType from = operand.type().element;
  if (bit_width(from) == bit_width(result_type.element)) {
    Literal result(result_type);
    if (!sub_byte(from)) {
      return Literal(result_type, {operand.bytes().begin(), operand.bytes().end()});
    }
    // 4-bit values are extended to their byte by the type's sign.
    for (int64_t i = 0; i < result_type.num_elements(); ++i) {
      store(result, i, make_integer(result_type.element, load(operand, i).bits()));
    }
    return result;
  }
  if (sub_byte(from) || sub_byte(result_type.element)) {
    throw Unimplemented("bitcast_convert from " + to_string(operand.type()) + " to " +
                        to_string(result_type) + ": a 4-bit or i1 element takes a whole byte");
  }
  return Literal(result_type, {operand.bytes().begin(), operand.bytes().end()});
}

}  // namespace tpu::hlo
