// New tensors on the device.
#pragma once

#include <ATen/core/Tensor.h>

#include "backend/eager/program.h"

namespace torch_tpu::eager {

/// An uninitialised tensor as `spec` describes it.
at::Tensor make_tensor(const ResultSpec& spec);
/// An uninitialised tensor of these strides (in elements). Throws for dtypes the device lacks.
at::Tensor make_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype);
/// The memory of a device tensor as a tensor of the host. Wait first for what may write to it.
at::Tensor host_view(const at::Tensor& tensor);

}  // namespace torch_tpu::eager
