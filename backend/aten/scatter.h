// Writing by index: what several families share. Values that meet in one element are combined in
// ascending order of the index tensor.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// target[index[i, j], j] combined with updates[i, j], for dim 0 of two. All of one rank; index and
/// updates of one shape, which may be smaller than target's apart from `dim`. kReturn: the last
/// value stays.
Value* scatter_along(Lowering& op, Value* target, int64_t dim, Value* index, Value* updates,
                     tpu::hlo::OpKind kind);

/// Whole slices: target[.., index[i], ..] along `dim` combined with source[.., i, ..].
Value* scatter_slices(Lowering& op, Value* target, int64_t dim, Value* index, Value* source,
                      tpu::hlo::OpKind kind);

/// stablehlo.scatter with a combiner by name.
Value* scatter_with(Builder& b, Value* target, Value* indices, Value* updates,
                    const tpu::hlo::ScatterDimensionNumbers& numbers, tpu::hlo::OpKind kind);

}  // namespace torch_tpu::aten
