#include "emulator/hlo/text/attribute_text.h"

#include <algorithm>
#include <bit>

#include "emulator/hlo/text/dimension_numbers_text.h"
#include "emulator/hlo/text/float_text.h"
#include "emulator/hlo/text/literal_text.h"
#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo::text {
namespace {

std::string double_text(double value, bool single) {
  return single
             ? float_text(ElementType::kF32, std::bit_cast<uint32_t>(static_cast<float>(value))) +
                   " : f32"
             : float_text(ElementType::kF64, std::bit_cast<uint64_t>(value)) + " : f64";
}

double parse_double(Lexer& lexer, bool single) {
  double value = 0;
  if (single) {
    value = std::bit_cast<float>(static_cast<uint32_t>(parse_float(lexer, ElementType::kF32)));
  } else {
    value = std::bit_cast<double>(parse_float(lexer, ElementType::kF64));
  }
  if (lexer.accept(":")) lexer.expect(TokenKind::kWord, "f32 or f64");
  return value;
}

// `item(0), item(1), ...`
template <class Item>
std::string join(size_t count, Item item) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i) text += ", ";
    text += item(i);
  }
  return text;
}

// `array<i64: 1, 2>`, `array<i64>`
std::string array_text(std::string_view element, std::string_view items) {
  std::string text = "array<" + std::string(element);
  if (!items.empty()) text += ": " + std::string(items);
  return text + ">";
}

std::string matrix_text(const IntMatrix& matrix) {
  return literal_text(from_ints(ElementType::kSI64, {matrix.rows, matrix.columns}, matrix.values));
}

std::string enum_text(const EnumValue& value, const AttributeSpec* spec, Spelling spelling) {
  if (!spec || spelling == Spelling::kInline) return value.value;
  return "#stablehlo<" + std::string(spec->enum_name) + " " + value.value + ">";
}

struct Printer {
  const AttributeSpec* spec;
  Spelling spelling;

  bool is_inline() const { return spelling == Spelling::kInline; }

  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const {
    const bool narrow = spec && spec->kind == AttributeKind::kI32;
    return std::to_string(value) + (is_inline() ? "" : narrow ? " : i32" : " : i64");
  }
  std::string operator()(double value) const {
    return double_text(value, spec && spec->kind == AttributeKind::kF32);
  }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const EnumValue& value) const { return enum_text(value, spec, spelling); }
  std::string operator()(const EnumValues& values) const {
    return "[" + join(values.size(), [&](size_t i) { return (*this)(values[i]); }) + "]";
  }
  std::string operator()(const Dims& values) const {
    const std::string items = list(values);
    return is_inline() ? items : array_text("i64", items.substr(1, items.size() - 2));
  }
  std::string operator()(const std::vector<bool>& values) const {
    const std::string items =
        join(values.size(), [&](size_t i) { return std::string(values[i] ? "true" : "false"); });
    return is_inline() ? "[" + items + "]" : array_text("i1", items);
  }
  std::string operator()(const IntMatrix& matrix) const { return matrix_text(matrix); }
  std::string operator()(const Literal& literal) const { return literal_text(literal); }
  std::string operator()(const SymbolRef& reference) const { return symbol(reference.name); }
  std::string operator()(const std::vector<SymbolRef>& references) const {
    return "[" + join(references.size(), [&](size_t i) { return (*this)(references[i]); }) + "]";
  }
  std::string operator()(const DotDimensionNumbers& numbers) const {
    return is_inline() ? inline_dot_text(numbers) : dot_text(numbers);
  }
  std::string operator()(const ConvDimensionNumbers& numbers) const {
    return is_inline() ? inline_conv_text(numbers) : conv_text(numbers);
  }
  std::string operator()(const GatherDimensionNumbers& numbers) const {
    return gather_text(numbers);
  }
  std::string operator()(const ScatterDimensionNumbers& numbers) const {
    return scatter_text(numbers);
  }
};

