#include "emulator/compiler/kernels/bench_case.h"
#include "emulator/compiler/kernels/copy.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Dims;
using hlo::ElementType;
using hlo::OpKind;

void transpose_matrix(benchmark::State& state) {
  const int64_t n = state.range(0);
  BenchCase bench;
  bench.operand(ElementType::kF32, {n, n});
  bench.result(ElementType::kF32, {n, n});
  bench.run(state, transpose, OpKind::kTranspose, {{"permutation", Dims{1, 0}}});
}
BENCHMARK(transpose_matrix)->Arg(256)->Arg(2048);

void transpose_heads(benchmark::State& state) {  // [batch, time, heads, size]: swap time and heads
  BenchCase bench;
  bench.operand(ElementType::kF32, {8, 512, 12, 64});
  bench.result(ElementType::kF32, {8, 12, 512, 64});
  bench.run(state, transpose, OpKind::kTranspose, {{"permutation", Dims{0, 2, 1, 3}}});
}
BENCHMARK(transpose_heads);

void concatenate_columns(benchmark::State& state) {
  BenchCase bench;
  bench.operand(ElementType::kF32, {4096, 96});
  bench.operand(ElementType::kF32, {4096, 160});
  bench.result(ElementType::kF32, {4096, 256});
  bench.run(state, concatenate, OpKind::kConcatenate, {{"dimension", int64_t{1}}});
}
BENCHMARK(concatenate_columns);

void pad_images(benchmark::State& state) {
  BenchCase bench;
  bench.operand(ElementType::kF32, {32, 64, 56, 56});
  bench.operand(ElementType::kF32, {});
  bench.result(ElementType::kF32, {32, 64, 58, 58});
  bench.run(state, pad, OpKind::kPad,
            {{"edge_padding_low", Dims{0, 0, 1, 1}},
             {"edge_padding_high", Dims{0, 0, 1, 1}},
             {"interior_padding", Dims{0, 0, 0, 0}}});
}
BENCHMARK(pad_images);

}  // namespace
}  // namespace tpu::compiler::kernels
