#include "emulator/hlo/testing/values.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tpu::hlo::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The powers of two between which a type's normal numbers lie.
struct ExponentRange {
  int min, max;
};

ExponentRange exponent_range(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return {-1022, 1023};
    case ElementType::kF32:
    case ElementType::kBF16:
      return {-126, 127};
    case ElementType::kF16:
    case ElementType::kF8E5M2:
    case ElementType::kF8E5M2FNUZ:
      return {-14, 15};
    default:
      return {-6, 8};
  }
}

double signed_value(Rng& rng, double magnitude) {
  return rng.coin() ? magnitude : -magnitude;
}

double wide_float(Rng& rng, ElementType type) {
  const auto [min, max] = exponent_range(type);
  const double mantissa = 1.0 + rng.uniform();
  return signed_value(rng, std::ldexp(mantissa, static_cast<int>(rng.between(min - 4, max - 1))));
}

double special_float(Rng& rng, ElementType type) {
  const auto [min, max] = exponent_range(type);
  switch (rng.below(8)) {
    case 0:
      return signed_value(rng, kInfinity);
    case 1:
      return signed_value(rng, kNan);
    case 2:
      return signed_value(rng, 0.0);
    case 3:
      return signed_value(rng, std::ldexp(rng.uniform(), min));  // subnormal
    case 4:
      return signed_value(rng, std::ldexp(1.0, max));
    case 5:
      return signed_value(rng, 1.0);
    default:
      return wide_float(rng, type);
  }
}

double mild_float(Rng& rng) {
  if (rng.one_in(16)) return signed_value(rng, 0.0);
  if (rng.one_in(4)) return static_cast<double>(rng.between(-8, 8)) / 4;
  return signed_value(rng, 4 * rng.uniform());
}

double random_float(Rng& rng, ElementType type, ValueStyle style) {
  switch (style) {
    case ValueStyle::kMild:
      return mild_float(rng);
    case ValueStyle::kSmallInt:
      return static_cast<double>(rng.between(-4, 4));
    case ValueStyle::kWide:
      return wide_float(rng, type);
    default:
      return special_float(rng, type);
  }
}

int64_t random_integer(Rng& rng, ElementType type, ValueStyle style) {
  if (style == ValueStyle::kMild) return rng.between(-100, 100);
  if (style == ValueStyle::kSmallInt) return rng.between(-4, 4);
  if (style == ValueStyle::kSpecial && rng.coin()) {
    const int width = bit_width(type);
    const uint64_t sign = uint64_t{1} << (width - 1);
    return static_cast<int64_t>(rng.pick({uint64_t{0}, ~uint64_t{0}, sign, sign - 1, sign + 1}));
  }
  const uint64_t bits = rng.bits();
  return static_cast<int64_t>(bits >> rng.below(64));
}

std::vector<std::byte> random_element(Rng& rng, ElementType type, ValueStyle style) {
  if (is_complex(type)) {
    std::vector<std::byte> bytes = random_element(rng, real_part(type), style);
    const std::vector<std::byte> imag = random_element(rng, real_part(type), style);
    bytes.insert(bytes.end(), imag.begin(), imag.end());
    return bytes;
  }
  if (is_float(type)) return encode(type, random_float(rng, type, style));
  if (is_boolean(type)) return encode(type, rng.below(2));
  return encode(type, random_integer(rng, type, style));
}

}  // namespace

ValueStyle random_style(Rng& rng) {
  return rng.pick({ValueStyle::kMild, ValueStyle::kMild, ValueStyle::kMild, ValueStyle::kSmallInt,
                   ValueStyle::kSmallInt, ValueStyle::kWide, ValueStyle::kSpecial});
}

Literal random_literal(Rng& rng, const TensorType& type, ValueStyle style) {
  Literal literal(type);
  std::byte* to = literal.mutable_bytes().data();
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const std::vector<std::byte> element = random_element(rng, type.element, style);
    std::memcpy(to, element.data(), element.size());
    to += element.size();
  }
  return literal;
}

Literal random_literal(Rng& rng, const TensorType& type) {
  return random_literal(rng, type, random_style(rng));
}

}  // namespace tpu::hlo::testing
