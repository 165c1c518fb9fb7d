// Types of StableHLO values (specification, section "Types").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tpu::hlo {

/// Element types, in the specification's spelling. `kToken` orders side effects and has no data.
enum class ElementType : uint8_t {
  kI1,
  kSI4,
  kSI8,
  kSI16,
  kSI32,
  kSI64,
  kUI4,
  kUI8,
  kUI16,
  kUI32,
  kUI64,
  kF8E4M3FN,
  kF8E5M2,
  kF8E4M3FNUZ,
  kF8E5M2FNUZ,
  kF8E4M3B11FNUZ,
  kBF16,
  kF16,
  kF32,
  kF64,
  kComplexF32,
  kComplexF64,
  kToken,
};

/// Spelling in StableHLO text: `i1`, `i8`, `ui8`, `bf16`, `f8E4M3FN`, `complex<f32>`,
/// `!stablehlo.token`.
std::string_view name(ElementType type);
/// Inverse of `name`; also accepts the signed spellings `si8`. Throws InvalidArgument.
ElementType element_type_from_name(std::string_view text);

bool is_boolean(ElementType type);
bool is_signed_integer(ElementType type);
bool is_unsigned_integer(ElementType type);
bool is_integer(ElementType type);  ///< signed or unsigned; i1 is not an integer
bool is_float(ElementType type);    ///< fp8, bf16, f16, f32, f64
bool is_float8(ElementType type);
bool is_complex(ElementType type);
/// f32 for complex<f32>, f64 for complex<f64>, otherwise the type itself.
ElementType real_part(ElementType type);

/// Bits of one element as a number (1 for i1, 4 for i4).
int bit_width(ElementType type);
/// Bytes of one element in device memory. i1 and 4-bit types take a whole byte.
int byte_width(ElementType type);

using Dims = std::vector<int64_t>;

/// A dense tensor type: element type and static shape. Rank 0 is a scalar.
struct TensorType {
  ElementType element = ElementType::kF32;
  Dims shape;

  int rank() const { return static_cast<int>(shape.size()); }
  int64_t num_elements() const;
  /// Bytes of the dense row-major array.
  int64_t num_bytes() const { return num_elements() * byte_width(element); }
  bool operator==(const TensorType&) const = default;
};

/// `tensor<2x3xf32>`, `tensor<i1>`, `!stablehlo.token`.
std::string to_string(const TensorType& type);

int64_t num_elements(std::span<const int64_t> shape);
/// Row-major strides, in elements. A dimension of size 0 or 1 still gets the row-major stride.
Dims row_major_strides(std::span<const int64_t> shape);

}  // namespace tpu::hlo
