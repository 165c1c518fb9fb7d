// The strides of an operator's results, as the CPU backend would choose them.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::eager {

/// Strides for a fresh result of `shape`, by the layout its lowering asked for.
tpu::hlo::Dims result_strides(const aten::Result& result, const tpu::hlo::Dims& shape);

}  // namespace torch_tpu::eager
