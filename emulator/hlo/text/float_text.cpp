#include "emulator/hlo/text/float_text.h"

#include <algorithm>
#include <array>
#include <bit>
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
  const char* first = text.data();
  const char* last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

bool reads_back(std::string_view text, ElementType type, uint64_t encoding) {
  const std::optional<double> value = double_from(text);
  return value && encoding_of(type, *value) == encoding;
}

// `digits` times ten to the power `exponent`; no trailing zeros.
struct Decimal {
  std::string digits;
  int exponent = 0;

  int leading_exponent() const { return exponent + static_cast<int>(digits.size()) - 1; }
};

// A positive number as `integer`, of `bits` bits, times ten to the power `exponent`: its exact
// decimal expansion.
struct Exact {
  std::string integer;
  int bits = 0;
  int exponent = 0;
};

Exact exact_decimal(double value) {
  int binary_exponent = 0;
  const double fraction = std::frexp(value, &binary_exponent);
  auto mantissa = static_cast<uint64_t>(std::ldexp(fraction, 53));
  binary_exponent -= 53;
  binary_exponent += std::countr_zero(mantissa);
  mantissa >>= std::countr_zero(mantissa);

  // m * 2^-e is (m * 5^e) * 10^-e. Logarithms suffice: m * 5^e is no power of two.
  Exact exact;
  exact.exponent = std::min(binary_exponent, 0);
  exact.bits = binary_exponent >= 0 ? std::bit_width(mantissa) + binary_exponent
                                    : static_cast<int>(std::log2(static_cast<double>(mantissa)) -
                                                       binary_exponent * std::log2(5.0)) +
                                          1;
  std::array<char, 1500> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, -exact.exponent);
  for (const char* c = buffer.data(); c != result.ptr; ++c) {
    const bool is_leading_zero = exact.integer.empty() && *c == '0';
    if (*c != '.' && !is_leading_zero) exact.integer += *c;
  }
  return exact;
}

// The number, positive, in at most `precision` digits: MLIR's own way of rounding, which first
// cuts off digits that as many bits do not need, and then rounds half up.
Decimal rounded(double value, int precision) {
  const Exact exact = exact_decimal(value);
  const int needed_bits = (precision * 196 + 58) / 59;  // 196/59 is just above log2(10).
  const int cut = std::max(exact.bits - needed_bits, 0) * 59 / 196;
  Decimal decimal{exact.integer.substr(0, exact.integer.size() - cut), exact.exponent + cut};
  std::string& digits = decimal.digits;
  const int excess = static_cast<int>(digits.size()) - precision;
  if (excess > 0) {
    const bool up = digits[precision] >= '5';
    digits.resize(precision);
    decimal.exponent += excess;
    size_t last = digits.size();
    while (up && last > 0 && digits[last - 1] == '9') digits[--last] = '0';
    if (up && last > 0) ++digits[last - 1];
    if (up && last == 0) digits.insert(digits.begin(), '1');
  }
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
    ++decimal.exponent;
  }
  return decimal;
}

// `1.234560e+00`: six digits, and a zero.
std::string six_digits(double value) {
  if (value == 0) return "0.000000e+00";
  Decimal decimal = rounded(value, 6);
  const int exponent = decimal.leading_exponent();
  decimal.digits.resize(7, '0');
  const std::string power = std::to_string(std::abs(exponent));
  return decimal.digits.substr(0, 1) + "." + decimal.digits.substr(1) +
         (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
}

// As many digits as the type can need; plain notation for numbers that stay short in it.
std::string all_digits(double value, ElementType type) {
  constexpr int kMaxPadding = 3;
  const int max_digits = 2 + precision(type) * 59 / 196;
  const Decimal decimal = rounded(value, max_digits);
  const std::string& digits = decimal.digits;
  const int trailing = decimal.exponent, leading = decimal.leading_exponent();
  const bool is_scientific = trailing >= 0  ? trailing > kMaxPadding || leading >= max_digits
                             : leading >= 0 ? false
                                            : -leading > kMaxPadding;
  if (is_scientific) {
    return digits.substr(0, 1) + "." + (digits.size() > 1 ? digits.substr(1) : "0") + "E" +
           (leading < 0 ? "" : "+") + std::to_string(leading);
  }
  if (trailing >= 0) return digits + std::string(trailing, '0');
  if (leading >= 0) return digits.substr(0, leading + 1) + "." + digits.substr(leading + 1);
  return "0." + std::string(-leading - 1, '0') + digits;
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
  const std::string sign = std::signbit(value) ? "-" : "";
  if (std::isfinite(value)) {
    std::string text = sign + six_digits(std::abs(value));
    if (reads_back(text, type, encoding)) return text;
    text = value == 0 ? "" : sign + all_digits(std::abs(value), type);
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
