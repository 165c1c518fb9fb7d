// PyTorch's dtypes and StableHLO's element types, and PyTorch's promotion rules.
#pragma once

#include <c10/core/ScalarType.h>

#include <span>

#include "emulator/hlo/types.h"

namespace torch_tpu::aten {

using DType = c10::ScalarType;

/// One to one. Throws NotImplementedError, naming the dtype, where StableHLO has none (complex32,
/// quantized types, ...).
tpu::hlo::ElementType to_element(DType dtype);
DType to_dtype(tpu::hlo::ElementType element);

/// True if tensors of this dtype may live on the device.
bool is_supported(DType dtype);

/// The type arithmetic runs in: float32 for the 8- and 16-bit floats, otherwise `dtype` itself
/// (PyTorch's `opmath_type`).
DType compute_type(DType dtype);

/// An operand as promotion sees it.
struct Promoted {
  DType dtype;
  bool zero_dim = false;  ///< a 0-d tensor: only its category counts against tensors with dims
  bool wrapped_number = false;  ///< a Python number: weaker still
};

/// PyTorch's `torch.result_type` over any number of operands.
DType result_type(std::span<const Promoted> operands);

}  // namespace torch_tpu::aten
