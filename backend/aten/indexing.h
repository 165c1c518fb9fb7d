// Reading by index: what several families share.
#pragma once

#include <string_view>

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// Faults the program with `message` unless begin <= every element of `index` < end.
void assert_all_between(Lowering& op, Value* index, int64_t begin, int64_t end,
                        std::string_view message);
/// The same as an IndexError.
void assert_in_range(Lowering& op, Value* index, int64_t begin, int64_t end,
                     std::string_view message);
/// As int64, with negative indices counted from the end if `wrap`; out-of-range ones fault.
Value* checked_index(Lowering& op, Value* index, int64_t size, bool wrap, int64_t dim);

/// `x` with dimension `dim` replaced by the dimensions of `index` (i64, in range): index_select
/// for a 1-d index, embedding for others.
Value* take(Lowering& op, Value* x, int64_t dim, Value* index);
/// One element of each line along `dim`: `index` has x's shape without `dim`.
Value* pick_along(Lowering& op, Value* x, int64_t dim, Value* index);
/// torch.gather: result[i, j] = x[index[i, j], j] for dim 0. `index` is i64 and in range.
Value* gather_along(Lowering& op, Value* x, int64_t dim, Value* index);
/// The leading part of `x` of these sizes.
Value* crop(Builder& b, Value* x, const Dims& sizes);

/// Advanced indexing: the indexed dimensions of `self` and one index tensor each, broadcast to one
/// shape and checked.
struct AdvancedIndex {
  Dims dims;           ///< the indexed dimensions, ascending
  Value* coordinates;  ///< i64 [..., dims.size()]: the broadcast shape, then a coordinate vector
  Dims shape;          ///< the broadcast shape
  int64_t position;    ///< where `shape` goes among the dimensions that are left
};
AdvancedIndex read_advanced_index(Lowering& op, const Tensor& self, const TensorList& indices);

}  // namespace torch_tpu::aten
