// Edited copies of programs, for the shrinker.
#pragma once

#include <functional>
#include <unordered_map>

#include "emulator/hlo/builder.h"
#include "emulator/hlo/testing/program.h"

namespace tpu::hlo::testing {

using ValueMap = std::unordered_map<const Value*, Value*>;

/// What changes on the way from a module to its copy.
struct Edit {
  /// Writes another thing in place of `op` (at any depth) and maps its results; false to keep it.
  std::function<bool(const Op& op, Builder& to, ValueMap& map)> replace = nullptr;
  /// The copy's type for a value of type `type`, and its attributes.
  std::function<TensorType(const TensorType& type)> retype = nullptr;
  std::function<Attributes(const Op& op)> attributes = nullptr;
  /// The results of @main to keep, as indices; all if null.
  const std::vector<size_t>* results = nullptr;
};

/// Copies the ops of `from` before its return to the end of `to`. `map` holds its arguments.
void copy_ops(const Block& from, Builder& to, ValueMap& map, const Edit& edit);

/// The edited module, verified. Throws InvalidArgument if the edit makes it invalid. The program's
/// arguments are those of `program` followed by `added_arguments`, for parameters that the edit
/// appended.
Program rewrite(const Program& program, const Edit& edit,
                std::vector<Literal> added_arguments = {});

/// Without ops that nothing uses, unused parameters, and functions that nobody calls.
Program sweep(const Program& program);

}  // namespace tpu::hlo::testing
