// Tensors that stand for the device's while an operator is tried elsewhere.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "backend/eager/operator_info.h"

namespace torch_tpu::eager {

enum class StandIn : uint8_t {
  kMeta,      ///< shapes only
  kInvented,  ///< ones, unit matrices, zeros: nothing has to be waited for
  kReal,      ///< the device's memory
};

/// The same argument with the device's tensors replaced, in lists too.
c10::IValue stand_in(const c10::IValue& value, StandIn kind);

/// Raises what PyTorch raises for the dtypes of `out=` tensors, which some operators convert to and
/// others refuse: asked of the operator's own shape function. For calls whose program is not known.
void check_written(const OperatorInfo& info, c10::ArrayRef<c10::IValue> arguments);

}  // namespace torch_tpu::eager
