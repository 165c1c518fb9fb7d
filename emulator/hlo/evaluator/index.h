// Indices of tensors: multi-dimensional positions and their row-major numbering.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "emulator/hlo/types.h"

namespace tpu::hlo {

/// A position in a tensor, one number a dimension.
using Index = Dims;

/// Row-major number of `index` in an array of `shape`.
inline int64_t linearize(std::span<const int64_t> index, std::span<const int64_t> shape) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d) position = position * shape[d] + index[d];
  return position;
}

inline bool in_bounds(std::span<const int64_t> index, std::span<const int64_t> shape) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (index[d] < 0 || index[d] >= shape[d]) return false;
  }
  return true;
}

/// Steps `index` to its row-major successor; false after the last one (it is then all zero).
inline bool next_index(Index& index, std::span<const int64_t> shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

/// Calls `visit(index)` for every index of `shape`, in ascending row-major order. A rank-0 shape
/// has one index, the empty one; a shape with a zero has none.
template <class Visit>
void for_each_index(std::span<const int64_t> shape, Visit&& visit) {
  if (num_elements(shape) == 0) return;
  Index index(shape.size(), 0);
  do {
    visit(std::as_const(index));
  } while (next_index(index, shape));
}

/// The entries of `values` that `dimensions` names, in that order.
inline Dims pick(std::span<const int64_t> values, std::span<const int64_t> dimensions) {
  Dims picked;
  for (int64_t d : dimensions) picked.push_back(values[d]);
  return picked;
}

inline bool contains(std::span<const int64_t> values, int64_t value) {
  for (int64_t v : values) {
    if (v == value) return true;
  }
  return false;
}

/// The dimensions 0 .. rank-1 that are in neither list, ascending.
inline Dims other_dimensions(int64_t rank, std::span<const int64_t> some,
                             std::span<const int64_t> more = {}) {
  Dims rest;
  for (int64_t d = 0; d < rank; ++d) {
    if (!contains(some, d) && !contains(more, d)) rest.push_back(d);
  }
  return rest;
}

}  // namespace tpu::hlo
