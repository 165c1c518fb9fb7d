#include "emulator/hlo/evaluator/reduction.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "emulator/base/merge_sort.h"
#include "emulator/hlo/evaluator/index.h"

namespace tpu::hlo {
namespace {

// The elements of several tensors at one position: what a variadic region works on.
using Tuple = std::vector<Element>;

Tuple load_tuple(std::span<const Literal> tensors, int64_t position) {
  Tuple tuple;
  for (const Literal& tensor : tensors) tuple.push_back(load(tensor, position));
  return tuple;
}

void store_tuple(std::span<Literal> tensors, int64_t position, const Tuple& tuple) {
  for (size_t n = 0; n < tensors.size(); ++n) store(tensors[n], position, tuple[n]);
}

Tuple apply(const ScalarRegion& body, Tuple accumulator, const Tuple& x) {
  accumulator.insert(accumulator.end(), x.begin(), x.end());
  return body(accumulator);
}

std::vector<Literal> make_results(std::span<const Literal> init_values, const Dims& shape) {
  std::vector<Literal> results;
  for (const Literal& init : init_values) {
    results.emplace_back(TensorType{init.type().element, shape});
  }
  return results;
}

// The tree of the header; `elements` in their numbering, at least one.
Tuple reduce_lanes(const std::vector<Tuple>& elements, const ScalarRegion& body) {
  const int64_t count = static_cast<int64_t>(elements.size());
  const int64_t num_lanes = std::min(kReduceLanes, count);
  std::vector<Tuple> lanes(elements.begin(), elements.begin() + num_lanes);
  for (int64_t k = num_lanes; k < count; ++k) {
    Tuple& lane = lanes[k % kReduceLanes];
    lane = apply(body, lane, elements[k]);
  }
  for (int64_t h = kReduceLanes / 2; h > 0; h /= 2) {
    for (int64_t l = 0; l < h && l + h < num_lanes; ++l) {
      lanes[l] = apply(body, lanes[l], lanes[l + h]);
    }
  }
  return lanes[0];
}

}  // namespace

std::vector<Literal> evaluate_reduce(std::span<const Literal> inputs,
                                     std::span<const Literal> init_values, const Dims& dimensions,
                                     const ScalarRegion& body) {
  const Dims& shape = inputs[0].type().shape;
  Dims reduced = dimensions;
  std::ranges::sort(reduced);
  const Dims kept = other_dimensions(inputs[0].type().rank(), reduced);
  const Dims reduced_shape = pick(shape, reduced);
  const Tuple init = load_tuple(init_values, 0);

  std::vector<Literal> results = make_results(init_values, pick(shape, kept));
  for_each_index(results[0].type().shape, [&](const Index& result_index) {
    std::vector<Tuple> elements;
    Index index(shape.size());
    for (size_t i = 0; i < kept.size(); ++i) index[kept[i]] = result_index[i];
    for_each_index(reduced_shape, [&](const Index& reduced_index) {
      for (size_t i = 0; i < reduced.size(); ++i) index[reduced[i]] = reduced_index[i];
      elements.push_back(load_tuple(inputs, linearize(index, shape)));
    });
    store_tuple(results, linearize(result_index, results[0].type().shape),
                elements.empty() ? init : apply(body, init, reduce_lanes(elements, body)));
  });
  return results;
}

namespace {

// Where in the operand a window's element lies; nothing if it lies in padding or a hole.
std::optional<int64_t> operand_position(const WindowSpec& window, const Dims& shape,
                                        const Index& result_index, const Index& window_index) {
  Index index(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t dilated = result_index[d] * window.strides[d] +
                            window_index[d] * window.window_dilations[d] -
                            window.padding.values[2 * d];
    if (dilated < 0 || dilated % window.base_dilations[d] != 0) return std::nullopt;
    index[d] = dilated / window.base_dilations[d];
  }
  if (!in_bounds(index, shape)) return std::nullopt;
  return linearize(index, shape);
}

}  // namespace

std::vector<Literal> evaluate_reduce_window(std::span<const Literal> inputs,
                                            std::span<const Literal> init_values,
                                            const WindowSpec& window, const ScalarRegion& body,
                                            const Dims& result_shape) {
  const Dims& shape = inputs[0].type().shape;
  const Tuple init = load_tuple(init_values, 0);
  std::vector<Literal> results = make_results(init_values, result_shape);
  for_each_index(result_shape, [&](const Index& result_index) {
    Tuple accumulator = init;
    for_each_index(window.dimensions, [&](const Index& window_index) {
      const auto position = operand_position(window, shape, result_index, window_index);
      accumulator = apply(body, accumulator, position ? load_tuple(inputs, *position) : init);
    });
    store_tuple(results, linearize(result_index, result_shape), accumulator);
  });
  return results;
}

Literal evaluate_select_and_scatter(const Literal& operand, const Literal& source,
                                    const Literal& init_value, const Dims& window_dimensions,
                                    const Dims& window_strides, const IntMatrix& padding,
                                    const ScalarRegion& select, const ScalarRegion& scatter) {
  const Dims& shape = operand.type().shape;
  const Dims ones(shape.size(), 1);
  const WindowSpec window{window_dimensions, window_strides, ones, ones, padding};
  Literal result(operand.type());
  for (int64_t i = 0; i < result.type().num_elements(); ++i) {
    store(result, i, to_element(init_value));
  }
  for_each_index(source.type().shape, [&](const Index& source_index) {
    std::optional<int64_t> selected;
    for_each_index(window_dimensions, [&](const Index& window_index) {
      const auto candidate = operand_position(window, shape, source_index, window_index);
      if (!candidate) return;
      if (!selected || !select(load(operand, *selected), load(operand, *candidate)).truth()) {
        selected = candidate;
      }
    });
    if (!selected) return;
    const Element update = load(source, linearize(source_index, source.type().shape));
    store(result, *selected, scatter(load(result, *selected), update));
  });
  return result;
}

std::vector<Literal> evaluate_map(std::span<const Literal> inputs, const ScalarRegion& computation,
                                  const TensorType& result_type) {
  Literal result(result_type);
  for (int64_t i = 0; i < result_type.num_elements(); ++i) {
    store(result, i, computation(load_tuple(inputs, i))[0]);
  }
  return {result};
}

std::vector<Literal> evaluate_sort(std::span<const Literal> inputs, int64_t dimension,
                                   const ScalarRegion& comparator) {
  const Dims& shape = inputs[0].type().shape;
  if (shape.empty()) return {inputs.begin(), inputs.end()};
  const int64_t length = shape[dimension];
  const int64_t stride = row_major_strides(shape)[dimension];
  Dims line_starts = shape;
  line_starts[dimension] = std::min<int64_t>(length, 1);

  std::vector<Literal> results(inputs.begin(), inputs.end());
  for_each_index(line_starts, [&](const Index& start) {
    const int64_t base = linearize(start, shape);
    std::vector<int64_t> order(length);
    std::iota(order.begin(), order.end(), 0);
    merge_sort(order, [&](int64_t lhs, int64_t rhs) {
      Tuple arguments;
      for (const Literal& input : inputs) {
        arguments.push_back(load(input, base + lhs * stride));
        arguments.push_back(load(input, base + rhs * stride));
      }
      return comparator(arguments)[0].truth();
    });
    for (int64_t i = 0; i < length; ++i) {
      store_tuple(results, base + i * stride, load_tuple(inputs, base + order[i] * stride));
    }
  });
  return results;
}

}  // namespace tpu::hlo
