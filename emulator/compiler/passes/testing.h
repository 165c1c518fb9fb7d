// Programs for tests of passes.
#pragma once

#include <string>
#include <string_view>

#include "emulator/compiler/passes/fusion.h"
#include "emulator/compiler/passes/simplify.h"
#include "emulator/hlo/text.h"

namespace tpu::compiler {

/// A parsed and simplified @main with its plan.
struct PlannedProgram {
  explicit PlannedProgram(std::string_view text) : module(hlo::parse(text)) {
    simplify(module);
    plan = plan_block(module.main().body, {});
  }

  /// The steps' kinds in order: `loops`, `dot_general`, `while`, ...
  std::string steps() const {
    std::string names;
    for (const PlanStep& step : plan.steps) {
      if (!names.empty()) names += ' ';
      names += step.op ? std::string(hlo::mnemonic(step.op->kind())) : "loops";
    }
    return names;
  }

  hlo::Module module;
  BlockPlan plan;
};

}  // namespace tpu::compiler
