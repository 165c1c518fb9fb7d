// Groups the ops of a block into loop kernels and calls, in an order that respects dependencies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulator/compiler/passes/loop_kernel.h"
#include "emulator/hlo/ir.h"

namespace tpu::compiler {

/// Part of another value's memory, seen with strides of its own (in elements).
struct ValueView {
  const hlo::Value* base = nullptr;
  int64_t offset = 0;
  hlo::Dims strides;
};

struct BlockPlan;

struct PlanStep {
  enum class Kind : uint8_t { kLoops, kLibrary, kAssert, kControl } kind;
  const hlo::Op* op = nullptr;             ///< all but kLoops
  std::vector<const hlo::Op*> ops;         ///< kLoops: what the group computes, in program order
  std::vector<LoopKernel> kernels;         ///< kLoops, to be run in order
  std::vector<const hlo::Value*> outputs;  ///< values that get memory here
  std::vector<ValueView> operands;         ///< kLibrary, kAssert: where each operand lies
  std::vector<std::unique_ptr<BlockPlan>> regions;  ///< kControl: one a region
};

struct BlockPlan {
  const hlo::Block* block = nullptr;
  std::vector<PlanStep> steps;
};

/// Strides of values whose memory is not dense row-major (parameters and results of the program).
using StridesOf = std::unordered_map<const hlo::Value*, hlo::Dims>;

/// The value as a view of memory that exists when the program runs: itself, or through layout
/// ops that only change strides. Null if it needs memory of its own.
ValueView view_of(const hlo::Value* value, const StridesOf& strides);

BlockPlan plan_block(const hlo::Block& block, const StridesOf& strides);

}  // namespace tpu::compiler
