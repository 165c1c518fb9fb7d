#include "emulator/hlo/text/float_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "emulator/hlo/literal.h"

namespace tpu::hlo::text {
namespace {

// Bits of the significand, the hidden one included.
int precision(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 53;
    case ElementType::kF32:
      return 24;
    case ElementType::kF16:
      return 11;
    case ElementType::kBF16:
      return 8;
    case ElementType::kF8E5M2:
    case ElementType::kF8E5M2FNUZ:
      return 3;
    default:
      return 4;
  }
}

uint64_t encoding_of(ElementType type, double value) {
  uint64_t encoding = 0;
  const std::vector<std::byte> bytes = encode(type, value);
  std::memcpy(&encoding, bytes.data(), bytes.size());
  return encoding;
}

double value_of(ElementType type, uint64_t encoding) {
  std::vector<std::byte> bytes(byte_width(type));
  std::memcpy(bytes.data(), &encoding, bytes.size());
  return decode_double(Literal({type, {}}, std::move(bytes)), 0);
}

std::optional<double> double_from(std::string_view text) {
  double value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

bool reads_back(std::string_view text, ElementType type, uint64_t encoding) {
  const std::optional<double> value = double_from(text);
  return value && encoding_of(type, *value) == encoding;
}

std::string scientific(double value, int decimals) {
  std::array<char, 64> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::scientific, decimals);
  return {buffer.data(), result.ptr};
}

// As many digits as the type can need, without trailing zeros; plain notation for numbers that
// stay short in it.
std::string shortest(double value, ElementType type) {
  constexpr int kMaxPadding = 3;
  const int max_digits = 2 + precision(type) * 59 / 196;
  const std::string text = scientific(std::abs(value), max_digits - 1);
  const size_t mark = text.find('e');
  std::string digits = text.substr(0, 1) + text.substr(2, mark - 2);
  digits.erase(digits.find_last_not_of('0') + 1);
  const int count = static_cast<int>(digits.size());
  const int leading = std::stoi(text.substr(mark + 1));  // Power of ten of the first digit.
  const int trailing = leading - (count - 1);
  const std::string sign = std::signbit(value) ? "-" : "";
  const bool is_scientific = trailing >= 0  ? trailing > kMaxPadding || leading + 1 > max_digits
                             : leading >= 0 ? false
                                            : -leading > kMaxPadding;
  if (is_scientific) {
    const std::string fraction = count > 1 ? digits.substr(1) : "0";
    return sign + digits[0] + "." + fraction + "E" + (leading < 0 ? "" : "+") +
           std::to_string(leading);
  }
  if (trailing >= 0) return sign + digits + std::string(trailing, '0');
  if (leading >= 0) return sign + digits.substr(0, leading + 1) + "." + digits.substr(leading + 1);
  return sign + "0." + std::string(-leading - 1, '0') + digits;
}

std::string hexadecimal(uint64_t encoding) {
  std::array<char, 16> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), encoding, 16);
  std::string text = "0x";
  for (const char* c = buffer.data(); c != result.ptr; ++c) {
    text += *c >= 'a' ? static_cast<char>(*c - 0x20) : *c;
  }
  return text;
}

}  // namespace

std::string float_text(ElementType type, uint64_t encoding) {
  const double value = value_of(type, encoding);
  if (std::isfinite(value)) {
    std::string text = scientific(value, 6);
    if (reads_back(text, type, encoding)) return text;
    text = value == 0 ? "" : shortest(value, type);
    // Without a point it would read as an integer.
    if (text.find('.') != std::string::npos && reads_back(text, type, encoding)) return text;
  }
  return hexadecimal(encoding);
}

uint64_t parse_float(Lexer& lexer, ElementType type) {
  const size_t start = lexer.position();
  const bool negative = lexer.accept("-");
  if (lexer.at(TokenKind::kInteger) && lexer.peek().text.starts_with("0x")) {
    if (negative) lexer.fail_message(start, "a hexadecimal float has no sign");
    const auto encoding = static_cast<uint64_t>(lexer.expect_integer());
    const int bits = byte_width(type) * 8;
    if (bits < 64 && encoding >> bits != 0) {
      lexer.fail_message(start, "encoding does not fit " + std::string(name(type)));
    }
    return encoding;
  }
  const Token digits = lexer.expect(TokenKind::kFloat, "a floating-point number such as 1.5");
  const std::optional<double> value = double_from(digits.text);
  if (!value) {
    lexer.fail_message(start, "number '" + std::string(digits.text) + "' does not fit f64");
  }
  return encoding_of(type, negative ? -*value : *value);
}

}  // namespace tpu::hlo::text
