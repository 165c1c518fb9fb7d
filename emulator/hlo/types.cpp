#include "emulator/hlo/types.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "emulator/base/error.h"

namespace tpu::hlo {
namespace {

struct ElementInfo {
  ElementType type;
  std::string_view name;
  int bits;
  int bytes;
};

// One row an element type, in the enum's order.
constexpr std::array kElements = {
    ElementInfo{ElementType::kI1, "i1", 1, 1},
    ElementInfo{ElementType::kSI4, "i4", 4, 1},
    ElementInfo{ElementType::kSI8, "i8", 8, 1},
    ElementInfo{ElementType::kSI16, "i16", 16, 2},
    ElementInfo{ElementType::kSI32, "i32", 32, 4},
    ElementInfo{ElementType::kSI64, "i64", 64, 8},
    ElementInfo{ElementType::kUI4, "ui4", 4, 1},
    ElementInfo{ElementType::kUI8, "ui8", 8, 1},
    ElementInfo{ElementType::kUI16, "ui16", 16, 2},
    ElementInfo{ElementType::kUI32, "ui32", 32, 4},
    ElementInfo{ElementType::kUI64, "ui64", 64, 8},
    ElementInfo{ElementType::kF8E4M3FN, "f8E4M3FN", 8, 1},
    ElementInfo{ElementType::kF8E5M2, "f8E5M2", 8, 1},
    ElementInfo{ElementType::kF8E4M3FNUZ, "f8E4M3FNUZ", 8, 1},
    ElementInfo{ElementType::kF8E5M2FNUZ, "f8E5M2FNUZ", 8, 1},
    ElementInfo{ElementType::kF8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8, 1},
    ElementInfo{ElementType::kBF16, "bf16", 16, 2},
    ElementInfo{ElementType::kF16, "f16", 16, 2},
    ElementInfo{ElementType::kF32, "f32", 32, 4},
    ElementInfo{ElementType::kF64, "f64", 64, 8},
    ElementInfo{ElementType::kComplexF32, "complex<f32>", 64, 8},
    ElementInfo{ElementType::kComplexF64, "complex<f64>", 128, 16},
    ElementInfo{ElementType::kToken, "!stablehlo.token", 0, 0},
};

constexpr bool in_enum_order() {
  for (size_t i = 0; i < kElements.size(); ++i) {
    if (static_cast<size_t>(kElements[i].type) != i) return false;
  }
  return true;
}
static_assert(in_enum_order());

const ElementInfo& info(ElementType type) {
  return kElements[static_cast<size_t>(type)];
}

bool between(ElementType type, ElementType first, ElementType last) {
  return type >= first && type <= last;
}

}  // namespace

std::string_view name(ElementType type) {
  return info(type).name;
}

ElementType element_type_from_name(std::string_view text) {
  std::string_view wanted = text;
  if (wanted.starts_with("si")) wanted.remove_prefix(1);
  for (const ElementInfo& row : kElements) {
    if (row.name == wanted) return row.type;
  }
  throw InvalidArgument("unknown element type '" + std::string(text) +
                        "'; expected one of i1, i8, ui8, bf16, f16, f32, complex<f32>, ...");
}

bool is_boolean(ElementType type) {
  return type == ElementType::kI1;
}
bool is_signed_integer(ElementType type) {
  return between(type, ElementType::kSI4, ElementType::kSI64);
}
bool is_unsigned_integer(ElementType type) {
  return between(type, ElementType::kUI4, ElementType::kUI64);
}
bool is_integer(ElementType type) {
  return between(type, ElementType::kSI4, ElementType::kUI64);
}
bool is_float(ElementType type) {
  return between(type, ElementType::kF8E4M3FN, ElementType::kF64);
}
bool is_float8(ElementType type) {
  return between(type, ElementType::kF8E4M3FN, ElementType::kF8E4M3B11FNUZ);
}
bool is_complex(ElementType type) {
  return type == ElementType::kComplexF32 || type == ElementType::kComplexF64;
}

ElementType real_part(ElementType type) {
  if (type == ElementType::kComplexF32) return ElementType::kF32;
  if (type == ElementType::kComplexF64) return ElementType::kF64;
  return type;
}

int bit_width(ElementType type) {
  return info(type).bits;
}
int byte_width(ElementType type) {
  return info(type).bytes;
}

int64_t num_elements(std::span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

int64_t TensorType::num_elements() const {
  return hlo::num_elements(shape);
}

std::string to_string(const TensorType& type) {
  if (type.element == ElementType::kToken) return std::string(name(type.element));
  std::string text = "tensor<";
  for (int64_t size : type.shape) text += std::to_string(size) + "x";
  return text + std::string(name(type.element)) + ">";
}

Dims row_major_strides(std::span<const int64_t> shape) {
  Dims strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * std::max<int64_t>(shape[i + 1], 1);
  }
  return strides;
}

}  // namespace tpu::hlo
