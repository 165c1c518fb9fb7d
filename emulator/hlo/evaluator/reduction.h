// Reductions, in the orders that decide their bits.
#pragma once

#include <span>
#include <vector>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/evaluator/interpreter.h"

namespace tpu::hlo {

/// Lanes of the tree below.
inline constexpr int64_t kReduceLanes = 32;

/// Reduces `inputs` (all of one shape) over `dimensions`; results drop those dimensions.
///
/// The K elements to be reduced are numbered row-major over the reduced dimensions in ascending
/// order. Lane l < min(32, K) starts as element l and takes in elements l + 32, l + 64, ... one
/// after the other. Then for h = 16, 8, 4, 2, 1 lane l < h takes in lane l + h, if there is one.
/// The result is body(init, lane 0), or init if K = 0. The accumulator is body's first argument.
std::vector<Literal> evaluate_reduce(std::span<const Literal> inputs,
                                     std::span<const Literal> init_values, const Dims& dimensions,
                                     const ScalarRegion& body);

/// A sliding window over a dilated and padded array.
struct WindowSpec {
  Dims dimensions, strides, base_dilations, window_dilations;
  IntMatrix padding;  ///< one row (low, high) a dimension
};

/// Folds each window, padding and holes included as `init_values`, from `init_values` on in
/// ascending row-major order of window positions.
std::vector<Literal> evaluate_reduce_window(std::span<const Literal> inputs,
                                            std::span<const Literal> init_values,
                                            const WindowSpec& window, const ScalarRegion& body,
                                            const Dims& result_shape);

/// For each source index in ascending row-major order: picks from its window the element that
/// `select` prefers to all before it (padding takes no part) and folds the source's element into
/// the result there, by scatter(result, source). Results start as `init_value`.
Literal evaluate_select_and_scatter(const Literal& operand, const Literal& source,
                                    const Literal& init_value, const Dims& window_dimensions,
                                    const Dims& window_strides, const IntMatrix& padding,
                                    const ScalarRegion& select, const ScalarRegion& scatter);

/// computation(inputs[i]...) for each index i.
std::vector<Literal> evaluate_map(std::span<const Literal> inputs, const ScalarRegion& computation,
                                  const TensorType& result_type);

/// Sorts lines along `dimension`, all inputs by the same permutation. Always stable, whatever the
/// op's is_stable says, so that ties do not depend on the algorithm. `comparator` is called with
/// (lhs 0, rhs 0, lhs 1, rhs 1, ...) and must be a strict weak order.
std::vector<Literal> evaluate_sort(std::span<const Literal> inputs, int64_t dimension,
                                   const ScalarRegion& comparator);

}  // namespace tpu::hlo
