// Gather and scatter. Names as in the specification.
#pragma once

#include <span>
#include <vector>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/evaluator/interpreter.h"

namespace tpu::hlo {

/// Start indices are clamped so that each slice lies inside the operand.
Literal evaluate_gather(const Literal& operand, const Literal& start_indices,
                        const GatherDimensionNumbers& numbers, const Dims& slice_sizes,
                        const TensorType& result_type);

/// For every update index in ascending row-major order: results = update_computation(results,
/// updates) at the index it maps to; those out of bounds are skipped.
std::vector<Literal> evaluate_scatter(std::span<const Literal> inputs,
                                      const Literal& scatter_indices,
                                      std::span<const Literal> updates,
                                      const ScatterDimensionNumbers& numbers,
                                      const ScalarRegion& update_computation);

}  // namespace tpu::hlo
