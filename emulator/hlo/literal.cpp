#include "emulator/hlo/literal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"

namespace tpu::hlo {
namespace {

// The format of a float narrower than f32; null for other types.
const FloatFormat* narrow_format(ElementType type) {
  switch (type) {
    case ElementType::kF8E4M3FN:
      return &kF8E4M3FN;
    case ElementType::kF8E5M2:
      return &kF8E5M2;
    case ElementType::kF8E4M3FNUZ:
      return &kF8E4M3FNUZ;
    case ElementType::kF8E5M2FNUZ:
      return &kF8E5M2FNUZ;
    case ElementType::kF8E4M3B11FNUZ:
      return &kF8E4M3B11FNUZ;
    case ElementType::kBF16:
      return &kBF16;
    case ElementType::kF16:
      return &kF16;
    default:
      return nullptr;
  }
}

// One element's bytes; elements are at most 16 bytes wide.
struct Bytes {
  std::byte data[16] = {};
};

// Little-endian hosts only: the device's encoding is little-endian.
static_assert(std::endian::native == std::endian::little);

template <class T>
Bytes pack(T value) {
  Bytes bytes;
  std::memcpy(bytes.data, &value, sizeof(T));
  return bytes;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

[[noreturn]] void fail_no_value(ElementType type) {
  throw InvalidArgument("a value of type " + std::string(name(type)) + " has no bytes");
}

// The low bits of `value` in the integer type; 4-bit values are extended to their byte.
Bytes wrap_integer(ElementType type, uint64_t value) {
  if (type == ElementType::kSI4)
    value = static_cast<uint64_t>(static_cast<int64_t>(value << 60) >> 60);
  if (type == ElementType::kUI4) value &= 0xf;
  return pack(value);
}

Bytes element_bytes(ElementType type, double value);

// Rounded to odd where a double has no room for all 63 bits, so that a second rounding to a
// narrower format gives what one rounding would.
double to_double_sticky(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (value >= -kExact && value <= kExact) return static_cast<double>(value);
  const int64_t kept = value >> 11 | ((value & 0x7ff) != 0);
  return static_cast<double>(kept) * 2048.0;
}

Bytes element_bytes(ElementType type, int64_t value) {
  if (type == ElementType::kI1) return pack(static_cast<uint8_t>(value != 0));
  if (is_integer(type)) return wrap_integer(type, static_cast<uint64_t>(value));
  if (type == ElementType::kF64 || type == ElementType::kComplexF64) {
    return pack(static_cast<double>(value));
  }
  if (type == ElementType::kF32 || type == ElementType::kComplexF32) {
    return pack(static_cast<float>(value));
  }
  return element_bytes(type, to_double_sticky(value));
}

// The integer part of `value` modulo 2^64; 0 for NaN and the infinities.
uint64_t wrap_double(double value) {
  if (!std::isfinite(value)) return 0;
  const double rest = std::fmod(std::trunc(value), 0x1p64);
  return rest < 0 ? -static_cast<uint64_t>(-rest) : static_cast<uint64_t>(rest);
}

Bytes element_bytes(ElementType type, double value) {
  if (type == ElementType::kI1) return pack(static_cast<uint8_t>(value != 0));
  if (is_integer(type)) return wrap_integer(type, wrap_double(value));
  if (const FloatFormat* format = narrow_format(type)) return pack(encode_float(value, *format));
  switch (type) {
    case ElementType::kF32:
    case ElementType::kComplexF32:
      return pack(static_cast<float>(value));
    case ElementType::kF64:
    case ElementType::kComplexF64:
      return pack(value);
    default:
      fail_no_value(type);
  }
}

template <class T>
std::vector<std::byte> encode_element(ElementType type, T value) {
  const Bytes bytes = element_bytes(type, value);
  return {bytes.data, bytes.data + byte_width(type)};
}

template <class T>
Literal filled(const TensorType& type, T value) {
  Literal literal(type);
  const Bytes element = element_bytes(type.element, value);
  const std::span<std::byte> bytes = literal.mutable_bytes();
  const size_t width = byte_width(type.element);
  for (size_t at = 0; at < bytes.size(); at += width) {
    std::memcpy(bytes.data() + at, element.data, width);
  }
  return literal;
}

const std::byte* element_at(const Literal& literal, int64_t index) {
  const int64_t count = literal.type().num_elements();
  if (index < 0 || index >= count) {
    throw InvalidArgument("element " + std::to_string(index) + " of a literal with " +
                          std::to_string(count) + " elements");
  }
  return literal.bytes().data() + index * byte_width(literal.type().element);
}

uint64_t load_code(const std::byte* at, ElementType type) {
  return byte_width(type) == 1 ? load<uint8_t>(at) : load<uint16_t>(at);
}

}  // namespace

Literal::Literal(TensorType type) : type_(std::move(type)) {
  bytes_ = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(type_.num_bytes()));
}

Literal::Literal(TensorType type, std::vector<std::byte> bytes) : type_(std::move(type)) {
  if (static_cast<int64_t>(bytes.size()) != type_.num_bytes()) {
    throw InvalidArgument("a literal of type " + to_string(type_) + " takes " +
                          std::to_string(type_.num_bytes()) + " bytes, got " +
                          std::to_string(bytes.size()));
  }
  bytes_ = std::make_shared<std::vector<std::byte>>(std::move(bytes));
}

std::span<const std::byte> Literal::bytes() const {
  if (!bytes_) return {};
  return *bytes_;
}

std::span<std::byte> Literal::mutable_bytes() {
  if (!bytes_) return {};
  if (bytes_.use_count() > 1) bytes_ = std::make_shared<std::vector<std::byte>>(*bytes_);
  return *bytes_;
}

bool Literal::is_splat() const {
  const std::span<const std::byte> all = bytes();
  const size_t width = byte_width(type_.element);
  if (all.size() < width || width == 0) return false;
  // All elements equal the first exactly if each equals its predecessor.
  return std::memcmp(all.data(), all.data() + width, all.size() - width) == 0;
}

bool Literal::operator==(const Literal& other) const {
  return type_ == other.type_ &&
         (bytes_ == other.bytes_ || std::ranges::equal(bytes(), other.bytes()));
}

std::vector<std::byte> encode(ElementType type, double value) {
  return encode_element(type, value);
}
std::vector<std::byte> encode(ElementType type, int64_t value) {
  return encode_element(type, value);
}

double decode_double(const Literal& literal, int64_t index) {
  const ElementType type = literal.type().element;
  const std::byte* at = element_at(literal, index);
  if (const FloatFormat* format = narrow_format(type)) {
    return decode_float(load_code(at, type), *format);
  }
  switch (type) {
    case ElementType::kF32:
    case ElementType::kComplexF32:
      return load<float>(at);
    case ElementType::kF64:
    case ElementType::kComplexF64:
      return load<double>(at);
    case ElementType::kUI64:
      return static_cast<double>(load<uint64_t>(at));
    default:
      return static_cast<double>(decode_int(literal, index));
  }
}

int64_t decode_int(const Literal& literal, int64_t index) {
  const ElementType type = literal.type().element;
  const std::byte* at = element_at(literal, index);
  switch (type) {
    case ElementType::kI1:
    case ElementType::kUI4:
    case ElementType::kUI8:
      return load<uint8_t>(at);
    case ElementType::kSI4:
    case ElementType::kSI8:
      return load<int8_t>(at);
    case ElementType::kSI16:
      return load<int16_t>(at);
    case ElementType::kUI16:
      return load<uint16_t>(at);
    case ElementType::kSI32:
      return load<int32_t>(at);
    case ElementType::kUI32:
      return load<uint32_t>(at);
    case ElementType::kSI64:
    case ElementType::kUI64:
      return load<int64_t>(at);
    case ElementType::kToken:
      fail_no_value(type);
    default:
      return static_cast<int64_t>(wrap_double(decode_double(literal, index)));
  }
}

Literal scalar(ElementType type, double value) {
  return filled(TensorType{type, {}}, value);
}
Literal scalar(ElementType type, int64_t value) {
  return filled(TensorType{type, {}}, value);
}
Literal splat(const TensorType& type, double value) {
  return filled(type, value);
}
Literal splat(const TensorType& type, int64_t value) {
  return filled(type, value);
}

Literal from_ints(ElementType type, const Dims& shape, std::span<const int64_t> values) {
  Literal literal(TensorType{type, shape});
  if (literal.type().num_elements() != static_cast<int64_t>(values.size())) {
    throw InvalidArgument("a literal of type " + to_string(literal.type()) + " takes " +
                          std::to_string(literal.type().num_elements()) + " values, got " +
                          std::to_string(values.size()));
  }
  std::byte* to = literal.mutable_bytes().data();
  for (int64_t value : values) {
    const Bytes element = element_bytes(type, value);
    std::memcpy(to, element.data, byte_width(type));
    to += byte_width(type);
  }
  return literal;
}

}  // namespace tpu::hlo
