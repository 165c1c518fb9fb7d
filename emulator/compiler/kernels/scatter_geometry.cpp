#include "emulator/compiler/kernels/scatter_geometry.h"

namespace tpu::compiler::kernels {

ScatterGeometry geometry_of(const hlo::ScatterDimensionNumbers& numbers, const View& result,
                            const ConstView& updates) {
  ScatterGeometry g;
  g.window.assign(result.shape.size(), 1);
  size_t next = 0;
  for (size_t d = 0; d < result.shape.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.inserted_window_dims, dimension) ||
        contains(numbers.input_batching_dims, dimension)) {
      continue;
    }
    const auto u = static_cast<size_t>(numbers.update_window_dims[next++]);
    g.window[d] = updates.shape[u];
    g.window_dims.push_back(dimension);
    g.window_shape.push_back(updates.shape[u]);
    g.update_window.push_back(updates.strides[u]);
  }
  for (size_t u = 0; u < updates.shape.size(); ++u) {
    if (!contains(numbers.update_window_dims, static_cast<int64_t>(u))) {
      g.update_scatter.push_back(updates.strides[u]);
    }
  }
  int64_t positions = 1;
  for (size_t u = 0; u < updates.shape.size(); ++u) {
    if (!contains(numbers.update_window_dims, static_cast<int64_t>(u)))
      positions *= updates.shape[u];
  }
  const auto scatter_rank = static_cast<int64_t>(g.update_scatter.size());
  for (int64_t u : numbers.update_window_dims) {
    g.windows_last = g.windows_last && (u >= scatter_rank || positions == 1);
  }
  for (int64_t d : numbers.scatter_dims_to_operand_dims) {
    g.single_start = g.single_start && g.window[static_cast<size_t>(d)] == 1;
  }
  return g;
}

IndexVectors index_vectors(const KernelCall& call, const hlo::ScatterDimensionNumbers& numbers,
                           const ScatterGeometry& geometry) {
  const View& result = call.results[0];
  return IndexVectors(call.operands[call.results.size()], numbers.index_vector_dim,
                      numbers.scatter_dims_to_operand_dims, numbers.input_batching_dims,
                      numbers.scatter_indices_batching_dims, result.shape, result.strides,
                      geometry.window);
}

}  // namespace tpu::compiler::kernels
