// Kernels that PyTorch's dispatcher calls with plain C++ arguments.
#pragma once

#include <torch/library.h>

#include <memory>
#include <optional>

#include "backend/eager/operator_info.h"

namespace torch_tpu::eager {

/// The generic kernel in the C++ signature of `info->schema`, if that is one of the frequent ones;
/// nothing otherwise, and the boxed kernel serves it. Both do the same; an unboxed call takes no
/// references to its tensors. (A reference to a tensor that Python alone holds makes PyTorch keep
/// its Python object alive, which takes the GIL, twice for each argument.)
std::optional<torch::CppFunction> unboxed_kernel(std::shared_ptr<const OperatorInfo> info);

}  // namespace torch_tpu::eager
