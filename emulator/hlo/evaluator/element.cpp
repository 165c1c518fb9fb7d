#include "emulator/hlo/evaluator/element.h"

#include <algorithm>
#include <cstring>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"

namespace tpu::hlo {
namespace {

template <class T>
T load_as(const Literal& tensor, int64_t position) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + position * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void store_as(Literal& tensor, int64_t position, T value) {
  std::memcpy(tensor.mutable_bytes().data() + position * sizeof(T), &value, sizeof(T));
}

const FloatFormat& float8_format(ElementType type) {
  switch (type) {
    case ElementType::kF8E4M3FN:
      return kF8E4M3FN;
    case ElementType::kF8E5M2:
      return kF8E5M2;
    case ElementType::kF8E4M3FNUZ:
      return kF8E4M3FNUZ;
    case ElementType::kF8E5M2FNUZ:
      return kF8E5M2FNUZ;
    default:
      return kF8E4M3B11FNUZ;
  }
}

// The nearest value of a float type up to f32.
float round_to(ElementType type, float value) {
  if (type == ElementType::kF32) return value;
  if (type == ElementType::kBF16) return round_to_bf16(value);
  if (type == ElementType::kF16) return f16_to_float(f16_from_float(value));
  const FloatFormat& format = float8_format(type);
  return f8_to_float(f8_from_float(value, format), format);
}

uint64_t load_integer(const Literal& tensor, int64_t position) {
  const bool is_signed = is_signed_integer(tensor.type().element);
  switch (byte_width(tensor.type().element)) {
    case 1:
      return is_signed ? load_as<int8_t>(tensor, position) : load_as<uint8_t>(tensor, position);
    case 2:
      return is_signed ? load_as<int16_t>(tensor, position) : load_as<uint16_t>(tensor, position);
    case 4:
      if (is_signed) return static_cast<uint64_t>(int64_t{load_as<int32_t>(tensor, position)});
      return load_as<uint32_t>(tensor, position);
    default:
      return load_as<uint64_t>(tensor, position);
  }
}

void store_integer(Literal& tensor, int64_t position, uint64_t bits) {
  switch (byte_width(tensor.type().element)) {
    case 1:
      return store_as(tensor, position, static_cast<uint8_t>(bits));
    case 2:
      return store_as(tensor, position, static_cast<uint16_t>(bits));
    case 4:
      return store_as(tensor, position, static_cast<uint32_t>(bits));
    default:
      return store_as(tensor, position, bits);
  }
}

void store_float(Literal& tensor, int64_t position, float value) {
  const ElementType type = tensor.type().element;
  if (type == ElementType::kF32) return store_as(tensor, position, value);
  if (type == ElementType::kBF16) return store_as(tensor, position, bf16_from_float(value));
  if (type == ElementType::kF16) return store_as(tensor, position, f16_from_float(value));
  store_as(tensor, position, f8_from_float(value, float8_format(type)));
}

}  // namespace

Element make_integer(ElementType type, uint64_t bits) {
  const int unused = 64 - bit_width(type);
  if (is_signed_integer(type)) {
    return {type, static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused)};
  }
  return {type, bits << unused >> unused};
}

Element make_bool(bool value) {
  return {ElementType::kI1, uint64_t{value}};
}

Element make_float(ElementType type, float value) {
  if (type == ElementType::kF64) return {type, double{value}};
  return {type, round_to(type, value)};
}

Element make_float(ElementType type, double value) {
  if (type == ElementType::kF64) return {type, value};
  return make_float(type, static_cast<float>(value));
}

Element make_complex(Complex32 value) {
  return {ElementType::kComplexF32, value};
}
Element make_complex(Complex64 value) {
  return {ElementType::kComplexF64, value};
}

namespace {

Element small_constant(ElementType type, int value) {
  if (type == ElementType::kComplexF32) return make_complex(Complex32{float(value), 0.0f});
  if (type == ElementType::kComplexF64) return make_complex(Complex64{double(value), 0.0});
  if (is_float(type)) return make_float(type, static_cast<float>(value));
  return make_integer(type, static_cast<uint64_t>(value));
}

}  // namespace

Element zero(ElementType type) {
  return small_constant(type, 0);
}
Element one(ElementType type) {
  return small_constant(type, 1);
}

Element load(const Literal& tensor, int64_t position) {
  const ElementType type = tensor.type().element;
  if (!is_float(type) && !is_complex(type)) return {type, load_integer(tensor, position)};
  switch (type) {
    case ElementType::kF64:
      return {type, load_as<double>(tensor, position)};
    case ElementType::kF32:
      return {type, load_as<float>(tensor, position)};
    case ElementType::kF16:
      return {type, f16_to_float(load_as<uint16_t>(tensor, position))};
    case ElementType::kBF16:
      return {type, bf16_to_float(load_as<uint16_t>(tensor, position))};
    case ElementType::kComplexF32:
      return {type, load_as<Complex32>(tensor, position)};
    case ElementType::kComplexF64:
      return {type, load_as<Complex64>(tensor, position)};
    default:
      return {type, f8_to_float(load_as<uint8_t>(tensor, position), float8_format(type))};
  }
}

void store(Literal& tensor, int64_t position, const Element& element) {
  if (element.type != tensor.type().element) {
    throw InvalidArgument("an element of type " + std::string(name(element.type)) +
                          " does not go into a " + to_string(tensor.type()));
  }
  struct Visitor {
    Literal& tensor;
    int64_t position;
    void operator()(uint64_t bits) { store_integer(tensor, position, bits); }
    void operator()(float value) { store_float(tensor, position, value); }
    void operator()(double value) { store_as(tensor, position, value); }
    void operator()(Complex32 value) { store_as(tensor, position, value); }
    void operator()(Complex64 value) { store_as(tensor, position, value); }
  };
  std::visit(Visitor{tensor, position}, element.value);
}

int64_t clamp_start(const Element& index, int64_t last) {
  if (!is_signed_integer(index.type) && index.bits() > static_cast<uint64_t>(last)) return last;
  return std::clamp<int64_t>(index.integer(), 0, last);
}

Literal to_literal(const Element& element) {
  Literal scalar(TensorType{element.type, {}});
  store(scalar, 0, element);
  return scalar;
}

}  // namespace tpu::hlo
