// Makes a failing program small.
#pragma once

#include <functional>

#include "emulator/hlo/testing/program.h"

namespace tpu::hlo::testing {

/// Rounds that a loop of a shrunk program may take. A predicate that evaluates candidates must not
/// allow more, as cutting into a loop can make it endless (EvaluatorOptions::max_iterations).
inline constexpr int64_t kMaxIterations = 1000;

/// True if the program still shows the failure. May throw InvalidArgument: it does not.
using Predicate = std::function<bool(const Program& program)>;

/// A program that is as small as could be found and for which `fails` holds. `fails` must hold for
/// `program`. In turn drops results, returns an earlier value instead, cuts ops out (their values,
/// as the evaluator has them, become parameters), unfolds branches, loops and calls, drops layouts,
/// makes dimensions smaller and arguments simpler, as long as one of these helps. Calls `fails` at
/// most `budget` times.
Program shrink(Program program, const Predicate& fails, int budget = 2000);

}  // namespace tpu::hlo::testing
