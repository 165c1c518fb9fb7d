#include "emulator/hlo/evaluator/indexing.h"

#include <algorithm>

#include "emulator/hlo/evaluator/index.h"

namespace tpu::hlo {
namespace {

// start_indices[bi0, ..., :, ..., biN] with `:` at index_vector_dim; where that is the rank, the
// scalar start_indices[batch_index].
std::vector<Element> index_vector(const Literal& start_indices, const Index& batch_index,
                                  int64_t index_vector_dim) {
  const Dims& shape = start_indices.type().shape;
  if (index_vector_dim == start_indices.type().rank()) {
    return {load(start_indices, linearize(batch_index, shape))};
  }
  std::vector<Element> vector;
  Index index = batch_index;
  index.insert(index.begin() + index_vector_dim, 0);
  for (int64_t& i = index[index_vector_dim]; i < shape[index_vector_dim]; ++i) {
    vector.push_back(load(start_indices, linearize(index, shape)));
  }
  return vector;
}

// full_batching_index: an operand's batching dimension takes the coordinate of the batch index
// that its counterpart among the start indices' dimensions has.
Index full_batching_index(int64_t rank, const Index& batch_index, const Dims& operand_batching_dims,
                          const Dims& start_indices_batching_dims, int64_t index_vector_dim) {
  Index full(rank, 0);
  for (size_t i = 0; i < operand_batching_dims.size(); ++i) {
    const int64_t d = start_indices_batching_dims[i];
    full[operand_batching_dims[i]] = batch_index[d < index_vector_dim ? d : d - 1];
  }
  return full;
}

// The index, or where it is so far out that adding a window's offset could overflow, another one
// that is out of bounds with every offset.
int64_t scatter_start(const Element& index, int64_t size) {
  if (!is_signed_integer(index.type) && index.integer() < 0) return size;
  return std::clamp(index.integer(), -size, size);
}

// The window's index with zeros put in at the dimensions that the window has not.
Index full_window_index(int64_t rank, const Index& window_index, const Dims& inserted,
                        const Dims& batching) {
  Index full(rank, 0);
  const Dims kept = other_dimensions(rank, inserted, batching);
  for (size_t i = 0; i < kept.size(); ++i) full[kept[i]] = window_index[i];
  return full;
}

}  // namespace

Literal evaluate_gather(const Literal& operand, const Literal& start_indices,
                        const GatherDimensionNumbers& numbers, const Dims& slice_sizes,
                        const TensorType& result_type) {
  const Dims& shape = operand.type().shape;
  const int64_t rank = operand.type().rank();
  const Dims batch_dims = other_dimensions(result_type.rank(), numbers.offset_dims);
  Literal result(result_type);
  for_each_index(result_type.shape, [&](const Index& result_index) {
    const Index batch_index = pick(result_index, batch_dims);
    const std::vector<Element> start =
        index_vector(start_indices, batch_index, numbers.index_vector_dim);
    const Index batching =
        full_batching_index(rank, batch_index, numbers.operand_batching_dims,
                            numbers.start_indices_batching_dims, numbers.index_vector_dim);
    const Index offset =
        full_window_index(rank, pick(result_index, numbers.offset_dims),
                          numbers.collapsed_slice_dims, numbers.operand_batching_dims);
    Index operand_index(rank, 0);
    for (size_t i = 0; i < start.size(); ++i) {
      const int64_t d = numbers.start_index_map[i];
      operand_index[d] = clamp_start(start[i], shape[d] - slice_sizes[d]);
    }
    for (int64_t d = 0; d < rank; ++d) operand_index[d] += batching[d] + offset[d];
    store(result, linearize(result_index, result_type.shape),
          load(operand, linearize(operand_index, shape)));
  });
  return result;
}

std::vector<Literal> evaluate_scatter(std::span<const Literal> inputs,
                                      const Literal& scatter_indices,
                                      std::span<const Literal> updates,
                                      const ScatterDimensionNumbers& numbers,
                                      const ScalarRegion& update_computation) {
  const Dims& shape = inputs[0].type().shape;
  const Dims& update_shape = updates[0].type().shape;
  const int64_t rank = inputs[0].type().rank();
  const Dims scatter_dims = other_dimensions(updates[0].type().rank(), numbers.update_window_dims);
  std::vector<Literal> results(inputs.begin(), inputs.end());
  for_each_index(update_shape, [&](const Index& update_index) {
    const Index scatter_index = pick(update_index, scatter_dims);
    const std::vector<Element> start =
        index_vector(scatter_indices, scatter_index, numbers.index_vector_dim);
    const Index batching =
        full_batching_index(rank, scatter_index, numbers.input_batching_dims,
                            numbers.scatter_indices_batching_dims, numbers.index_vector_dim);
    const Index window =
        full_window_index(rank, pick(update_index, numbers.update_window_dims),
                          numbers.inserted_window_dims, numbers.input_batching_dims);
    Index result_index(rank, 0);
    for (size_t i = 0; i < start.size(); ++i) {
      const int64_t d = numbers.scatter_dims_to_operand_dims[i];
      result_index[d] = scatter_start(start[i], shape[d]);
    }
    for (int64_t d = 0; d < rank; ++d) result_index[d] += batching[d] + window[d];
    if (!in_bounds(result_index, shape)) return;

    const int64_t to = linearize(result_index, shape);
    const int64_t from = linearize(update_index, update_shape);
    std::vector<Element> arguments;
    for (const Literal& result : results) arguments.push_back(load(result, to));
    for (const Literal& update : updates) arguments.push_back(load(update, from));
    const std::vector<Element> updated = update_computation(arguments);
    for (size_t n = 0; n < results.size(); ++n) store(results[n], to, updated[n]);
  });
  return results;
}

}  // namespace tpu::hlo
