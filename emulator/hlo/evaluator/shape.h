// Ops that only move elements: each result element is an operand's element at another index.
#pragma once

#include <span>

#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// result[result_index] = result_index[iota_dimension].
Literal evaluate_iota(int64_t iota_dimension, const TensorType& result_type);

/// result[result_index] = operand[operand_index], where operand_index[d] is 0 if that dimension
/// has size 1, otherwise result_index[broadcast_dimensions[d]].
Literal evaluate_broadcast_in_dim(const Literal& operand, const Dims& broadcast_dimensions,
                                  const TensorType& result_type);

/// Same elements in row-major order, another shape.
Literal evaluate_reshape(const Literal& operand, const TensorType& result_type);

/// result[result_index] = operand[operand_index], result_index[d] = operand_index[permutation[d]].
Literal evaluate_transpose(const Literal& operand, const Dims& permutation);

Literal evaluate_reverse(const Literal& operand, const Dims& dimensions);

/// operand_index = start_indices + result_index * strides.
Literal evaluate_slice(const Literal& operand, const Dims& start_indices, const Dims& limit_indices,
                       const Dims& strides);

Literal evaluate_concatenate(std::span<const Literal> inputs, int64_t dimension);

/// Element operand_index goes to low + operand_index * (interior + 1); negative padding drops it.
Literal evaluate_pad(const Literal& operand, const Literal& padding_value, const Dims& low,
                     const Dims& high, const Dims& interior);

/// Start indices are clamped so that the slice lies inside the operand.
Literal evaluate_dynamic_slice(const Literal& operand, std::span<const Literal> start_indices,
                               const Dims& slice_sizes);
Literal evaluate_dynamic_update_slice(const Literal& operand, const Literal& update,
                                      std::span<const Literal> start_indices);

}  // namespace tpu::hlo
