// Parses ops in the pretty forms of the table in syntax.h.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text/lexer.h"
#include "emulator/hlo/text/syntax.h"
#include "emulator/hlo/text/type_text.h"
#include "emulator/hlo/text/value_scope.h"

namespace tpu::hlo::text {

/// An op as read, before it exists.
struct OpParts {
  OpKind kind = OpKind::kReturn;
  std::vector<Value*> operands;
  Attributes attributes;
  std::vector<std::unique_ptr<Block>> regions;
  FunctionType types;
};

/// Reads what follows the op's name into `parts`, whose kind is set.
void parse_pretty(Lexer& lexer, const ValueScope& scope, const Syntax& syntax, OpParts& parts);

}  // namespace tpu::hlo::text