bool parse_bool(Lexer& lexer) {
  if (lexer.accept_word("true")) return true;
  if (lexer.accept_word("false")) return false;
  lexer.fail("true or false");
}

int64_t parse_typed_integer(Lexer& lexer) {
  const int64_t value = lexer.expect_integer();
  if (lexer.accept(":")) lexer.expect(TokenKind::kWord, "an integer type");
  return value;
}

// `LT`, `#stablehlo<comparison_direction LT>` or `#stablehlo.comparison_direction<LT>`.
EnumValue parse_enum(Lexer& lexer, std::string_view enum_name) {
  if (lexer.at(TokenKind::kWord)) return {std::string(lexer.take().text)};
  const Token mark = lexer.expect(TokenKind::kHash, "an enumeration's value");
  if (mark.text != "#stablehlo" && mark.text != "#stablehlo." + std::string(enum_name)) {
    lexer.fail_at(mark, "#stablehlo<" + std::string(enum_name) + " ...>");
  }
  lexer.expect("<");
  if (mark.text == "#stablehlo" && !lexer.accept_word(enum_name)) {
    lexer.fail("'" + std::string(enum_name) + "'");
  }
  EnumValue value{std::string(lexer.expect(TokenKind::kWord, "an enumeration's value").text)};
  lexer.expect(">");
  return value;
}

// `[item, item, ...]`
template <class Item>
void parse_list(Lexer& lexer, Item item) {
  lexer.expect("[");
  for (bool first = true; !lexer.accept("]"); first = false) {
    if (!first) lexer.expect(",");
    item();
  }
}

// `array<i64: 1, 2>` with any integer type; `item` reads one element.
template <class Item>
void parse_array(Lexer& lexer, Item item) {
  lexer.take();
  lexer.expect("<");
  lexer.expect(TokenKind::kWord, "an element type");
  if (lexer.accept(":")) {
    do {
      item();
    } while (lexer.accept(","));
  }
  lexer.expect(">");
}

Literal parse_integer_literal(Lexer& lexer) {
  constexpr int64_t kMaxElements = int64_t{1} << 20;  // Ample for replica groups.
  const Token start = lexer.peek();
  Literal literal = parse_literal(lexer);
  const ElementType element = literal.type().element;
  if (literal.type().num_elements() > kMaxElements) lexer.fail_at(start, "fewer elements");
  if (!is_integer(element) && !is_boolean(element)) lexer.fail_at(start, "integer elements");
  return literal;
}

// `[1, 2]`, `array<i64: 1, 2>` or `dense<[1, 2]> : tensor<2xi64>`, by the element.
template <class Items, class Item>
Items parse_vector(Lexer& lexer, Item item) {
  Items values;
  const auto append = [&] { values.push_back(item()); };
  if (lexer.at("[")) {
    parse_list(lexer, append);
  } else if (lexer.at(TokenKind::kWord) && lexer.at("dense")) {
    const Token start = lexer.peek();
    const Literal literal = parse_integer_literal(lexer);
    if (literal.type().rank() != 1) lexer.fail_at(start, "elements of one dimension");
    for (int64_t i = 0; i < literal.type().num_elements(); ++i) {
      values.push_back(decode_int(literal, i));
    }
  } else if (lexer.at(TokenKind::kWord) && lexer.at("array")) {
    parse_array(lexer, append);
  } else {
    lexer.fail("array<...>");
  }
  return values;
}

IntMatrix parse_matrix(Lexer& lexer) {
  const Token start = lexer.peek();
  const Literal literal = parse_integer_literal(lexer);
  if (literal.type().rank() != 2) lexer.fail_at(start, "elements of two dimensions");
  IntMatrix matrix{literal.type().shape[0], literal.type().shape[1], {}};
  for (int64_t i = 0; i < literal.type().num_elements(); ++i) {
    matrix.values.push_back(decode_int(literal, i));
  }
  return matrix;
}

