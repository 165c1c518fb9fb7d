// Modules, functions, regions, and the ops whose form has regions.
#include <memory>
#include <string>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/hlo/op_table.h"
#include "emulator/hlo/text.h"
#include "emulator/hlo/text/attribute_text.h"
#include "emulator/hlo/text/chlo.h"
#include "emulator/hlo/text/pretty_parser.h"

namespace tpu::hlo {
namespace text {
namespace {

// What a function's properties or header say about it.
struct FunctionHeader {
  std::string name;
  bool is_public = true;
  FunctionType type;
};

class Parser {
 public:
  explicit Parser(std::string_view source) : lexer_(source) {}

  Module parse_module();

 private:
  // Modules and functions.
  void parse_pretty_module(Module& module);
  void parse_generic_module(Module& module);
  std::string parse_module_properties();
  void parse_functions(Module& module, std::string_view end);
  void parse_pretty_function(Module& module);
  void parse_generic_function(Module& module);
  FunctionHeader parse_function_properties();
  void parse_function_results(FunctionHeader& header);
  Function& add_function(Module& module, size_t offset, const FunctionHeader& header);
  void check_function(const Function& function, size_t offset, const FunctionType& type);
  void skip_aliases();

  // Blocks.
  std::unique_ptr<Block> parse_region();
  std::unique_ptr<Block> parse_region_with(
      const std::vector<std::pair<Token, TensorType>>& arguments);
  void parse_block_arguments(Block& block);
  std::pair<Token, TensorType> parse_argument();
  void parse_ops(Block& block);

  // Ops.
  void parse_op(Block& block);
  std::vector<std::pair<Token, size_t>> parse_result_names();
  OpParts parse_pretty_op();
  OpParts parse_generic_op();
  OpParts start_op(const Token& mark, std::string_view name);
  void parse_return(OpParts& parts);
  void parse_while(OpParts& parts);
  void parse_reduce(OpParts& parts);
  void parse_reduce_applies(OpParts& parts);
  void parse_reducer(OpParts& parts);
  std::vector<Value*> append_op(Block& block, OpParts parts, size_t offset);
  std::vector<Value*> append_top_k(Block& block, const OpParts& parts, size_t offset);
  void check_operands(const OpParts& parts, size_t offset);
  [[noreturn]] void fail_unknown_op(const Token& mark, std::string_view name);

