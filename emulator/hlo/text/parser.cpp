// Modules and functions.
#include <string>

#include "emulator/hlo/op_table.h"
#include "emulator/hlo/text.h"
#include "emulator/hlo/text/op_parser.h"
#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo {
namespace text {
namespace {

// What a function's properties or header say about it.
struct FunctionHeader {
  std::string name;
  bool is_public = true;
  FunctionType type;
};

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view source) : lexer_(source) {}

  Module parse_module();

 private:
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

  Lexer lexer_;
  ValueScope scope_;
  OpParser ops_{lexer_, scope_};
};

// `#loc1 = loc("x")` and `#alias = ...` on lines of their own.
void ModuleParser::skip_aliases() {
  while (lexer_.at(TokenKind::kHash) || lexer_.at(TokenKind::kExclamation)) {
    lexer_.take();
    lexer_.expect("=");
    lexer_.take();
    while (lexer_.at("(") || lexer_.at("<")) lexer_.skip_brackets();
  }
}

Module ModuleParser::parse_module() {
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

void ModuleParser::parse_pretty_module(Module& module) {
  lexer_.take();
  if (lexer_.at(TokenKind::kSymbol)) module = Module(lexer_.expect_symbol());
  if (lexer_.accept_word("attributes")) lexer_.skip_brackets();
  lexer_.expect("{");
  parse_functions(module, "}");
  lexer_.expect("}");
}

std::string ModuleParser::parse_module_properties() {
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

void ModuleParser::parse_generic_module(Module& module) {
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

void ModuleParser::parse_functions(Module& module, std::string_view end) {
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

Function& ModuleParser::add_function(Module& module, size_t offset, const FunctionHeader& header) {
  if (module.find(header.name)) {
    lexer_.fail_message(offset, "function @" + header.name + " is defined twice");
  }
  Function& function = module.add_function(header.name);
  function.is_public = header.is_public;
  return function;
}

// The header repeats what the body says.
void ModuleParser::check_function(const Function& function, size_t offset,
                                  const FunctionType& type) {
  const FunctionType actual{function.parameter_types(), function.result_types()};
  if (actual.operands == type.operands && actual.results == type.results) return;
  lexer_.fail_message(offset, "@" + function.name + " is declared as " + function_type_text(type) +
                                  ", its body has type " + function_type_text(actual));
}

void ModuleParser::parse_function_results(FunctionHeader& header) {
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

void ModuleParser::parse_pretty_function(Module& module) {
  const size_t offset = lexer_.position();
  lexer_.take();
  FunctionHeader header;
  header.is_public = !lexer_.accept_word("private");
  if (header.is_public) lexer_.accept_word("public");
  header.name = lexer_.expect_symbol();
  Function& function = add_function(module, offset, header);
  const ValueScope::Region region(scope_);
  lexer_.expect("(");
  ops_.parse_block_arguments(function.body);
  header.type.operands = function.parameter_types();
  parse_function_results(header);
  if (lexer_.accept_word("attributes")) lexer_.skip_brackets();
  if (!lexer_.at("{")) lexer_.fail("'{': functions without a body are not supported");
  lexer_.expect("{");
  ops_.parse_ops(function.body);
  lexer_.expect("}");
  check_function(function, offset, header.type);
}

FunctionHeader ModuleParser::parse_function_properties() {
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

void ModuleParser::parse_generic_function(Module& module) {
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
      if (lexer_.accept("(")) ops_.parse_block_arguments(function.body);
      lexer_.expect(":");
    }
    ops_.parse_ops(function.body);
  }
  lexer_.expect("}");
  lexer_.expect(")");
  if (lexer_.at("{")) lexer_.skip_brackets();
  lexer_.expect(":");
  parse_function_type(lexer_);
  check_function(function, offset, header.type);
}

}  // namespace
}  // namespace text

Module parse(std::string_view source) {
  Module module = text::ModuleParser(source).parse_module();
  verify(module);
  return module;
}

}  // namespace tpu::hlo
