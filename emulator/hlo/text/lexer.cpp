#include "emulator/hlo/text/lexer.h"

#include <algorithm>
#include <charconv>

#include "emulator/base/error.h"

namespace tpu::hlo::text {
namespace {

constexpr int kMaxDepth = 200;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word(char c) {
  return is_letter(c) || is_digit(c) || c == '$' || c == '.';
}
bool is_suffix(char c) {
  return is_word(c) || c == '-';
}

int hex_value(char c) {
  return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

// The closing bracket of an opening one, or 0.
char closing(std::string_view text) {
  if (text == "(") return ')';
  if (text == "[") return ']';
  if (text == "{") return '}';
  if (text == "<") return '>';
  return 0;
}

bool is_closing(std::string_view text) {
  return text == ")" || text == "]" || text == "}" || text == ">";
}

std::string unescaped(std::string_view body) {
  std::string text;
  text.reserve(body.size());
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\\' || i + 1 == body.size()) {
      text += body[i];
      continue;
    }
    const char c = body[++i];
    if (is_hex_digit(c) && i + 1 < body.size() && is_hex_digit(body[i + 1])) {
      text += static_cast<char>(hex_value(c) * 16 + hex_value(body[++i]));
    } else {
      text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return text;
}

}  // namespace

void Lexer::skip_space() {
  while (next_ < source_.size()) {
    const char c = source_[next_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++next_;
    } else if (source_.substr(next_, 2) == "//") {
      next_ = std::min(source_.find('\n', next_), source_.size());
    } else {
      return;
    }
  }
}

Token Lexer::token(TokenKind kind, size_t start, size_t end) {
  next_ = end;
  return {kind, source_.substr(start, end - start), start};
}

Token Lexer::lex_number(size_t start) {
  size_t end = start;
  const auto skip_digits = [&] {
    while (end < source_.size() && is_digit(source_[end])) ++end;
  };
  if (source_.substr(start, 2) == "0x" && start + 2 < source_.size() &&
      is_hex_digit(source_[start + 2])) {
    end += 2;
    while (end < source_.size() && is_hex_digit(source_[end])) ++end;
    return token(TokenKind::kInteger, start, end);
  }
  skip_digits();
  if (end >= source_.size() || source_[end] != '.') return token(TokenKind::kInteger, start, end);
  ++end;
  skip_digits();
  if (end < source_.size() && (source_[end] | 0x20) == 'e') {
    size_t exponent = end + 1;
    if (exponent < source_.size() && (source_[exponent] == '+' || source_[exponent] == '-')) {
      ++exponent;
    }
    if (exponent < source_.size() && is_digit(source_[exponent])) {
      end = exponent;
      skip_digits();
    }
  }
  return token(TokenKind::kFloat, start, end);
}

Token Lexer::lex_string(size_t start) {
  size_t end = start + 1;
  while (end < source_.size() && source_[end] != '"') end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) fail_message(start, "a string without its closing quote");
  return token(TokenKind::kString, start, end + 1);
}

Token Lexer::lex() {
  skip_space();
  const size_t start = next_;
  if (start == source_.size()) return {TokenKind::kEnd, {}, start};
  const char c = source_[start];
  const auto run = [&](TokenKind kind, bool (*belongs)(char)) {
    size_t end = start + 1;
    while (end < source_.size() && belongs(source_[end])) ++end;
    return token(kind, start, end);
  };
  if (is_letter(c)) return run(TokenKind::kWord, is_word);
  if (is_digit(c)) return lex_number(start);
  switch (c) {
    case '"':
      return lex_string(start);
    case '%':
      return run(TokenKind::kValue, is_suffix);
    case '#':
      return run(TokenKind::kHash, is_suffix);
    case '!':
      return run(TokenKind::kExclamation, is_word);
    case '^':
      return run(TokenKind::kBlock, is_suffix);
    case '@':
      if (start + 1 < source_.size() && source_[start + 1] == '"') {
        lex_string(start + 1);
        return token(TokenKind::kSymbol, start, next_);
      }
      return run(TokenKind::kSymbol, is_word);
    default:
      break;
  }
  const std::string_view pair = source_.substr(start, 2);
  const size_t size = pair == "->" || pair == "::" ? 2 : 1;
  return token(TokenKind::kPunctuation, start, start + size);
}

const Token& Lexer::peek() {
  if (!has_ahead_) {
    ahead_ = lex();
    has_ahead_ = true;
  }
  return ahead_;
}

Token Lexer::take() {
  peek();
  has_ahead_ = false;
  return ahead_;
}

bool Lexer::accept(std::string_view text) {
  if (!at(text)) return false;
  take();
  return true;
}

bool Lexer::accept_word(std::string_view text) {
  return at(TokenKind::kWord) && accept(text);
}

void Lexer::expect(std::string_view text) {
  if (!accept(text)) fail("'" + std::string(text) + "'");
}

Token Lexer::expect(TokenKind kind, std::string_view what) {
  if (!at(kind)) fail(what);
  return take();
}

void Lexer::rewind(size_t position) {
  next_ = position;
  has_ahead_ = false;
}

int64_t Lexer::expect_integer() {
  const size_t start = position();
  const bool negative = accept("-");
  const Token digits = expect(TokenKind::kInteger, "an integer");
  const bool hex = digits.text.starts_with("0x");
  const std::string_view body = digits.text.substr(hex ? 2 : 0);
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(body.data(), body.data() + body.size(), magnitude, hex ? 16 : 10);
  const uint64_t limit = hex ? UINT64_MAX : uint64_t{INT64_MAX} + negative;
  if (error != std::errc() || end != body.data() + body.size() || magnitude > limit) {
    fail_message(start, "integer '" + std::string(digits.text) + "' does not fit 64 bits");
  }
  return static_cast<int64_t>(negative ? -magnitude : magnitude);
}

Dims Lexer::expect_integer_list() {
  Dims values;
  expect("[");
  while (!accept("]")) {
    if (!values.empty()) expect(",");
    values.push_back(expect_integer());
  }
  return values;
}

std::string Lexer::expect_string() {
  const Token found = expect(TokenKind::kString, "a string");
  return unescaped(found.text.substr(1, found.text.size() - 2));
}

std::string Lexer::expect_symbol() {
  const Token found = expect(TokenKind::kSymbol, "a symbol such as @main");
  const std::string_view name = found.text.substr(1);
  if (name.empty()) fail_at(found, "a symbol such as @main");
  if (!name.starts_with('"')) return std::string(name);
  return unescaped(name.substr(1, name.size() - 2));
}

Dims Lexer::expect_dimensions() {
  if (has_ahead_) rewind(ahead_.offset);
  skip_space();
  Dims dims;
  while (next_ < source_.size() && (is_digit(source_[next_]) || source_[next_] == '?')) {
    const size_t start = next_;
    if (source_[next_] == '?') {
      fail_message(start, "found dimension '?', expected a number: shapes must be static");
    }
    while (next_ < source_.size() && is_digit(source_[next_])) ++next_;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(source_.data() + start, source_.data() + next_, size);
    if (error != std::errc() || end != source_.data() + next_) {
      fail_message(start, "dimension '" + std::string(source_.substr(start, next_ - start)) +
                              "' does not fit 64 bits");
    }
    if (next_ >= source_.size() || source_[next_] != 'x') fail("'x' after a dimension");
    ++next_;
    dims.push_back(size);
  }
  return dims;
}

std::string_view Lexer::skip_attribute() {
  const size_t start = position();
  size_t end = start;
  while (!at(TokenKind::kEnd) && !at(",") && !is_closing(peek().text)) {
    if (closing(peek().text)) {
      skip_brackets();
    } else {
      take();
    }
    end = next_;
  }
  if (end == start) fail("an attribute");
  return source_.substr(start, end - start);
}

void Lexer::skip_brackets() {
  const Token open = peek();
  std::string expected;  // The closing brackets to come, innermost last.
  do {
    const Token next = take();
    if (next.kind == TokenKind::kEnd) fail_message(open.offset, "a bracket without its partner");
    if (next.kind != TokenKind::kPunctuation) continue;
    if (const char close = closing(next.text)) {
      expected += close;
    } else if (is_closing(next.text)) {
      if (expected.empty() || expected.back() != next.text[0]) {
        fail_at(next,
                expected.empty() ? "a bracket" : "'" + expected.substr(expected.size() - 1) + "'");
      }
      expected.pop_back();
    }
  } while (!expected.empty());
}

void Lexer::skip_location() {
  if (!at(TokenKind::kWord) || !at("loc")) return;
  take();
  if (!at("(")) fail("'('");
  skip_brackets();
}

std::string Lexer::location(size_t offset) const {
  const std::string_view before = source_.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0.
  return "line " + std::to_string(line) + ", column " + std::to_string(offset - line_start + 1);
}

void Lexer::fail_at(const Token& found, std::string_view expected) const {
  constexpr size_t kMaxQuoted = 40;
  std::string text = found.kind == TokenKind::kEnd
                         ? "the end of the text"
                         : "'" + std::string(found.text.substr(0, kMaxQuoted)) + "'";
  fail_message(found.offset, "found " + text + ", expected " + std::string(expected));
}

void Lexer::fail_message(size_t offset, std::string_view message) const {
  throw InvalidArgument(location(offset) + ": " + std::string(message));
}

Nesting::Nesting(Lexer& lexer) : lexer_(lexer) {
  if (lexer_.depth_ >= kMaxDepth) {
    lexer_.fail_message(lexer_.position(),
                        "nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }
  ++lexer_.depth_;
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '"' || byte < 0x20 || byte >= 0x7f) {
      out += '\\';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string symbol(std::string_view name) {
  const bool identifier = !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_word);
  return "@" + (identifier ? std::string(name) : quoted(name));
}

std::string list(const Dims& values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

}  // namespace tpu::hlo::text
