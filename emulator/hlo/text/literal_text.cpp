#include "emulator/hlo/text/literal_text.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "emulator/hlo/text/float_text.h"
#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo::text {
namespace {

constexpr int64_t kMaxListed = 100;              // MLIR's limit, too.
constexpr int64_t kMaxBytes = int64_t{1} << 30;  // What a constant may reasonably take.

uint64_t load(const std::byte* at, int width) {
  uint64_t value = 0;
  std::memcpy(&value, at, width);
  return value;
}

std::string element_text(ElementType type, const std::byte* at) {
  const int width = byte_width(type);
  if (is_complex(type)) {
    const ElementType part = real_part(type);
    return "(" + element_text(part, at) + "," + element_text(part, at + width / 2) + ")";
  }
  const uint64_t bits = load(at, width);
  if (is_float(type)) return float_text(type, bits);
  if (is_boolean(type)) return bits ? "true" : "false";
  if (is_unsigned_integer(type)) return std::to_string(bits);
  const int unused = 64 - 8 * width;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

// Prints dimension `dim`'s elements, starting at `at`; moves it past them.
void append_list(std::string& out, const TensorType& type, int dim, const std::byte*& at) {
  if (dim == type.rank()) {
    out += element_text(type.element, at);
    at += byte_width(type.element);
    return;
  }
  out += '[';
  for (int64_t i = 0; i < type.shape[dim]; ++i) {
    if (i) out += ", ";
    append_list(out, type, dim + 1, at);
  }
  out += ']';
}

std::string hexadecimal(const Literal& literal) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  // MLIR keeps 4-bit integers zero-extended in a byte.
  const uint8_t mask = bit_width(literal.type().element) == 4 ? 0x0f : 0xff;
  std::string text = "\"0x";
  text.reserve(4 + 2 * literal.bytes().size());
  for (const std::byte byte : literal.bytes()) {
    const auto value = std::to_integer<uint8_t>(byte) & mask;
    text += kHex[value >> 4];
    text += kHex[value & 15];
  }
  return text + "\"";
}

// The elements as written, before their type is known.
struct Written {
  size_t start = 0;
  bool is_list = false;
  Dims shape;           ///< of the nested lists; empty for a single element
  int leaf_depth = -1;  ///< number of lists around each element; -1 before the first element
};

// Skips one element or list and finds the shape; all lists of one depth must be equally long.
void measure(Lexer& lexer, Written& written, int depth) {
  const Nesting nesting(lexer);
  const int known = static_cast<int>(written.shape.size());
  if (!lexer.at("[")) {
    if (depth != known) lexer.fail("a list");
    written.leaf_depth = depth;
    if (lexer.at("(")) return lexer.skip_brackets();
    lexer.accept("-");
    if (lexer.at(TokenKind::kPunctuation) || lexer.at(TokenKind::kEnd)) lexer.fail("an element");
    lexer.take();
    return;
  }
  if (depth == written.leaf_depth) lexer.fail("an element");
  const Token open = lexer.take();
  if (depth == known) written.shape.push_back(-1);
  int64_t count = 0;
  while (!lexer.accept("]")) {
    if (count++) lexer.expect(",");
    measure(lexer, written, depth + 1);
  }
  int64_t& expected = written.shape[depth];
  if (expected < 0) expected = count;
  if (expected != count) {
    lexer.fail_message(open.offset, "found a list of " + std::to_string(count) +
                                        " elements, expected " + std::to_string(expected));
  }
}

uint64_t parse_integer_element(Lexer& lexer, ElementType type) {
  const size_t start = lexer.position();
  if (lexer.at(TokenKind::kInteger) && type == ElementType::kUI64) {
    // The only type whose numbers do not all fit int64_t.
    const std::string digits(lexer.peek().text);
    if (!digits.starts_with("0x") && digits.size() >= 19) {
      lexer.take();
      char* end = nullptr;
      errno = 0;
      const uint64_t value = std::strtoull(digits.c_str(), &end, 10);
      if (errno != 0 || *end) lexer.fail_message(start, "integer does not fit ui64");
      return value;
    }
  }
  const bool negative = lexer.at("-");
  const int64_t value = lexer.expect_integer();
  const int bits = bit_width(type);
  const int64_t low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  const bool fits = bits == 64 || (value >= low && value < int64_t{1} << bits);
  if (!fits || (negative && is_unsigned_integer(type) && value != 0)) {
    lexer.fail_message(start, "integer does not fit " + std::string(name(type)));
  }
  // Sign- or zero-extended from the type's own width.
  const int unused = 64 - bits;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  return is_signed_integer(type) ? static_cast<uint64_t>(static_cast<int64_t>(shifted) >> unused)
                                 : shifted >> unused;
}

void parse_element(Lexer& lexer, ElementType type, std::byte* at) {
  const int width = byte_width(type);
  if (is_complex(type)) {
    lexer.expect("(");
    parse_element(lexer, real_part(type), at);
    lexer.expect(",");
    parse_element(lexer, real_part(type), at + width / 2);
    return lexer.expect(")");
  }
  uint64_t bits = 0;
  if (is_float(type)) {
    bits = parse_float(lexer, type);
  } else if (is_boolean(type)) {
    if (lexer.accept_word("true")) {
      bits = 1;
    } else if (!lexer.accept_word("false")) {
      const Token start = lexer.peek();
      bits = static_cast<uint64_t>(lexer.expect_integer());
      if (bits > 1) lexer.fail_at(start, "true or false");
    }
  } else {
    bits = parse_integer_element(lexer, type);
  }
  std::memcpy(at, &bits, width);
}

void fill_with_first(std::span<std::byte> bytes, size_t width) {
  for (size_t at = width; at < bytes.size(); at += width) {
    std::memcpy(bytes.data() + at, bytes.data(), width);
  }
}

// The list's elements in order; commas and brackets have been checked already.
void parse_elements(Lexer& lexer, ElementType type, std::span<std::byte> bytes) {
  const size_t width = byte_width(type);
  for (size_t at = 0; at < bytes.size(); at += width) {
    while (lexer.accept("[") || lexer.accept(",") || lexer.accept("]")) {
    }
    parse_element(lexer, type, bytes.data() + at);
  }
  while (lexer.accept("]")) {
  }
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::byte canonical(ElementType type, uint8_t byte) {
  if (type == ElementType::kI1) return std::byte{byte != 0};
  if (type == ElementType::kUI4) return std::byte(byte & 0x0f);
  if (type == ElementType::kSI4) return std::byte(static_cast<int8_t>(byte << 4) >> 4);
  return std::byte{byte};
}

void parse_hexadecimal(Lexer& lexer, ElementType type, std::span<std::byte> bytes) {
  const size_t start = lexer.position();
  const std::string text = lexer.expect_string();
  const size_t width = byte_width(type);
  const size_t given = text.size() < 2 ? 0 : (text.size() - 2) / 2;
  if (!text.starts_with("0x") || text.size() % 2 != 0) {
    lexer.fail_message(start, "bytes must be written as \"0x...\" with two digits each");
  }
  if (given != bytes.size() && (given != width || bytes.empty())) {
    lexer.fail_message(start, "found " + std::to_string(given) + " bytes, expected " +
                                  std::to_string(bytes.size()) + ", or " + std::to_string(width) +
                                  " for equal elements");
  }
  for (size_t i = 0; i < given; ++i) {
    const int high = hex_value(text[2 + 2 * i]), low = hex_value(text[3 + 2 * i]);
    if (high < 0 || low < 0) lexer.fail_message(start, "a byte that is not hexadecimal");
    bytes[i] = canonical(type, static_cast<uint8_t>(high * 16 + low));
  }
  if (given == width) fill_with_first(bytes, width);
}

}  // namespace

std::string literal_text(const Literal& literal) {
  const TensorType& type = literal.type();
  const int64_t count = type.num_elements();
  const std::byte* at = literal.bytes().data();
  std::string text = "dense<";
  if (count > 0) {
    if (literal.is_splat()) {
      text += element_text(type.element, at);
    } else if (count > kMaxListed) {
      text += hexadecimal(literal);
    } else {
      append_list(text, type, 0, at);
    }
  }
  return text + "> : " + to_string(type);
}

Literal parse_literal(Lexer& lexer) {
  const size_t start = lexer.position();
  if (!lexer.accept_word("dense")) lexer.fail("'dense<...>'");
  lexer.expect("<");
  Written written;
  written.start = lexer.position();
  written.is_list = lexer.at("[");
  const bool empty = lexer.at(">");
  if (!empty) measure(lexer, written, 0);
  lexer.expect(">");
  lexer.expect(":");
  const TensorType type = parse_type(lexer);
  const size_t end = lexer.position();
  if (type.element == ElementType::kToken || type.num_bytes() > kMaxBytes) {
    lexer.fail_message(start, "a constant cannot have type " + to_string(type));
  }
  if (empty ? type.num_elements() != 0 : written.is_list && written.shape != type.shape) {
    lexer.fail_message(
        start, "elements of shape " + list(written.shape) + " do not fill " + to_string(type));
  }
  Literal literal(type);
  const std::span<std::byte> bytes = literal.mutable_bytes();
  if (bytes.empty()) return literal;
  lexer.rewind(written.start);
  if (lexer.at(TokenKind::kString)) {
    parse_hexadecimal(lexer, type.element, bytes);
  } else if (written.is_list) {
    parse_elements(lexer, type.element, bytes);
  } else {
    parse_element(lexer, type.element, bytes.data());
    fill_with_first(bytes, byte_width(type.element));
  }
  lexer.expect(">");
  lexer.rewind(end);
  return literal;
}

}  // namespace tpu::hlo::text
