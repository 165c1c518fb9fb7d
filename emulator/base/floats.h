// Number formats narrower than float: bf16, f16 and the five 8-bit floats, as pure integer
// functions, so that every host, vector width and constant expression gives the same bits.
#pragma once

#include <bit>
#include <cstdint>

namespace tpu {

/// What the encodings at a format's edge stand for.
enum class FloatSpecials : uint8_t {
  kIeee,       ///< the top exponent holds infinities and NaNs
  kFiniteNan,  ///< "FN": no infinities; all ones is NaN
  kUnsigned,   ///< "FNUZ": no infinities and no -0; the sign bit alone is NaN
};

/// A binary floating point format: sign, `exponent_bits`, `mantissa_bits`, most significant first.
/// The smallest normal number is 2^(1 - bias).
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  FloatSpecials specials;

  constexpr int bits() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint64_t sign_bit() const { return uint64_t{1} << (exponent_bits + mantissa_bits); }
  /// The largest finite number's encoding.
  constexpr uint64_t max_finite() const {
    switch (specials) {
      case FloatSpecials::kIeee:
        return (((uint64_t{1} << exponent_bits) - 1) << mantissa_bits) - 1;
      case FloatSpecials::kFiniteNan:
        return sign_bit() - 2;
      default:
        return sign_bit() - 1;
    }
  }
  /// A quiet NaN of the given sign (kUnsigned has only one NaN).
  constexpr uint64_t nan(bool negative) const {
    switch (specials) {
      case FloatSpecials::kIeee:
        return (negative ? sign_bit() : 0) | (max_finite() + 1) |
               uint64_t{1} << (mantissa_bits - 1);
      case FloatSpecials::kFiniteNan:
        return (negative ? sign_bit() : 0) | (sign_bit() - 1);
      default:
        return sign_bit();
    }
  }
  /// What a number too large becomes: infinity where the format has it, otherwise NaN.
  constexpr uint64_t overflow(bool negative) const {
    if (specials != FloatSpecials::kIeee) return nan(negative);
    return (negative ? sign_bit() : 0) | (max_finite() + 1);
  }
};

inline constexpr FloatFormat kBF16{8, 7, 127, FloatSpecials::kIeee};
inline constexpr FloatFormat kF16{5, 10, 15, FloatSpecials::kIeee};
inline constexpr FloatFormat kF8E4M3FN{4, 3, 7, FloatSpecials::kFiniteNan};
inline constexpr FloatFormat kF8E5M2{5, 2, 15, FloatSpecials::kIeee};
inline constexpr FloatFormat kF8E4M3FNUZ{4, 3, 8, FloatSpecials::kUnsigned};
inline constexpr FloatFormat kF8E5M2FNUZ{5, 2, 16, FloatSpecials::kUnsigned};
inline constexpr FloatFormat kF8E4M3B11FNUZ{4, 3, 11, FloatSpecials::kUnsigned};

/// `value` rounded once to `format`, to nearest, ties to even; subnormals are kept. Holds for any
/// format whose numbers a double holds exactly.
constexpr uint64_t encode_float(double value, const FloatFormat& format) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63;
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (field == 0x7ff) return fraction ? format.nan(negative) : format.overflow(negative);

  // |value| = significand * 2^exponent; the leading bit stands for 2^leading.
  const uint64_t significand = field ? fraction | uint64_t{1} << 52 : fraction;
  const int exponent = (field ? field : 1) - 1075;
  const int leading = std::bit_width(significand) - 1 + exponent;
  const int min_exponent = 1 - format.bias;
  const int target = significand && leading > min_exponent ? leading : min_exponent;
  const int drop = target - format.mantissa_bits - exponent;  // low bits that do not fit

  uint64_t kept = 0;
  if (drop <= 0) {
    kept = significand << -drop;
  } else if (drop < 64) {
    kept = significand >> drop;
    const uint64_t rest = significand - (kept << drop);
    const uint64_t half = uint64_t{1} << (drop - 1);
    if (rest > half || (rest == half && (kept & 1))) ++kept;
  }
  // `kept` carries the hidden bit of a normal number, which raises the exponent field by one.
  const uint64_t code =
      (static_cast<uint64_t>(target - min_exponent) << format.mantissa_bits) + kept;
  if (code > format.max_finite()) return format.overflow(negative);
  if (code == 0 && format.specials == FloatSpecials::kUnsigned) return 0;
  return (negative ? format.sign_bit() : 0) | code;
}

/// The number that `code` stands for, exactly. NaNs come back quiet.
constexpr double decode_float(uint64_t code, const FloatFormat& format) {
  const bool negative = code & format.sign_bit();
  const uint64_t magnitude = code & (format.sign_bit() - 1);
  const double sign = negative ? -1.0 : 1.0;
  const bool is_unsigned_nan =
      format.specials == FloatSpecials::kUnsigned && code == format.sign_bit();
  if (is_unsigned_nan || magnitude > format.max_finite()) {
    const bool infinite =
        format.specials == FloatSpecials::kIeee && magnitude == format.max_finite() + 1;
    const uint64_t special = infinite ? 0x7ff0000000000000 : 0x7ff8000000000000;
    return std::bit_cast<double>(special | (negative ? uint64_t{1} << 63 : 0));
  }
  const uint64_t hidden = uint64_t{1} << format.mantissa_bits;
  const int field = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint64_t fraction = magnitude & (hidden - 1);
  const uint64_t significand = field ? fraction | hidden : fraction;
  const int exponent = (field ? field : 1) - format.bias - format.mantissa_bits;
  const double scale = std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
  return sign * static_cast<double>(significand) * scale;
}

/// The formats that inner loops meet, on float directly. Same bits as the functions above, except
/// that a NaN keeps the payload that fits.
constexpr uint16_t bf16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

constexpr float bf16_to_float(uint16_t code) {
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
}

/// `value` rounded to bf16, as a float.
constexpr float round_to_bf16(float value) {
  return bf16_to_float(bf16_from_float(value));
}

constexpr uint16_t f16_from_float(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) {
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  }
  if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);  // 2^16 and more
  if (magnitude < 0x38800000) {
    // Below 2^-14 the spacing is 2^-24, which is also 0.5f's: the addition rounds for us.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t rebiased = magnitude - (112u << 23);
  return static_cast<uint16_t>(sign | (rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13);
}

constexpr float f16_to_float(uint16_t code) {
  const uint32_t sign = static_cast<uint32_t>(code & 0x8000) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(code & 0x7fff) << 13;
  if (magnitude >= 0x0f800000) {
    const uint32_t quiet = magnitude > 0x0f800000 ? 0x400000 : 0;
    return std::bit_cast<float>(sign | (magnitude + (224u << 23)) | quiet);
  }
  if (magnitude < 0x00800000) {  // subnormal: a count of 2^-24
    const float value = static_cast<float>(magnitude >> 13) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(value));
  }
  return std::bit_cast<float>(sign | (magnitude + (112u << 23)));
}

/// The 8-bit formats. A float is exact in a double, so this rounds once.
constexpr uint8_t f8_from_float(float value, const FloatFormat& format) {
  return static_cast<uint8_t>(encode_float(value, format));
}

constexpr float f8_to_float(uint8_t code, const FloatFormat& format) {
  return static_cast<float>(decode_float(code, format));
}

}  // namespace tpu
