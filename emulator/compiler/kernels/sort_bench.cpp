#include "emulator/compiler/kernels/bench_case.h"
#include "emulator/compiler/kernels/sort.h"
#include "emulator/compiler/kernels/topk.h"
#include "emulator/compiler/kernels/value_order.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::ElementType;
using hlo::OpKind;

void sort_lines(benchmark::State& state) {  // values with their positions
  const int64_t lines = state.range(0), n = state.range(1);
  BenchCase bench;
  bench.operand(ElementType::kF32, {lines, n});
  bench.indices({lines, n}, n);
  bench.result(ElementType::kF32, {lines, n});
  bench.result(ElementType::kSI64, {lines, n});
  bench.region(value_order(false));
  bench.run(state, sort, OpKind::kSort, {{"dimension", int64_t{1}}});
}
BENCHMARK(sort_lines)->Args({10000, 16})->Args({1000, 1000})->Args({1, 1 << 20});

void topk_of_a_vocabulary(benchmark::State& state) {
  BenchCase bench;
  bench.operand(ElementType::kF32, {8, 50000});
  bench.result(ElementType::kF32, {8, 50});
  bench.result(ElementType::kSI64, {8, 50});
  bench.run(state, topk, OpKind::kCustomCall, {});
}
BENCHMARK(topk_of_a_vocabulary);

}  // namespace
}  // namespace tpu::compiler::kernels
