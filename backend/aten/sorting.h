// Sorting, for the families that pick by rank.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

struct Sorted {
  Value *values, *positions;  ///< positions: i64, along the sorted dimension
};

/// Stable in either direction: equal elements keep their order. NaN is the largest.
Sorted stable_sort(Builder& b, Value* x, int64_t dim, bool descending);

}  // namespace torch_tpu::aten
