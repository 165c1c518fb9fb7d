// Parses blocks, regions and ops.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text/lexer.h"
#include "emulator/hlo/text/pretty_parser.h"
#include "emulator/hlo/text/value_scope.h"

namespace tpu::hlo::text {

/// Appends what it reads to blocks. Names of values are visible until the region that the caller
/// opened on `scope` ends.
class OpParser {
 public:
  OpParser(Lexer& lexer, ValueScope& scope) : lexer_(lexer), scope_(scope) {}

  /// `%a: type, ...)`: after the opening parenthesis, up to the closing one.
  void parse_block_arguments(Block& block);
  /// Ops up to and including the `return`, in front of a `}`.
  void parse_ops(Block& block);

 private:
  using Arguments = std::vector<std::pair<Token, TensorType>>;

  std::unique_ptr<Block> parse_region();
  /// A region whose arguments are named in front of it.
  std::unique_ptr<Block> parse_region_with(const Arguments& arguments);
  std::pair<Token, TensorType> parse_argument();

  void parse_op(Block& block);
  std::vector<std::pair<Token, size_t>> parse_result_names();
  OpParts parse_pretty_op();
  OpParts parse_generic_op();
  OpParts start_op(const Token& mark, std::string_view name);
  void parse_return(OpParts& parts);
  void parse_while(OpParts& parts);
  void parse_reduce(OpParts& parts);
  void parse_reduce_applies(OpParts& parts);
  void parse_reduce_tail(OpParts& parts);
  void parse_reducer(OpParts& parts);

  void check_operands(const OpParts& parts, size_t offset);
  std::vector<Value*> append_op(Block& block, OpParts parts, size_t offset);
  std::vector<Value*> append_top_k(Block& block, const OpParts& parts, size_t offset);
  [[noreturn]] void fail_unknown_op(const Token& mark, std::string_view name);

  Lexer& lexer_;
  ValueScope& scope_;
};

}  // namespace tpu::hlo::text
