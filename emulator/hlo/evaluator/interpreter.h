// Runs blocks and ops: what op evaluations that own regions call back into.
#pragma once

#include <span>
#include <vector>

#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/evaluator/scope.h"
#include "emulator/hlo/ir.h"

namespace tpu::hlo {

class Interpreter {
 public:
  Interpreter(const Module& module, const EvaluatorOptions& options)
      : module_(module), options_(options) {}

  const EvaluatorOptions& options() const { return options_; }

  /// Calls the module's function `name`.
  std::vector<Literal> call(std::string_view name, std::span<const Literal> arguments) const;

  /// Evaluates `block` with its arguments bound; `outer` holds the values around it.
  std::vector<Literal> run(const Block& block, std::span<const Literal> arguments,
                           const Scope* outer) const;

 private:
  std::vector<Literal> evaluate(const Op& op, const Scope& scope) const;

  const Module& module_;
  const EvaluatorOptions& options_;
};

/// A region over scalars, such as the body of a reduce: elements in, elements out. Regions of
/// elementwise ops only, which most are, run on elements without going through tensors.
class ScalarRegion {
 public:
  ScalarRegion(const Interpreter& interpreter, const Block& block, const Scope& outer);

  std::vector<Element> operator()(std::span<const Element> arguments) const;
  /// For a region with one result.
  Element operator()(const Element& x, const Element& y) const;

 private:
  std::vector<Element> run_elementwise(std::span<const Element> arguments) const;

  const Interpreter& interpreter_;
  const Block& block_;
  const Scope& outer_;
  bool elementwise_;
};

}  // namespace tpu::hlo
