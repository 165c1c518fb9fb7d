#include "emulator/hlo/text/op_parser.h"

#include <optional>
#include <string>

#include "emulator/base/error.h"
#include "emulator/hlo/op_kind.h"
#include "emulator/hlo/text/chlo.h"
#include "emulator/hlo/text/dictionary_text.h"

namespace tpu::hlo::text {

std::pair<Token, TensorType> OpParser::parse_argument() {
  const Token name = lexer_.expect(TokenKind::kValue, "an argument such as %arg0");
  lexer_.expect(":");
  TensorType type = parse_type(lexer_);
  if (lexer_.at("{")) lexer_.skip_brackets();
  lexer_.skip_location();
  return {name, std::move(type)};
}

// After the opening parenthesis.
void OpParser::parse_block_arguments(Block& block) {
  while (!lexer_.accept(")")) {
    if (!block.arguments().empty()) lexer_.expect(",");
    const auto [name, type] = parse_argument();
    scope_.define(lexer_, name, {block.add_argument(type)});
  }
}

std::unique_ptr<Block> OpParser::parse_region() {
  const Nesting nesting(lexer_);
  const ValueScope::Region region(scope_);
  auto block = std::make_unique<Block>();
  lexer_.expect("{");
  if (lexer_.at(TokenKind::kBlock)) {
    lexer_.take();
    if (lexer_.accept("(")) parse_block_arguments(*block);
    lexer_.expect(":");
  }
  parse_ops(*block);
  lexer_.expect("}");
  return block;
}

std::unique_ptr<Block> OpParser::parse_region_with(const Arguments& arguments) {
  const Nesting nesting(lexer_);
  const ValueScope::Region region(scope_);
  auto block = std::make_unique<Block>();
  for (const auto& [name, type] : arguments) {
    scope_.define(lexer_, name, {block->add_argument(type)});
  }
  lexer_.expect("{");
  parse_ops(*block);
  lexer_.expect("}");
  return block;
}

void OpParser::parse_ops(Block& block) {
  while (!lexer_.at("}")) {
    if (!block.ops().empty() && block.ops().back()->kind() == OpKind::kReturn) {
      lexer_.fail("'}' after return: regions have one block");
    }
    parse_op(block);
  }
  if (block.ops().empty() || block.ops().back()->kind() != OpKind::kReturn) {
    lexer_.fail("return");
  }
}

// `%0, %1:2 =`: names, and how many results each stands for.
std::vector<std::pair<Token, size_t>> OpParser::parse_result_names() {
  std::vector<std::pair<Token, size_t>> names;
  if (!lexer_.at(TokenKind::kValue)) return names;
  do {
    const Token name = lexer_.expect(TokenKind::kValue, "a result such as %0");
    size_t count = 1;
    if (lexer_.accept(":")) {
      const Token number = lexer_.peek();
      const int64_t value = lexer_.expect_integer();
      if (value < 1 || value > INT32_MAX) lexer_.fail_at(number, "a number of results");
      count = static_cast<size_t>(value);
    }
    names.emplace_back(name, count);
  } while (lexer_.accept(","));
  lexer_.expect("=");
  return names;
}

void OpParser::parse_op(Block& block) {
  const Nesting nesting(lexer_);
  const std::vector<std::pair<Token, size_t>> names = parse_result_names();
  const size_t offset = lexer_.position();
  OpParts parts = lexer_.at(TokenKind::kString) ? parse_generic_op() : parse_pretty_op();
  lexer_.skip_location();
  check_operands(parts, offset);
  const std::string name(mnemonic(parts.kind));
  const std::vector<Value*> results = append_op(block, std::move(parts), offset);
  size_t named = 0;
  for (const auto& [token, count] : names) named += count;
  if (!names.empty() && named != results.size()) {
    lexer_.fail_message(offset, name + " has " + std::to_string(results.size()) +
                                    " result(s), the names in front of it are for " +
                                    std::to_string(named));
  }
  auto next = results.begin();
  for (const auto& [token, count] : names) {
    const auto end = next + static_cast<ptrdiff_t>(count);
    scope_.define(lexer_, token, {next, end});
    next = end;
  }
}

std::vector<Value*> OpParser::append_op(Block& block, OpParts parts, size_t offset) {
  if (is_top_k(parts.attributes)) return append_top_k(block, parts, offset);
  drop_defaults(parts.kind, parts.attributes);
  const Op* op = block.append(
      std::make_unique<Op>(parts.kind, std::move(parts.operands), std::move(parts.attributes),
                           std::move(parts.regions), std::move(parts.types.results)));
  std::vector<Value*> results;
  for (int i = 0; i < op->num_results(); ++i) results.push_back(op->result(i));
  return results;
}

std::vector<Value*> OpParser::append_top_k(Block& block, const OpParts& parts, size_t offset) {
  if (parts.operands.size() != 1) lexer_.fail_message(offset, "chlo.top_k takes one operand");
  std::vector<TensorType> types;
  std::vector<Value*> results;
  try {
    results = expand_top_k(block, parts.operands[0], parts.attributes.get<int64_t>("k"));
  } catch (const InvalidArgument& error) {
    lexer_.fail_message(offset, error.what());
  }
  for (const Value* result : results) types.push_back(result->type);
  if (types != parts.types.results) {
    lexer_.fail_message(offset, "chlo.top_k must have results (" + types_text(types) + "), has (" +
                                    types_text(parts.types.results) + ")");
  }
  return results;
}

void OpParser::check_operands(const OpParts& parts, size_t offset) {
  std::vector<TensorType> actual;
  for (const Value* operand : parts.operands) actual.push_back(operand->type);
  if (actual == parts.types.operands || parts.kind == OpKind::kConstant) return;
  lexer_.fail_message(offset, std::string(mnemonic(parts.kind)) + " is written with operands of (" +
                                  types_text(parts.types.operands) + "), has (" +
                                  types_text(actual) + ")");
}

void OpParser::fail_unknown_op(const Token& mark, std::string_view name) {
  lexer_.fail_message(mark.offset, "found op '" + std::string(name) +
                                       "', expected an op of stablehlo, chlo or func");
}

// The kind and what its name alone says.
OpParts OpParser::start_op(const Token& mark, std::string_view name) {
  OpParts parts;
  const size_t dot = name.find('.');
  const std::string_view dialect = dot == std::string_view::npos ? "func" : name.substr(0, dot);
  const std::string_view bare = name.substr(dot + 1);  // npos + 1 is 0.
  if (dialect == "chlo") {
    if (!is_chlo_op(bare)) fail_unknown_op(mark, name);
    parts.kind = OpKind::kCustomCall;
    parts.attributes = chlo_attributes(bare);
    return parts;
  }
  // A token made of no others.
  if (name == "stablehlo.create_token") {
    parts.kind = OpKind::kAfterAll;
    return parts;
  }
  const std::optional<OpKind> kind = op_kind_from_mnemonic(bare);
  const bool is_func = kind == OpKind::kCall || kind == OpKind::kReturn;
  const bool is_known =
      kind && ((dialect == "func" && is_func) || (dialect == "stablehlo" && kind != OpKind::kCall));
  if (!is_known) fail_unknown_op(mark, name);
  parts.kind = *kind;
  return parts;
}

OpParts OpParser::parse_pretty_op() {
  const Token name = lexer_.expect(TokenKind::kWord, "an op");
  OpParts parts = start_op(name, name.text);
  switch (parts.kind) {
    case OpKind::kReturn:
      parse_return(parts);
      return parts;
    case OpKind::kWhile:
      parse_while(parts);
      return parts;
    case OpKind::kReduce:
      parse_reduce(parts);
      return parts;
    default:
      break;
  }
  const bool is_chlo = name.text.starts_with("chlo.");
  const Syntax* syntax = is_chlo ? find_chlo_syntax(name.text.substr(5)) : find_syntax(parts.kind);
  if (!syntax) lexer_.fail_at(name, "the generic form, \"" + std::string(name.text) + "\"(...)");
  parse_pretty(lexer_, scope_, *syntax, parts);
  return parts;
}

OpParts OpParser::parse_generic_op() {
  const Token mark = lexer_.peek();
  OpParts parts = start_op(mark, lexer_.expect_string());
  lexer_.expect("(");
  parts.operands = scope_.parse_uses(lexer_);
  lexer_.expect(")");
  if (lexer_.accept("<")) {
    parse_dictionary(lexer_, parts.kind, parts.attributes);
    lexer_.expect(">");
  }
  if (lexer_.accept("(")) {
    do {
      parts.regions.push_back(parse_region());
    } while (lexer_.accept(","));
    lexer_.expect(")");
  }
  if (lexer_.at("{")) parse_dictionary(lexer_, parts.kind, parts.attributes);
  lexer_.expect(":");
  parts.types = parse_function_type(lexer_);
  return parts;
}

void OpParser::parse_return(OpParts& parts) {
  parts.operands = scope_.parse_uses(lexer_);
  if (lexer_.at("{")) lexer_.skip_brackets();
  if (!parts.operands.empty()) {
    lexer_.expect(":");
    parts.types.operands = parse_types(lexer_);
  }
}

void OpParser::parse_while(OpParts& parts) {
  Arguments arguments;
  lexer_.expect("(");
  while (!lexer_.accept(")")) {
    if (!arguments.empty()) lexer_.expect(",");
    const Token name = lexer_.expect(TokenKind::kValue, "an argument such as %iterArg");
    lexer_.expect("=");
    parts.operands.push_back(scope_.parse_use(lexer_));
    arguments.emplace_back(name, parts.operands.back()->type);
  }
  if (!arguments.empty()) {
    lexer_.expect(":");
    parts.types.operands = parse_types(lexer_);
    parts.types.results = parts.types.operands;
  }
  if (lexer_.accept_word("attributes")) lexer_.skip_brackets();
  lexer_.expect("cond");
  parts.regions.push_back(parse_region_with(arguments));
  lexer_.expect("do");
  parts.regions.push_back(parse_region_with(arguments));
}

void OpParser::parse_reduce(OpParts& parts) {
  std::vector<Value*> inits;
  do {
    lexer_.expect("(");
    parts.operands.push_back(scope_.parse_use(lexer_));
    lexer_.expect("init");
    lexer_.expect(":");
    inits.push_back(scope_.parse_use(lexer_));
    lexer_.expect(")");
  } while (lexer_.accept(","));
  parts.operands.insert(parts.operands.end(), inits.begin(), inits.end());
  if (lexer_.accept_word("applies")) {
    parse_reduce_applies(parts);
  } else {
    parse_reducer(parts);
  }
}

// ` across dimensions = [0] {...} : (...) -> ...`
void OpParser::parse_reduce_tail(OpParts& parts) {
  lexer_.expect("across");
  lexer_.expect("dimensions");
  lexer_.expect("=");
  parts.attributes.set("dimensions", lexer_.expect_integer_list());
  if (lexer_.at("{")) parse_dictionary(lexer_, parts.kind, parts.attributes);
  lexer_.expect(":");
  parts.types = parse_function_type(lexer_);
}

void OpParser::parse_reduce_applies(OpParts& parts) {
  const Token name = lexer_.expect(TokenKind::kWord, "an op such as stablehlo.add");
  const OpKind inner = start_op(name, name.text).kind;
  if (parts.operands.size() != 2 || inner == OpKind::kReturn) {
    lexer_.fail_at(name, "one pair of operands and an op that combines two values");
  }
  parse_reduce_tail(parts);
  const TensorType scalar{parts.operands[0]->type.element, {}};
  auto body = std::make_unique<Block>();
  std::vector<Value*> arguments = {body->add_argument(scalar), body->add_argument(scalar)};
  const Op* op = body->append(std::make_unique<Op>(inner, std::move(arguments), Attributes(),
                                                   std::vector<std::unique_ptr<Block>>(),
                                                   std::vector<TensorType>{scalar}));
  body->append(std::make_unique<Op>(OpKind::kReturn, std::vector<Value*>{op->result()},
                                    Attributes(), std::vector<std::unique_ptr<Block>>(),
                                    std::vector<TensorType>()));
  parts.regions.push_back(std::move(body));
}

// The arguments come in pairs (accumulator, element); the block takes all accumulators first.
void OpParser::parse_reducer(OpParts& parts) {
  parse_reduce_tail(parts);
  lexer_.expect("reducer");
  Arguments accumulators, elements;
  while (lexer_.accept("(")) {
    accumulators.push_back(parse_argument());
    lexer_.expect(",");
    elements.push_back(parse_argument());
    lexer_.expect(")");
  }
  accumulators.insert(accumulators.end(), elements.begin(), elements.end());
  lexer_.skip_location();
  parts.regions.push_back(parse_region_with(accumulators));
}

}  // namespace tpu::hlo::text
