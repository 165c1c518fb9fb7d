// What loss functions share.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// The `reduction` argument, as at::Reduction numbers it.
enum LossReduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

/// Sums or averages the elements of a loss as `reduction` says.
Value* reduced(Lowering& op, Value* loss);

}  // namespace torch_tpu::aten
