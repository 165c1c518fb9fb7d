#include "emulator/compiler/kernels/bench_case.h"
#include "emulator/compiler/kernels/gather.h"
#include "emulator/compiler/kernels/scatter.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Dims;
using hlo::ElementType;
using hlo::OpKind;

void gather_rows(benchmark::State& state) {  // an embedding's forward pass
  const int64_t rows = 30000, width = state.range(0), count = 4096;
  BenchCase bench;
  bench.operand(ElementType::kF32, {rows, width});
  bench.indices({count, 1}, rows);
  bench.result(ElementType::kF32, {count, width});
  hlo::GatherDimensionNumbers numbers;
  numbers.offset_dims = {1};
  numbers.collapsed_slice_dims = {0};
  numbers.start_index_map = {0};
  numbers.index_vector_dim = 1;
  bench.run(state, gather, OpKind::kGather,
            {{"dimension_numbers", numbers}, {"slice_sizes", Dims{1, width}}});
}
BENCHMARK(gather_rows)->Arg(16)->Arg(256);

void gather_elements(benchmark::State& state) {  // torch.gather along dimension 1
  const int64_t rows = 1024, columns = 1000;
  BenchCase bench;
  bench.operand(ElementType::kF32, {rows, columns});
  bench.indices({rows, columns, 1}, columns);
  bench.result(ElementType::kF32, {rows, columns});
  hlo::GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = {1};
  numbers.operand_batching_dims = {0};
  numbers.start_indices_batching_dims = {0};
  numbers.start_index_map = {1};
  numbers.index_vector_dim = 2;
  bench.run(state, gather, OpKind::kGather,
            {{"dimension_numbers", numbers}, {"slice_sizes", Dims{1, 1}}});
}
BENCHMARK(gather_elements);

void scatter_rows(benchmark::State& state) {  // an embedding's gradient
  const int64_t rows = 30000, width = state.range(0), count = 4096;
  BenchCase bench;
  bench.operand(ElementType::kF32, {rows, width});
  bench.indices({count, 1}, rows);
  bench.operand(ElementType::kF32, {count, width});
  bench.aliased_result();
  bench.region(OpKind::kAdd);
  hlo::ScatterDimensionNumbers numbers;
  numbers.update_window_dims = {1};
  numbers.inserted_window_dims = {0};
  numbers.scatter_dims_to_operand_dims = {0};
  numbers.index_vector_dim = 1;
  bench.run(state, scatter, OpKind::kScatter, {{"scatter_dimension_numbers", numbers}});
}
BENCHMARK(scatter_rows)->Arg(16)->Arg(256);

void scatter_elements(benchmark::State& state) {  // torch.scatter_add along dimension 1
  const int64_t rows = 1024, columns = 1000;
  BenchCase bench;
  bench.operand(ElementType::kF32, {rows, columns});
  bench.indices({rows, columns, 1}, columns);
  bench.operand(ElementType::kF32, {rows, columns});
  bench.aliased_result();
  bench.region(OpKind::kAdd);
  hlo::ScatterDimensionNumbers numbers;
  numbers.inserted_window_dims = {1};
  numbers.input_batching_dims = {0};
  numbers.scatter_indices_batching_dims = {0};
  numbers.scatter_dims_to_operand_dims = {1};
  numbers.index_vector_dim = 2;
  bench.run(state, scatter, OpKind::kScatter, {{"scatter_dimension_numbers", numbers}});
}
BENCHMARK(scatter_elements);

}  // namespace
}  // namespace tpu::compiler::kernels
