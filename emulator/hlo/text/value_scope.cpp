#include "emulator/hlo/text/value_scope.h"

#include <charconv>
#include <string>

namespace tpu::hlo::text {
namespace {

// The number after the mark of `%x#1`; 0 if there is none.
size_t parse_result_number(Lexer& lexer) {
  if (!lexer.at(TokenKind::kHash)) return 0;
  const Token number = lexer.take();
  size_t value = 0;
  const char* last = number.text.data() + number.text.size();
  const auto [end, error] = std::from_chars(number.text.data() + 1, last, value);
  if (error != std::errc() || end != last) lexer.fail_at(number, "a result's number such as #0");
  return value;
}

}  // namespace

void ValueScope::define(const Lexer& lexer, const Token& name, const std::vector<Value*>& values) {
  if (name.text.size() < 2) lexer.fail_at(name, "a value's name such as %0");
  if (!values_.try_emplace(name.text, values).second) {
    lexer.fail_message(name.offset, "value '" + std::string(name.text) + "' is defined twice");
  }
  in_order_.push_back(name.text);
}

void ValueScope::forget(size_t size) {
  for (; in_order_.size() > size; in_order_.pop_back()) values_.erase(in_order_.back());
}

Value* ValueScope::parse_use(Lexer& lexer) const {
  const Token name = lexer.expect(TokenKind::kValue, "a value such as %0");
  const size_t number = parse_result_number(lexer);
  const auto found = values_.find(name.text);
  if (found == values_.end()) {
    lexer.fail_message(name.offset, "value '" + std::string(name.text) + "' is not defined here");
  }
  if (number >= found->second.size()) {
    lexer.fail_message(name.offset, "'" + std::string(name.text) + "' stands for " +
                                        std::to_string(found->second.size()) +
                                        " value(s), there is no #" + std::to_string(number));
  }
  return found->second[number];
}

std::vector<Value*> ValueScope::parse_uses(Lexer& lexer) const {
  std::vector<Value*> values;
  while (lexer.at(TokenKind::kValue)) {
    values.push_back(parse_use(lexer));
    const size_t comma = lexer.position();
    if (!lexer.accept(",")) break;
    if (!lexer.at(TokenKind::kValue)) lexer.rewind(comma);
  }
  return values;
}

}  // namespace tpu::hlo::text
