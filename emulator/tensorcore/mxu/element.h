// Reading and writing single elements of any type. For scalar code only.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"
#include "emulator/hlo/types.h"

namespace tpu::tensorcore {

template <class T>
T load_as(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
void store_as(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// The layout of an 8-bit float type.
inline const FloatFormat& float8_format(hlo::ElementType type) {
  switch (type) {
    case hlo::ElementType::kF8E4M3FN:
      return kF8E4M3FN;
    case hlo::ElementType::kF8E5M2:
      return kF8E5M2;
    case hlo::ElementType::kF8E4M3FNUZ:
      return kF8E4M3FNUZ;
    case hlo::ElementType::kF8E5M2FNUZ:
      return kF8E5M2FNUZ;
    case hlo::ElementType::kF8E4M3B11FNUZ:
      return kF8E4M3B11FNUZ;
    default:
      throw InvalidArgument(std::string(hlo::name(type)) + " is not an 8-bit float");
  }
}

/// A float element's exact value.
inline double load_float(hlo::ElementType type, const std::byte* from) {
  switch (type) {
    case hlo::ElementType::kF64:
      return load_as<double>(from);
    case hlo::ElementType::kF32:
      return load_as<float>(from);
    case hlo::ElementType::kBF16:
      return bf16_to_float(load_as<uint16_t>(from));
    case hlo::ElementType::kF16:
      return f16_to_float(load_as<uint16_t>(from));
    default:
      return decode_float(load_as<uint8_t>(from), float8_format(type));
  }
}

/// `value` rounded once to the float type.
inline void store_float(hlo::ElementType type, std::byte* to, double value) {
  switch (type) {
    case hlo::ElementType::kF64:
      return store_as(to, value);
    case hlo::ElementType::kF32:
      return store_as(to, static_cast<float>(value));
    case hlo::ElementType::kBF16:
      return store_as(to, static_cast<uint16_t>(encode_float(value, kBF16)));
    case hlo::ElementType::kF16:
      return store_as(to, static_cast<uint16_t>(encode_float(value, kF16)));
    default:
      return store_as(to, static_cast<uint8_t>(encode_float(value, float8_format(type))));
  }
}

/// An integer element, sign- or zero-extended to 64 bits. 4-bit types are stored one a byte.
inline uint64_t load_integer(hlo::ElementType type, const std::byte* from) {
  using hlo::ElementType;
  switch (type) {
    case ElementType::kSI4:
    case ElementType::kSI8:
      return static_cast<uint64_t>(load_as<int8_t>(from));
    case ElementType::kSI16:
      return static_cast<uint64_t>(load_as<int16_t>(from));
    case ElementType::kSI32:
      return static_cast<uint64_t>(load_as<int32_t>(from));
    case ElementType::kUI16:
      return load_as<uint16_t>(from);
    case ElementType::kUI32:
      return load_as<uint32_t>(from);
    case ElementType::kSI64:
    case ElementType::kUI64:
      return load_as<uint64_t>(from);
    default:
      return load_as<uint8_t>(from);
  }
}

/// The low bits of `value`; of a 4-bit type sign- or zero-extended to its byte.
inline void store_integer(hlo::ElementType type, std::byte* to, uint64_t value) {
  switch (type) {
    case hlo::ElementType::kSI4:
      return store_as(to, static_cast<int8_t>(static_cast<int8_t>(value << 4) >> 4));
    case hlo::ElementType::kUI4:
      return store_as(to, static_cast<uint8_t>(value & 15));
    default:
      break;
  }
  switch (hlo::byte_width(type)) {
    case 1:
      return store_as(to, static_cast<uint8_t>(value));
    case 2:
      return store_as(to, static_cast<uint16_t>(value));
    case 4:
      return store_as(to, static_cast<uint32_t>(value));
    default:
      return store_as(to, value);
  }
}

}  // namespace tpu::tensorcore
