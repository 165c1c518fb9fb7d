// A program with everything one run of it needs.
#pragma once

#include <string>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::hlo::testing {

struct Program {
  Module module;
  std::vector<Literal> arguments;  ///< one a parameter of @main, dense
  /// How parameters and results lie in memory: strides in elements, empty if dense. An argument
  /// has equal elements along a dimension with stride 0.
  std::vector<Dims> parameter_strides, result_strides;
  /// For each result the parameter whose memory it overwrites, or -1.
  std::vector<int> aliases;

  Program clone() const;
};

/// The module as StableHLO text, after comments with layouts, aliases and arguments (of which long
/// ones are cut; the seed makes them again).
std::string to_text(const Program& program);

}  // namespace tpu::hlo::testing
