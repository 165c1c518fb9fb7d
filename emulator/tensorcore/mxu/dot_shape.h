// dot_general's geometry: its dimensions sorted into batch, rows, columns and contraction.
#pragma once

#include <vector>

#include "emulator/hlo/attributes.h"

namespace tpu::tensorcore {

/// Dimension numbers of the operands by role. Results have batch, lhs rest, rhs rest dimensions.
struct DotShape {
  hlo::Dims lhs_batch, rhs_batch;
  hlo::Dims lhs_contracting, rhs_contracting;
  hlo::Dims lhs_rest, rhs_rest;  ///< ascending: rows and columns
};

/// Sorts the dimensions. Throws InvalidArgument if shapes do not fit together.
DotShape dot_shape(const hlo::Attributes& attributes, std::span<const int64_t> lhs,
                   std::span<const int64_t> rhs, std::span<const int64_t> result);

}  // namespace tpu::tensorcore
