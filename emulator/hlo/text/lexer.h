// Splits StableHLO text into tokens and reports errors with line and column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/hlo/types.h"

namespace tpu::hlo::text {

enum class TokenKind : uint8_t {
  kEnd,
  kWord,         ///< `module`, `stablehlo.add`, `f32`
  kValue,        ///< `%arg0`
  kSymbol,       ///< `@main`, `@"any text"`
  kHash,         ///< `#stablehlo.gather`, `#loc1`, the `#1` of `%0#1`
  kExclamation,  ///< `!stablehlo.token`
  kBlock,        ///< `^bb0`
  kInteger,      ///< `12`, `0xFF`; a sign is a token of its own
  kFloat,        ///< `1.5e+00`
  kString,       ///< with its quotes
  kPunctuation,  ///< one character, `->`, `::`
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  size_t offset = 0;
};

/// Reads tokens on demand, at most one ahead. Skips white space and `//` comments. All functions
/// that expect something throw InvalidArgument with line, column, what was found and expected.
class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  const Token& peek();
  Token take();
  /// Takes the next token if its text is `text`.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  bool at(std::string_view text) { return peek().text == text && peek().kind != TokenKind::kEnd; }
  bool at(TokenKind kind) { return peek().kind == kind; }
  /// Takes a token of the kind; `what` describes it in an error message.
  Token expect(TokenKind kind, std::string_view what);
  /// A word with exactly this text; a string or symbol of the same spelling is not one.
  bool accept_word(std::string_view text);

  /// An integer with an optional sign, decimal or hexadecimal. Decimal numbers must fit int64_t.
  int64_t expect_integer();
  /// `[` integers `]`.
  Dims expect_integer_list();
  /// The contents of a string token.
  std::string expect_string();
  /// `@name` or `@"name"`, without the mark.
  std::string expect_symbol();

  /// `4x8x` in front of an element type. A `<` or `:` must have been taken just before.
  Dims expect_dimensions();

  /// Skips one attribute, type or location of any dialect, up to a `,` or a closing bracket that
  /// is not its own. Returns its text.
  std::string_view skip_attribute();
  /// Skips `(...)`, `<...>`, `{...}` or `[...]`, whichever comes next.
  void skip_brackets();
  /// Skips `loc(...)` if it comes next.
  void skip_location();

  /// Where the next token starts; `rewind` goes back there.
  size_t position() { return peek().offset; }
  void rewind(size_t position);

  [[noreturn]] void fail(std::string_view expected) { fail_at(peek(), expected); }
  [[noreturn]] void fail_at(const Token& found, std::string_view expected) const;
  /// An error that is not about one token: the message, after line and column.
  [[noreturn]] void fail_message(size_t offset, std::string_view message) const;

 private:
  friend class Nesting;
  Token lex();
  Token lex_number(size_t start);
  Token lex_string(size_t start);
  Token token(TokenKind kind, size_t start, size_t end);
  void skip_space();
  std::string location(size_t offset) const;

  std::string_view source_;
  size_t next_ = 0;
  Token ahead_;
  bool has_ahead_ = false;
  int depth_ = 0;
};

/// Counts nested constructs, so that hostile text cannot exhaust the stack.
class Nesting {
 public:
  explicit Nesting(Lexer& lexer);
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  ~Nesting() { --lexer_.depth_; }

 private:
  Lexer& lexer_;
};

/// `text` in quotes, with quotes, backslashes and unprintable bytes escaped.
std::string quoted(std::string_view text);
/// `@name`, quoted where the name is not an identifier.
std::string symbol(std::string_view name);
/// `[1, 2]`.
std::string list(const Dims& values);

}  // namespace tpu::hlo::text
