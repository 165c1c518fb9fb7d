// Reductions that several families share.
#pragma once

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// The input widened to its compute type, as sums are formed in.
Value* widened(Lowering& op, const Tensor& x);
/// Product of the sizes of `dims`.
int64_t count_of(const Dims& shape, const Dims& dims);
/// Mean over `dims` of a value in its compute type, keeping size-1 dims.
Value* mean_keepdim(Lowering& op, Value* x, const Dims& dims);
/// The p-norm over `dims`: for infinite p the largest or smallest magnitude, for 0 the number of
/// elements that are not 0.
Value* vector_norm(Lowering& op, Value* x, const Dims& dims, bool keepdim, double p);
/// The running sum (or product, maximum, ...) along a dimension.
Value* cumulative(Lowering& op, Value* x, int64_t dim, tpu::hlo::OpKind kind);
/// Values and int64 positions of the extreme along one dimension (the first of equals; the first
/// NaN wins over numbers), without that dimension.
std::pair<Value*, Value*> extreme_with_index(Lowering& op, Value* x, int64_t dim, bool largest);

}  // namespace torch_tpu::aten