Attribute parse_kind(Lexer& lexer, const AttributeSpec& spec, Spelling spelling) {
  const bool is_inline = spelling == Spelling::kInline;
  switch (spec.kind) {
    case AttributeKind::kBool:
      return parse_bool(lexer);
    case AttributeKind::kI32:
    case AttributeKind::kI64:
      return is_inline ? lexer.expect_integer() : parse_typed_integer(lexer);
    case AttributeKind::kF32:
    case AttributeKind::kF64:
      return parse_double(lexer, spec.kind == AttributeKind::kF32);
    case AttributeKind::kString:
      // A typed custom call's backend_config is a dictionary: its text.
      if (lexer.at("{")) return std::string(lexer.skip_attribute());
      return lexer.expect_string();
    case AttributeKind::kEnum:
      return parse_enum(lexer, spec.enum_name);
    case AttributeKind::kEnumArray: {
      EnumValues values;
      parse_list(lexer, [&] { values.push_back(parse_enum(lexer, spec.enum_name)); });
      return values;
    }
    case AttributeKind::kI64Array:
      return parse_vector<Dims>(lexer, [&] { return lexer.expect_integer(); });
    case AttributeKind::kBoolArray:
      return parse_vector<std::vector<bool>>(lexer, [&] { return parse_bool(lexer); });
    case AttributeKind::kI64Matrix:
      return parse_matrix(lexer);
    case AttributeKind::kLiteral:
      return parse_literal(lexer);
    case AttributeKind::kSymbol:
      return SymbolRef{lexer.expect_symbol()};
    case AttributeKind::kSymbolArray: {
      std::vector<SymbolRef> references;
      parse_list(lexer, [&] { references.push_back({lexer.expect_symbol()}); });
      return references;
    }
    case AttributeKind::kDotNumbers:
      return is_inline ? parse_inline_dot(lexer) : parse_dot(lexer);
    case AttributeKind::kConvNumbers:
      return is_inline ? parse_inline_conv(lexer) : parse_conv(lexer);
    case AttributeKind::kGatherNumbers:
      return parse_gather(lexer);
    case AttributeKind::kScatterNumbers:
      return parse_scatter(lexer);
  }
  lexer.fail("an attribute");
}

bool at_end_of_attribute(Lexer& lexer) {
  return lexer.at(",") || lexer.at("}");
}

}  // namespace

const AttributeSpec* find_spec(OpKind kind, std::string_view name) {
  const std::vector<AttributeSpec>& specs = op_info(kind).attributes;
  const auto found = std::ranges::find(specs, name, &AttributeSpec::name);
  return found == specs.end() ? nullptr : &*found;
}

std::string attribute_text(const Attribute& attribute, const AttributeSpec* spec,
                           Spelling spelling) {
  return std::visit(Printer{spec, spelling}, attribute);
}

Attribute parse_attribute(Lexer& lexer, const AttributeSpec& spec, Spelling spelling) {
  return parse_kind(lexer, spec, spelling);
}

Attribute parse_any_attribute(Lexer& lexer) {
  const size_t start = lexer.position();
  std::optional<Attribute> value;
  if (lexer.at(TokenKind::kString)) {
    value = lexer.expect_string();
  } else if (lexer.at(TokenKind::kSymbol)) {
    value = SymbolRef{lexer.expect_symbol()};
  } else if (lexer.at(TokenKind::kInteger)) {
    const int64_t number = lexer.expect_integer();
    if (lexer.accept(":") && lexer.accept_word("i64")) value = number;
  } else if (lexer.accept_word("true")) {
    value = true;
  } else if (lexer.accept_word("false")) {
    value = false;
  }
  if (value && at_end_of_attribute(lexer)) return *std::move(value);
  lexer.rewind(start);
  return EnumValue{std::string(lexer.skip_attribute())};
}

}  // namespace tpu::hlo::text
