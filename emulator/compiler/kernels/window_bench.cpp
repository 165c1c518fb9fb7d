#include "emulator/compiler/kernels/bench_case.h"
#include "emulator/compiler/kernels/reduce_window.h"
#include "emulator/compiler/kernels/select_and_scatter.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Attributes;
using hlo::Dims;
using hlo::ElementType;
using hlo::IntMatrix;
using hlo::OpKind;

Attributes window(Dims size, Dims strides, Dims padding) {
  const auto rank = static_cast<int64_t>(size.size());
  return {{"window_dimensions", std::move(size)},
          {"window_strides", std::move(strides)},
          {"padding", IntMatrix{rank, 2, std::move(padding)}}};
}

void pool_planes(benchmark::State& state) {  // NCHW, 3x3, stride 2
  BenchCase bench;
  bench.operand(ElementType::kF32, {1024, 112, 112});
  bench.operand(ElementType::kF32, {});
  bench.result(ElementType::kF32, {1024, 56, 56});
  bench.region(OpKind::kMaximum);
  bench.run(state, reduce_window, OpKind::kReduceWindow,
            window({1, 3, 3}, {1, 2, 2}, {0, 0, 1, 0, 1, 0}));
}
BENCHMARK(pool_planes);

void pool_channels_last(benchmark::State& state) {  // NHWC, 3x3, stride 2
  BenchCase bench;
  bench.operand(ElementType::kF32, {16, 112, 112, 64});
  bench.operand(ElementType::kF32, {});
  bench.result(ElementType::kF32, {16, 56, 56, 64});
  bench.region(OpKind::kMaximum);
  bench.run(state, reduce_window, OpKind::kReduceWindow,
            window({1, 3, 3, 1}, {1, 2, 2, 1}, {0, 0, 1, 0, 1, 0, 0, 0}));
}
BENCHMARK(pool_channels_last);

void pool_with_positions(benchmark::State& state) {
  BenchCase bench;
  bench.operand(ElementType::kF32, {1024, 112, 112});
  bench.indices({1024, 112, 112}, 112 * 112);
  bench.operand(ElementType::kF32, {});
  bench.indices({}, 1);
  bench.result(ElementType::kF32, {1024, 56, 56});
  bench.result(ElementType::kSI64, {1024, 56, 56});
  RegionPattern pattern;
  pattern.kind = RegionPattern::Kind::kTake;
  pattern.direction = RegionPattern::Direction::kGt;
  pattern.take_nan = pattern.take_first = true;
  bench.region(pattern);
  bench.run(state, reduce_window, OpKind::kReduceWindow,
            window({1, 3, 3}, {1, 2, 2}, {0, 0, 1, 0, 1, 0}));
}
BENCHMARK(pool_with_positions);

void cumulative_maximum(benchmark::State& state) {
  const int64_t lines = 1024, n = 4096;
  BenchCase bench;
  bench.operand(ElementType::kF32, {lines, n});
  bench.operand(ElementType::kF32, {});
  bench.result(ElementType::kF32, {lines, n});
  bench.region(OpKind::kMaximum);
  bench.run(state, reduce_window, OpKind::kReduceWindow, window({1, n}, {1, 1}, {0, 0, n - 1, 0}));
}
BENCHMARK(cumulative_maximum);

}  // namespace
}  // namespace tpu::compiler::kernels
