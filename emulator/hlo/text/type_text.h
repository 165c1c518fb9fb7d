// Types in StableHLO text.
#pragma once

#include <string>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

/// `(tensor<4xf32>, tensor<i1>) -> tensor<4xf32>`.
struct FunctionType {
  std::vector<TensorType> operands, results;
};

/// `tensor<2x3xf32>` or `!stablehlo.token`. Throws InvalidArgument for types that the IR has not
/// (tuples, dynamic shapes, quantized elements) and for tensors too large to exist.
TensorType parse_type(Lexer& lexer);
/// `type, type, ...`, at least one.
std::vector<TensorType> parse_types(Lexer& lexer);
FunctionType parse_function_type(Lexer& lexer);

/// `tensor<4xf32>, tensor<i1>`.
std::string types_text(const std::vector<TensorType>& types);
/// `(a, b) -> c`, `(a) -> (b, c)`, `() -> ()`.
std::string function_type_text(const FunctionType& type);

std::vector<TensorType> operand_types(const Op& op);
std::vector<TensorType> result_types(const Op& op);

}  // namespace tpu::hlo::text
