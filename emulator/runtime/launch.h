// Running a program on a queue: the one place where simulated time advances.
#pragma once

#include <cstddef>
#include <span>

#include "emulator/compiler/executable.h"
#include "emulator/runtime/cost_model.h"
#include "emulator/runtime/queue.h"

namespace tpu::runtime {

/// Called by a task of `queue`: runs the executable with the queue's scratch memory, then advances
/// the queue's clock by the sum of its kernels' durations (kernels of one program run one after
/// another). Time also advances if the program faults. `cost_model` may be null.
void run_on_queue(const compiler::Executable& executable,
                  std::span<const std::byte* const> parameters, std::span<std::byte* const> results,
                  Queue& queue, const CostModel* cost_model);

/// Sum of the kernels' durations, in picoseconds; 0 without a cost model.
int64_t simulated_duration(const compiler::Executable& executable, const CostModel* cost_model);

}  // namespace tpu::runtime
