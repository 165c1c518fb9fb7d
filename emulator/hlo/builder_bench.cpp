// What an op costs to build: eager execution builds a program on each miss of the compile cache.
#include <benchmark/benchmark.h>

#include "emulator/hlo/builder.h"
#include "emulator/hlo/op_table.h"

namespace tpu::hlo {
namespace {

using enum ElementType;

template <class Body>
void run(benchmark::State& state, Body body) {
  constexpr int kOps = 64;
  for (auto _ : state) {
    Module module;
    Builder b(module.add_function("main").body);
    Value* x = b.parameter({kF32, {128, 128}});
    for (int i = 0; i < kOps; ++i) body(b, x);
    benchmark::DoNotOptimize(b.block().ops().size());
  }
  state.SetItemsProcessed(state.iterations() * kOps);
}

void BM_Add(benchmark::State& state) {
  run(state, [](Builder& b, Value* x) { b.add(x, x); });
}
void BM_Broadcast(benchmark::State& state) {
  run(state, [](Builder& b, Value* x) { b.broadcast_in_dim(x, {4, 128, 128}, {1, 2}); });
}
void BM_Slice(benchmark::State& state) {
  run(state, [](Builder& b, Value* x) { b.slice(x, {0, 0}, {64, 128}, {1, 2}); });
}
void BM_Dot(benchmark::State& state) {
  run(state, [](Builder& b, Value* x) { b.dot_general(x, x, {{}, {}, {1}, {0}}, kF32); });
}
void BM_Constant(benchmark::State& state) {
  run(state, [](Builder& b, Value*) { b.constant(kF32, 1.0); });
}
void BM_ReduceWithBody(benchmark::State& state) {
  run(state, [](Builder& b, Value* x) {
    b.reduce({x}, {b.constant(kF32, 0.0)}, {1}, Builder::combiner(OpKind::kAdd));
  });
}

BENCHMARK(BM_Add);
BENCHMARK(BM_Broadcast);
BENCHMARK(BM_Slice);
BENCHMARK(BM_Dot);
BENCHMARK(BM_Constant);
BENCHMARK(BM_ReduceWithBody);

}  // namespace
}  // namespace tpu::hlo
