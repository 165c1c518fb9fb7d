#include <benchmark/benchmark.h>

#include <array>

#include "emulator/runtime/queue.h"

namespace tpu::runtime {
namespace {

// The host's cost of one op's dispatch: a task with as much state as an op record has.
void BM_Enqueue(benchmark::State& state) {
  Queue queue(0, "q");
  std::array<void*, 12> operands{};
  uint64_t sink = 0;
  for (auto _ : state) {
    queue.enqueue([operands, &sink] { sink += reinterpret_cast<uintptr_t>(operands[3]); });
  }
  queue.synchronize();
  benchmark::DoNotOptimize(sink);
}
BENCHMARK(BM_Enqueue);

void BM_EnqueueAndSynchronize(benchmark::State& state) {
  Queue queue(0, "q");
  for (auto _ : state) {
    queue.enqueue([] {});
    queue.synchronize();
  }
}
BENCHMARK(BM_EnqueueAndSynchronize);

void BM_RecordEvent(benchmark::State& state) {
  Queue queue(0, "q");
  Event event;
  for (auto _ : state) queue.record(event);
  queue.synchronize();
}
BENCHMARK(BM_RecordEvent);

}  // namespace
}  // namespace tpu::runtime