  Lexer lexer_;
  ValueScope scope_;
};

// --- Modules and functions ---

// `#loc1 = loc("x")` and `#alias = ...` on lines of their own.
void Parser::skip_aliases() {
  while (lexer_.at(TokenKind::kHash) || lexer_.at(TokenKind::kExclamation)) {
    lexer_.take();
    lexer_.expect("=");
    lexer_.take();
    while (lexer_.at("(") || lexer_.at("<")) lexer_.skip_brackets();
  }
}

Module Parser::parse_module() {
  skip_aliases();
  Module module("");
  if (lexer_.at(TokenKind::kString)) {
    parse_generic_module(module);
  } else if (lexer_.at("module") || lexer_.at("builtin.module")) {
    parse_pretty_module(module);
  } else {
    parse_functions(module, "");
  }
  lexer_.skip_location();
  skip_aliases();
  if (!lexer_.at(TokenKind::kEnd)) lexer_.fail("the end of the module");
  return module;
}

void Parser::parse_pretty_module(Module& module) {
  lexer_.take();
  if (lexer_.at(TokenKind::kSymbol)) module = Module(lexer_.expect_symbol());
  if (lexer_.accept_word("attributes")) lexer_.skip_brackets();
  lexer_.expect("{");
  parse_functions(module, "}");
  lexer_.expect("}");
}

std::string Parser::parse_module_properties() {
  std::string name;
  if (!lexer_.accept("<")) return name;
  lexer_.expect("{");
  for (bool first = true; !lexer_.accept("}"); first = false) {
    if (!first) lexer_.expect(",");
    const Token key = lexer_.take();
    if (!lexer_.accept("=")) continue;
    if (key.text == "sym_name") {
      name = lexer_.expect_string();
    } else {
      lexer_.skip_attribute();
    }
  }
  lexer_.expect(">");
  return name;
}

void Parser::parse_generic_module(Module& module) {
  lexer_.expect("\"builtin.module\"");
  lexer_.expect("(");
  lexer_.expect(")");
  module = Module(parse_module_properties());
  lexer_.expect("(");
  lexer_.expect("{");
  if (lexer_.at(TokenKind::kBlock)) {
    lexer_.take();
    if (lexer_.accept("(")) lexer_.expect(")");
    lexer_.expect(":");
  }
  parse_functions(module, "}");
  lexer_.expect("}");
  lexer_.expect(")");
  if (lexer_.at("{")) lexer_.skip_brackets();
  lexer_.expect(":");
  parse_function_type(lexer_);
}

void Parser::parse_functions(Module& module, std::string_view end) {
  while (!lexer_.at(TokenKind::kEnd) && (end.empty() || !lexer_.at(end))) {
    if (lexer_.at("\"func.func\"")) {
      parse_generic_function(module);
    } else if (lexer_.at("func.func")) {
      parse_pretty_function(module);
    } else if (lexer_.accept_word("sdy.mesh")) {
      // How devices are arranged: a matter of whoever runs the program.
      lexer_.expect_symbol();
      lexer_.expect("=");
      lexer_.skip_brackets();
      if (lexer_.at("{")) lexer_.skip_brackets();
    } else if (lexer_.at(TokenKind::kHash)) {
      skip_aliases();
    } else {
      lexer_.fail("a function: func.func @name(...)");
    }
    lexer_.skip_location();
  }
}

Function& Parser::add_function(Module& module, size_t offset, const FunctionHeader& header) {
  if (module.find(header.name)) {
    lexer_.fail_message(offset, "function @" + header.name + " is defined twice");
  }
  Function& function = module.add_function(header.name);
  function.is_public = header.is_public;
  return function;
}

// The header repeats what the body says.
void Parser::check_function(const Function& function, size_t offset, const FunctionType& type) {
  const FunctionType actual{function.parameter_types(), function.result_types()};
  if (actual.operands == type.operands && actual.results == type.results) return;
  lexer_.fail_message(offset, "@" + function.name + " is declared as " + function_type_text(type) +
                                  ", its body has type " + function_type_text(actual));
}

void Parser::parse_function_results(FunctionHeader& header) {
  if (!lexer_.accept("->")) return;
  if (!lexer_.accept("(")) {
    header.type.results = {parse_type(lexer_)};
    return;
  }
  while (!lexer_.accept(")")) {
    if (!header.type.results.empty()) lexer_.expect(",");
    header.type.results.push_back(parse_type(lexer_));
    if (lexer_.at("{")) lexer_.skip_brackets();
  }
}

void Parser::parse_pretty_function(Module& module) {
  const size_t offset = lexer_.position();
  lexer_.take();
  FunctionHeader header;
  header.is_public = !lexer_.accept_word("private");
  if (header.is_public) lexer_.accept_word("public");
  header.name = lexer_.expect_symbol();
  Function& function = add_function(module, offset, header);
  const ValueScope::Region region(scope_);
  lexer_.expect("(");
  parse_block_arguments(function.body);
  header.type.operands = function.parameter_types();
  parse_function_results(header);
  if (lexer_.accept_word("attributes")) lexer_.skip_brackets();
  if (!lexer_.at("{")) lexer_.fail("'{': functions without a body are not supported");
  lexer_.expect("{");
  parse_ops(function.body);
  lexer_.expect("}");
  check_function(function, offset, header.type);
}

FunctionHeader Parser::parse_function_properties() {
  FunctionHeader header;
  lexer_.expect("<");
  lexer_.expect("{");
  for (bool first = true; !lexer_.accept("}"); first = false) {
    if (!first) lexer_.expect(",");
    const Token key = lexer_.take();
    if (!lexer_.accept("=")) continue;
    if (key.text == "sym_name") {
      header.name = lexer_.expect_string();
    } else if (key.text == "sym_visibility") {
      header.is_public = lexer_.expect_string() == "public";
    } else if (key.text == "function_type") {
      header.type = parse_function_type(lexer_);
    } else {
      lexer_.skip_attribute();
    }
  }
  lexer_.expect(">");
  return header;
}

void Parser::parse_generic_function(Module& module) {
  const size_t offset = lexer_.position();
  lexer_.take();
  lexer_.expect("(");
  lexer_.expect(")");
  const FunctionHeader header = parse_function_properties();
  Function& function = add_function(module, offset, header);
  lexer_.expect("(");
  lexer_.expect("{");
  {
    const ValueScope::Region region(scope_);
    if (lexer_.at(TokenKind::kBlock)) {
      lexer_.take();
      if (lexer_.accept("(")) parse_block_arguments(function.body);
      lexer_.expect(":");
    }
    parse_ops(function.body);
  }
  lexer_.expect("}");
  lexer_.expect(")");
  if (lexer_.at("{")) lexer_.skip_brackets();
  lexer_.expect(":");
  parse_function_type(lexer_);
  check_function(function, offset, header.type);
}

// --- Blocks ---

std::pair<Token, TensorType> Parser::parse_argument() {
  const Token name = lexer_.expect(TokenKind::kValue, "an argument such as %arg0");
  lexer_.expect(":");
  TensorType type = parse_type(lexer_);
  if (lexer_.at("{")) lexer_.skip_brackets();
  lexer_.skip_location();
  return {name, std::move(type)};
}

// After the opening parenthesis.
void Parser::parse_block_arguments(Block& block) {
  while (!lexer_.accept(")")) {
    if (!block.arguments().empty()) lexer_.expect(",");
    const auto [name, type] = parse_argument();
    scope_.define(lexer_, name, {block.add_argument(type)});
  }
}

std::unique_ptr<Block> Parser::parse_region() {
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

std::unique_ptr<Block> Parser::parse_region_with(
    const std::vector<std::pair<Token, TensorType>>& arguments) {
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

void Parser::parse_ops(Block& block) {
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

// --- Ops ---

// `%0, %1:2 =`: names, and how many results each stands for.
std::vector<std::pair<Token, size_t>> Parser::parse_result_names() {
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

void Parser::parse_op(Block& block) {
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

std::vector<Value*> Parser::append_op(Block& block, OpParts parts, size_t offset) {
  if (is_top_k(parts.attributes)) return append_top_k(block, parts, offset);
  drop_defaults(parts.kind, parts.attributes);
  const Op* op = block.append(
      std::make_unique<Op>(parts.kind, std::move(parts.operands), std::move(parts.attributes),
                           std::move(parts.regions), std::move(parts.types.results)));
  std::vector<Value*> results;
  for (int i = 0; i < op->num_results(); ++i) results.push_back(op->result(i));
  return results;
}

std::vector<Value*> Parser::append_top_k(Block& block, const OpParts& parts, size_t offset) {
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

void Parser::check_operands(const OpParts& parts, size_t offset) {
  std::vector<TensorType> actual;
  for (const Value* operand : parts.operands) actual.push_back(operand->type);
  if (actual == parts.types.operands || parts.kind == OpKind::kConstant) return;
  lexer_.fail_message(offset, std::string(mnemonic(parts.kind)) + " is written with operands of (" +
                                  types_text(parts.types.operands) + "), has (" +
                                  types_text(actual) + ")");
}

void Parser::fail_unknown_op(const Token& mark, std::string_view name) {
  lexer_.fail_message(mark.offset, "found op '" + std::string(name) +
                                       "', expected an op of stablehlo, chlo or func");
}

// The kind and what its name alone says.
OpParts Parser::start_op(const Token& mark, std::string_view name) {
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

OpParts Parser::parse_pretty_op() {
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

OpParts Parser::parse_generic_op() {
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

void Parser::parse_return(OpParts& parts) {
  parts.operands = scope_.parse_uses(lexer_);
  if (lexer_.at("{")) lexer_.skip_brackets();
  if (!parts.operands.empty()) {
    lexer_.expect(":");
    parts.types.operands = parse_types(lexer_);
  }
}

void Parser::parse_while(OpParts& parts) {
  std::vector<std::pair<Token, TensorType>> arguments;
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

void Parser::parse_reduce(OpParts& parts) {
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
void parse_reduce_tail(Lexer& lexer, OpParts& parts) {
  lexer.expect("across");
  lexer.expect("dimensions");
  lexer.expect("=");
  parts.attributes.set("dimensions", lexer.expect_integer_list());
  if (lexer.at("{")) parse_dictionary(lexer, parts.kind, parts.attributes);
  lexer.expect(":");
  parts.types = parse_function_type(lexer);
}

void Parser::parse_reduce_applies(OpParts& parts) {
  const Token name = lexer_.expect(TokenKind::kWord, "an op such as stablehlo.add");
  const OpKind inner = start_op(name, name.text).kind;
  if (parts.operands.size() != 2 || inner == OpKind::kReturn) {
    lexer_.fail_at(name, "one pair of operands and an op that combines two values");
  }
  parse_reduce_tail(lexer_, parts);
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
void Parser::parse_reducer(OpParts& parts) {
  parse_reduce_tail(lexer_, parts);
  lexer_.expect("reducer");
  std::vector<std::pair<Token, TensorType>> accumulators, elements;
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

}  // namespace
}  // namespace text

Module parse(std::string_view source) {
  Module module = text::Parser(source).parse_module();
  verify(module);
  return module;
}

}  // namespace tpu::hlo
