// Sorting, for the families that pick by rank.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

struct Sorted {
  Value *values, *positions;  ///< positions: i64, along the sorted dimension
};

/// Stable in either direction: equal elements keep their order. NaN is the largest.
Sorted stable_sort(Builder& b, Value* x, int64_t dim, bool descending);

/// Where each of `values` belongs in `sorted` (a vector, or lines like those of `values`), both of
/// one type: i64 of values' shape. `right`: behind its equals.
Value* position_in(Builder& b, Value* sorted, Value* values, bool right);

}  // namespace torch_tpu::aten
