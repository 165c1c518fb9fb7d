#include "backend/aten/dtype.h"

#include <c10/core/DefaultDtype.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/util/Exception.h>

#include <array>
#include <optional>

namespace torch_tpu::aten {
namespace {

using tpu::hlo::ElementType;

struct Pair {
  DType dtype;
  ElementType element;
};

constexpr std::array kPairs = {
    Pair{DType::Bool, ElementType::kI1},
    Pair{DType::Char, ElementType::kSI8},
    Pair{DType::Short, ElementType::kSI16},
    Pair{DType::Int, ElementType::kSI32},
    Pair{DType::Long, ElementType::kSI64},
    Pair{DType::Byte, ElementType::kUI8},
    Pair{DType::UInt16, ElementType::kUI16},
    Pair{DType::UInt32, ElementType::kUI32},
    Pair{DType::UInt64, ElementType::kUI64},
    Pair{DType::Float8_e4m3fn, ElementType::kF8E4M3FN},
    Pair{DType::Float8_e5m2, ElementType::kF8E5M2},
    Pair{DType::Float8_e4m3fnuz, ElementType::kF8E4M3FNUZ},
    Pair{DType::Float8_e5m2fnuz, ElementType::kF8E5M2FNUZ},
    Pair{DType::BFloat16, ElementType::kBF16},
    Pair{DType::Half, ElementType::kF16},
    Pair{DType::Float, ElementType::kF32},
    Pair{DType::Double, ElementType::kF64},
    Pair{DType::ComplexFloat, ElementType::kComplexF32},
    Pair{DType::ComplexDouble, ElementType::kComplexF64},
};

// bool < integers < floats < complex: a lower category never widens a higher one.
int category(DType dtype) {
  if (c10::isComplexType(dtype)) return 3;
  if (c10::isFloatingType(dtype)) return 2;
  if (c10::isIntegralType(dtype, /*includeBool=*/false)) return 1;
  return 0;
}

std::optional<DType> promote(std::optional<DType> a, std::optional<DType> b) {
  if (!a) return b;
  if (!b) return a;
  return c10::promoteTypes(*a, *b);
}

// `low` takes part only if its category is above `high`'s.
std::optional<DType> combine(std::optional<DType> high, std::optional<DType> low) {
  if (!high) return low;
  if (!low) return high;
  if (category(*low) <= category(*high)) return high;
  // A complex number lifts a float tensor to the complex type of the tensor's own precision.
  if (c10::isFloatingType(*high)) return c10::toComplexType(*high);
  return promote(high, low);
}

}  // namespace

ElementType to_element(DType dtype) {
  for (const Pair& pair : kPairs) {
    if (pair.dtype == dtype) return pair.element;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "device tpu has no dtype ", c10::toString(dtype),
                              "; convert the tensor to a supported dtype first");
}

DType to_dtype(ElementType element) {
  for (const Pair& pair : kPairs) {
    if (pair.element == element) return pair.dtype;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(false, "PyTorch has no dtype for ", tpu::hlo::name(element));
}

bool is_supported(DType dtype) {
  for (const Pair& pair : kPairs) {
    if (pair.dtype == dtype) return true;
  }
  return false;
}

DType compute_type(DType dtype) {
  const bool narrow_float = c10::isFloatingType(dtype) && c10::elementSize(dtype) < 4;
  return narrow_float ? DType::Float : dtype;
}

DType result_type(std::span<const Promoted> operands) {
  std::optional<DType> with_dims, zero_dim, wrapped;
  for (const Promoted& operand : operands) {
    DType dtype = operand.dtype;
    if (operand.wrapped_number) {
      // A Python float stands for the default dtype, whatever carries it.
      if (c10::isComplexType(dtype)) {
        dtype = c10::typeMetaToScalarType(c10::get_default_complex_dtype());
      } else if (c10::isFloatingType(dtype)) {
        dtype = c10::get_default_dtype_as_scalartype();
      }
    }
    auto& slot = operand.wrapped_number ? wrapped : operand.zero_dim ? zero_dim : with_dims;
    slot = promote(slot, dtype);
  }
  const auto result = combine(with_dims, combine(zero_dim, wrapped));
  TORCH_CHECK(result.has_value(), "result_type needs at least one operand");
  return *result;
}

}  // namespace torch_tpu::aten
