// Host time of a warm look-up: from an operator's arguments to its program, in Strict Eager.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <benchmark/benchmark.h>

#include "backend/eager/call.h"
#include "backend/eager/program_cache.h"

namespace torch_tpu::eager {
namespace {

// `aten::add.Tensor` on two 4x4 tensors, called once so that the cache holds its program.
struct WarmAdd {
  WarmAdd()
      : schema(c10::Dispatcher::singleton().findSchemaOrThrow("aten::add", "Tensor").schema()),
        info(describe(schema, *aten::find_op("add.Tensor"))) {
    const at::Tensor a = at::ones({4, 4}, at::Device(c10::DeviceType::PrivateUse1));
    arguments = {a, at::ones_like(a), at::Scalar(1)};
    torch::jit::Stack stack = arguments;
    run(*info, stack);
  }

  const c10::FunctionSchema& schema;
  std::unique_ptr<OperatorInfo> info;
  torch::jit::Stack arguments;
};

void look_up(benchmark::State& state) {
  const WarmAdd add;
  for (auto _ : state) {
    const Call call(*add.info, add.arguments);
    Program* program = ProgramCache::instance().find(call.key());
    if (!program) state.SkipWithError("the program of a warm call was not found");
    benchmark::DoNotOptimize(program);
  }
}
BENCHMARK(look_up);

// The second half of it alone.
void find(benchmark::State& state) {
  const WarmAdd add;
  const Call call(*add.info, add.arguments);
  for (auto _ : state) benchmark::DoNotOptimize(ProgramCache::instance().find(call.key()));
}
BENCHMARK(find);

}  // namespace
}  // namespace torch_tpu::eager
