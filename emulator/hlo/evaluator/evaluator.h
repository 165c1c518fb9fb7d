// The evaluator: a slow, scalar interpreter that defines the right bits of every program.
#pragma once

#include <span>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// What the evaluator must know of the chip, since it decides bits.
struct EvaluatorOptions {
  int mxu_depth = 128;  ///< length of the chunks a matmul accumulates along K
};

/// Runs `module`'s @main. Throws DeviceError where the program faults, Unimplemented for an op
/// without an evaluation.
std::vector<Literal> evaluate(const Module& module, std::span<const Literal> arguments,
                              const EvaluatorOptions& options = {});

}  // namespace tpu::hlo
