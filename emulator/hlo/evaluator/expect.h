// Tests written as StableHLO: what an op gives, beside what it must give.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/testing/compare.h"
#include "emulator/hlo/text.h"

namespace tpu::hlo {

inline std::vector<Literal> evaluate_text(std::string_view program,
                                          const EvaluatorOptions& options = {}) {
  return evaluate(parse(program), {}, options);
}

/// `program`'s results come in pairs, actual and expected.
inline void expect_pairs(std::string_view program, const EvaluatorOptions& options = {}) {
  const std::vector<Literal> results = evaluate_text(program, options);
  ASSERT_EQ(results.size() % 2, 0u);
  for (size_t i = 0; i < results.size(); i += 2) {
    EXPECT_EQ(testing::difference(results[i], results[i + 1]), "") << program;
  }
}

/// `op` is an operation on %a, %b, ... that ends in a type signature; `operands` are `dense<...>`
/// constants with their types. Expects the constant `expected`.
inline void expect_op(const std::string& op, const std::vector<std::string>& operands,
                      const std::string& expected) {
  const std::string type = expected.substr(expected.rfind(" : ") + 3);
  std::string text = "func.func @main() -> (" + type + ", " + type + ") {\n";
  char name = 'a';
  for (const std::string& operand : operands) {
    text += std::string("  %") + name++ + " = stablehlo.constant " + operand + "\n";
  }
  text += "  %actual = " + op + "\n  %expected = stablehlo.constant " + expected + "\n";
  text += "  return %actual, %expected : " + type + ", " + type + "\n}\n";
  expect_pairs(text);
}

}  // namespace tpu::hlo
