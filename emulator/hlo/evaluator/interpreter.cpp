#include "emulator/hlo/evaluator/interpreter.h"

#include <algorithm>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/elementwise.h"
#include "emulator/hlo/evaluator/handlers.h"

namespace tpu::hlo {

std::vector<Literal> evaluate(const Module& module, std::span<const Literal> arguments,
                              const EvaluatorOptions& options) {
  return Interpreter(module, options).call(module.main().name, arguments);
}

std::vector<Literal> Interpreter::call(std::string_view name,
                                       std::span<const Literal> arguments) const {
  const Function* function = module_.find(name);
  if (!function) throw InvalidArgument("call of @" + std::string(name) + ", which is not defined");
  return run(function->body, arguments, nullptr);
}

std::vector<Literal> Interpreter::run(const Block& block, std::span<const Literal> arguments,
                                      const Scope* outer) const {
  if (arguments.size() != block.arguments().size()) {
    throw InvalidArgument("expected " + std::to_string(block.arguments().size()) +
                          " arguments, got " + std::to_string(arguments.size()));
  }
  Scope scope(outer);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Value* parameter = block.argument(static_cast<int>(i));
    if (arguments[i].type() != parameter->type) {
      throw InvalidArgument("argument " + std::to_string(i) + " has type " +
                            to_string(arguments[i].type()) + ", expected " +
                            to_string(parameter->type));
    }
    scope.bind(parameter, arguments[i]);
  }
  for (const auto& op : block.ops()) {
    if (op->kind() == OpKind::kReturn) break;
    std::vector<Literal> results = evaluate(*op, scope);
    for (int i = 0; i < op->num_results(); ++i) {
      scope.bind(op->result(i), std::move(results[i]));
    }
  }
  std::vector<Literal> results;
  for (const Value* value : block.terminator().operands()) results.push_back(scope.find(value));
  return results;
}

std::vector<Literal> Interpreter::evaluate(const Op& op, const Scope& scope) const {
  std::vector<Literal> operands;
  for (const Value* operand : op.operands()) operands.push_back(scope.find(operand));
  if (ElementFunction function = find_element_function(op)) {
    return {evaluate_elementwise(op, function, operands)};
  }
  if (OpHandler handler = find_handler(op)) return handler({*this, op, operands, scope});
  throw Unimplemented("the evaluator does not implement '" + std::string(mnemonic(op.kind())) +
                      "'" +
                      (op.kind() == OpKind::kCustomCall
                           ? " @" + op.attributes().get<std::string>("call_target_name")
                           : ""));
}

namespace {

bool is_elementwise(const Block& block) {
  return std::ranges::all_of(block.ops(), [](const auto& op) {
    return op->kind() == OpKind::kReturn || op->kind() == OpKind::kConstant ||
           find_element_function(*op) != nullptr;
  });
}

}  // namespace

ScalarRegion::ScalarRegion(const Interpreter& interpreter, const Block& block, const Scope& outer)
    : interpreter_(interpreter),
      block_(block),
      outer_(outer),
      elementwise_(is_elementwise(block)) {}

std::vector<Element> ScalarRegion::operator()(std::span<const Element> arguments) const {
  // A region may compute in a wider type than its operands have.
  std::vector<Element> promoted(arguments.begin(), arguments.end());
  for (size_t i = 0; i < promoted.size(); ++i) {
    promoted[i] = convert(promoted[i], block_.argument(static_cast<int>(i))->type.element);
  }
  if (elementwise_) return run_elementwise(promoted);
  std::vector<Literal> literals;
  for (const Element& element : promoted) literals.push_back(to_literal(element));
  std::vector<Element> results;
  for (const Literal& result : interpreter_.run(block_, literals, &outer_)) {
    results.push_back(to_element(result));
  }
  return results;
}

Element ScalarRegion::operator()(const Element& x, const Element& y) const {
  const Element arguments[] = {x, y};
  return (*this)(arguments)[0];
}

std::vector<Element> ScalarRegion::run_elementwise(std::span<const Element> arguments) const {
  std::unordered_map<const Value*, Element> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values[block_.argument(static_cast<int>(i))] = arguments[i];
  }
  const auto operands = [&](const Op& op) {
    std::vector<Element> elements;
    for (const Value* operand : op.operands()) {
      const auto at = values.find(operand);
      elements.push_back(at != values.end() ? at->second : to_element(outer_.find(operand)));
    }
    return elements;
  };
  for (const auto& op : block_.ops()) {
    if (op->kind() == OpKind::kReturn) return operands(*op);
    values[op->result()] = op->kind() == OpKind::kConstant
                               ? to_element(op->attributes().get<Literal>("value"))
                               : find_element_function(*op)(*op, operands(*op));
  }
  throw InvalidArgument("a region must end in 'return'");
}

}  // namespace tpu::hlo
