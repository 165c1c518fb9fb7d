#include "emulator/hlo/text/type_text.h"

#include <algorithm>

#include "emulator/base/error.h"

namespace tpu::hlo::text {
namespace {

// More than any host's memory; sizes below it never overflow int64_t.
constexpr int64_t kMaxBytes = int64_t{1} << 48;

ElementType parse_element_type(Lexer& lexer) {
  const Token word = lexer.expect(TokenKind::kWord, "an element type such as f32");
  std::string name(word.text);
  if (name == "complex") {
    lexer.expect("<");
    name += "<" + std::string(lexer.expect(TokenKind::kWord, "f32 or f64").text) + ">";
    lexer.expect(">");
  }
  try {
    return element_type_from_name(name);
  } catch (const InvalidArgument& error) {
    lexer.fail_message(word.offset, error.what());
  }
}

bool is_too_large(const TensorType& type) {
  int64_t bytes = byte_width(type.element);
  for (const int64_t size : type.shape) {
    const int64_t factor = std::max<int64_t>(size, 1);
    if (__builtin_mul_overflow(bytes, factor, &bytes) || bytes > kMaxBytes) return true;
  }
  return false;
}

}  // namespace

TensorType parse_type(Lexer& lexer) {
  const Token start = lexer.take();
  if (start.kind == TokenKind::kExclamation && start.text == "!stablehlo.token") {
    return {ElementType::kToken, {}};
  }
  if (start.kind != TokenKind::kWord || start.text != "tensor") {
    lexer.fail_at(start, "a type: tensor<...> or !stablehlo.token");
  }
  lexer.expect("<");
  TensorType type;
  type.shape = lexer.expect_dimensions();
  type.element = parse_element_type(lexer);
  if (is_too_large(type)) {
    lexer.fail_message(start.offset, to_string(type) + " is larger than any memory");
  }
  lexer.expect(">");
  return type;
}

std::vector<TensorType> parse_types(Lexer& lexer) {
  std::vector<TensorType> types;
  do {
    types.push_back(parse_type(lexer));
  } while (lexer.accept(","));
  return types;
}

namespace {

std::vector<TensorType> parse_type_tuple(Lexer& lexer) {
  lexer.expect("(");
  if (lexer.accept(")")) return {};
  std::vector<TensorType> types = parse_types(lexer);
  lexer.expect(")");
  return types;
}

std::string type_tuple_text(const std::vector<TensorType>& types) {
  return "(" + types_text(types) + ")";
}

}  // namespace

FunctionType parse_function_type(Lexer& lexer) {
  FunctionType type;
  type.operands = parse_type_tuple(lexer);
  lexer.expect("->");
  if (lexer.at("(")) {
    type.results = parse_type_tuple(lexer);
  } else {
    type.results.push_back(parse_type(lexer));
  }
  return type;
}

std::string types_text(const std::vector<TensorType>& types) {
  std::string text;
  for (const TensorType& type : types) {
    if (!text.empty()) text += ", ";
    text += to_string(type);
  }
  return text;
}

std::string function_type_text(const FunctionType& type) {
  return type_tuple_text(type.operands) + " -> " +
         (type.results.size() == 1 ? to_string(type.results[0]) : type_tuple_text(type.results));
}

std::vector<TensorType> operand_types(const Op& op) {
  std::vector<TensorType> types;
  for (const Value* operand : op.operands()) types.push_back(operand->type);
  return types;
}

std::vector<TensorType> result_types(const Op& op) {
  std::vector<TensorType> types;
  for (int i = 0; i < op.num_results(); ++i) types.push_back(op.result(i)->type);
  return types;
}

}  // namespace tpu::hlo::text
