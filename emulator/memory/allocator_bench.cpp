#include <benchmark/benchmark.h>

#include <array>

#include "emulator/memory/allocator.h"

namespace tpu::memory {
namespace {

// A free-list hit: what each eager op's result costs.
void BM_AllocateAndFree(benchmark::State& state) {
  HbmAllocator hbm(int64_t{4} << 30);
  const std::array<int64_t, 2> shape{state.range(0), 128};
  const size_t bytes = static_cast<size_t>(shape[0] * shape[1]) * 4;
  for (auto _ : state) {
    std::byte* p = hbm.allocate(bytes, hlo::ElementType::kF32, shape, 0);
    benchmark::DoNotOptimize(p);
    hbm.deallocate(p);
  }
}
BENCHMARK(BM_AllocateAndFree)->Arg(8)->Arg(512)->Arg(8192)->Arg(65536);

// Like a layer's forward pass and its reverse.
void BM_StackOfBlocks(benchmark::State& state) {
  HbmAllocator hbm(int64_t{4} << 30);
  std::array<std::byte*, 64> blocks;
  for (auto _ : state) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::array<int64_t, 2> shape{static_cast<int64_t>(64 * (i % 7 + 1)), 1024};
      blocks[i] = hbm.allocate(static_cast<size_t>(shape[0] * shape[1]) * 4, hlo::ElementType::kF32,
                               shape, 0);
    }
    for (size_t i = blocks.size(); i-- > 0;) hbm.deallocate(blocks[i]);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(blocks.size()));
}
BENCHMARK(BM_StackOfBlocks);

}  // namespace
}  // namespace tpu::memory
