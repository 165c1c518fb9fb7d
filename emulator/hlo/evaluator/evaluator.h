// The evaluator: a slow, scalar interpreter that defines the right bits of every program.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// What the evaluator must know of the chip, since it decides bits.
struct EvaluatorOptions {
  int mxu_depth = 128;  ///< length of the chunks a matmul accumulates along K
  /// Rounds that one loop may take; the next one throws InvalidArgument. For programs that were
  /// changed by a machine and may not end.
  int64_t max_iterations = std::numeric_limits<int64_t>::max();
};

/// Runs `module`'s @main. Throws DeviceError where the program faults, Unimplemented for an op
/// without an evaluation.
std::vector<Literal> evaluate(const Module& module, std::span<const Literal> arguments,
                              const EvaluatorOptions& options = {});

}  // namespace tpu::hlo
