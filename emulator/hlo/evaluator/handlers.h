// The ops that are not elementwise: their operands and attributes, taken out of the program and
// handed to the evaluate_* functions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "emulator/hlo/evaluator/interpreter.h"

namespace tpu::hlo {

/// An op about to be evaluated.
struct OpCall {
  const Interpreter& interpreter;
  const Op& op;
  std::span<const Literal> operands;
  const Scope& scope;

  template <class T>
  const T& attribute(std::string_view name) const {
    return op.attributes().get<T>(name);
  }
  const Dims& dims(std::string_view name) const { return attribute<Dims>(name); }
  const TensorType& result_type(int i = 0) const { return op.result(i)->type; }
  /// A region over scalars.
  ScalarRegion scalar_region(int i = 0) const {
    return ScalarRegion(interpreter, op.region(i), scope);
  }
  std::vector<Literal> run_region(int i, std::span<const Literal> arguments) const {
    return interpreter.run(op.region(i), arguments, &scope);
  }
};

using OpHandler = std::vector<Literal> (*)(const OpCall& call);

/// Null if the evaluator does not implement the op.
OpHandler find_handler(const Op& op);

}  // namespace tpu::hlo
