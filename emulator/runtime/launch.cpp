#include "emulator/runtime/launch.h"

namespace tpu::runtime {

int64_t simulated_duration(const compiler::Executable& executable, const CostModel* cost_model) {
  if (cost_model == nullptr) return 0;
  int64_t total = 0;
  for (const compiler::KernelDescription& kernel : executable.kernels()) {
    total += cost_model->duration(kernel);
  }
  return total;
}

void run_on_queue(const compiler::Executable& executable,
                  std::span<const std::byte* const> parameters, std::span<std::byte* const> results,
                  Queue& queue, const CostModel* cost_model) {
  queue.advance_simulated_time(simulated_duration(executable, cost_model));
  executable.run(parameters, results, queue.scratch());
}

}  // namespace tpu::runtime
