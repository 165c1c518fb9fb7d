// What a cost model is told about each kernel of a program.
#pragma once

#include "emulator/compiler/executable.h"
#include "emulator/compiler/passes/fusion.h"

namespace tpu::compiler {

/// One description for a group of fused ops; logical bytes of each distinct value it reads.
KernelDescription describe_loops(const PlanStep& step);
KernelDescription describe_library(const hlo::Op& op);
KernelDescription describe_copy(const hlo::TensorType& type);

}  // namespace tpu::compiler
