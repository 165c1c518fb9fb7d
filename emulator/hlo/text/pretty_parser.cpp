#include "emulator/hlo/text/pretty_parser.h"

#include <charconv>
#include <span>
#include <string>

#include "emulator/hlo/text/attribute_text.h"
#include "emulator/hlo/text/dictionary_text.h"

namespace tpu::hlo::text {
namespace {

// Walks a syntax's pieces along the text.
class Reader {
 public:
  Reader(Lexer& lexer, const ValueScope& scope, OpParts& parts)
      : lexer_(lexer), scope_(scope), parts_(parts) {}

  void read_pieces(std::span<const Piece> pieces) {
    for (const Piece& piece : pieces) read_piece(piece);
  }

 private:
  void read_piece(const Piece& piece);
  void read_optional(const Piece& piece);
  void read_attribute(std::string_view name);
  void read_slice_ranges();
  void read_window();
  void read_exponent_mantissa();
  void read_types(TypesForm form);
  void read_short_types(TypesForm form);

  Lexer& lexer_;
  const ValueScope& scope_;
  OpParts& parts_;
};

void Reader::read_piece(const Piece& piece) {
  switch (piece.kind) {
    case PieceKind::kText:
      for (const std::string_view token : piece.tokens) lexer_.expect(token);
      break;
    case PieceKind::kOperand:
      parts_.operands.push_back(scope_.parse_use(lexer_));
      break;
    case PieceKind::kOperands:
      for (Value* value : scope_.parse_uses(lexer_)) parts_.operands.push_back(value);
      break;
    case PieceKind::kAttribute:
      read_attribute(piece.text);
      break;
    case PieceKind::kDictionary:
      if (lexer_.at("{")) parse_dictionary(lexer_, parts_.kind, parts_.attributes);
      break;
    case PieceKind::kOptional:
      read_optional(piece);
      break;
    case PieceKind::kSliceRanges:
      read_slice_ranges();
      break;
    case PieceKind::kWindow:
      read_window();
      break;
    case PieceKind::kExponentMantissa:
      read_exponent_mantissa();
      break;
    case PieceKind::kTarget:
      parts_.attributes.set("call_target_name", lexer_.expect_symbol());
      break;
    case PieceKind::kTypes:
      read_types(piece.types);
      break;
  }
}

// The part is there if all of its leading text is.
void Reader::read_optional(const Piece& piece) {
  const size_t start = lexer_.position();
  for (const std::string_view token : piece.optional.front().tokens) {
    if (!lexer_.accept(token)) return lexer_.rewind(start);
  }
  read_pieces(std::span(piece.optional).subspan(1));
}

void Reader::read_attribute(std::string_view name) {
  // What CHLO ops have is not in the table of StableHLO's ops.
  static constexpr AttributeSpec kNumber{"", AttributeKind::kI64};
  refuse_unsupported(lexer_, lexer_.position(), parts_.kind, name);
  const AttributeSpec* spec = find_spec(parts_.kind, name);
  parts_.attributes.set(name, parse_attribute(lexer_, spec ? *spec : kNumber, Spelling::kInline));
}

void Reader::read_slice_ranges() {
  Dims starts, limits, strides;
  lexer_.expect("[");
  while (!lexer_.accept("]")) {
    if (!starts.empty()) lexer_.expect(",");
    starts.push_back(lexer_.expect_integer());
    lexer_.expect(":");
    limits.push_back(lexer_.expect_integer());
    strides.push_back(lexer_.accept(":") ? lexer_.expect_integer() : 1);
  }
  parts_.attributes.set("start_indices", std::move(starts));
  parts_.attributes.set("limit_indices", std::move(limits));
  parts_.attributes.set("strides", std::move(strides));
}

// `[[0, 0], [1, 1]]`, rows of two.
IntMatrix parse_padding(Lexer& lexer) {
  IntMatrix padding;
  padding.columns = 2;
  lexer.expect("[");
  while (!lexer.accept("]")) {
    if (padding.rows++ > 0) lexer.expect(",");
    const Token start = lexer.peek();
    const Dims row = lexer.expect_integer_list();
    if (row.size() != 2) lexer.fail_at(start, "[low, high]");
    padding.values.insert(padding.values.end(), row.begin(), row.end());
  }
  return padding;
}

void Reader::read_window() {
  constexpr AttributeSpec kDims{"", AttributeKind::kI64Array};
  constexpr AttributeSpec kFlags{"", AttributeKind::kBoolArray};
  const auto read = [&](std::string_view name, const AttributeSpec& spec) {
    parts_.attributes.set(name, parse_attribute(lexer_, spec, Spelling::kInline));
  };
  lexer_.expect("{");
  for (bool first = true; !lexer_.accept("}"); first = false) {
    if (!first) lexer_.expect(",");
    const Token key = lexer_.expect(TokenKind::kWord, "a part of the window");
    lexer_.expect("=");
    if (key.text == "stride") {
      read("window_strides", kDims);
    } else if (key.text == "pad") {
      parts_.attributes.set("padding", parse_padding(lexer_));
    } else if (key.text == "lhs_dilate") {
      read("lhs_dilation", kDims);
    } else if (key.text == "rhs_dilate") {
      read("rhs_dilation", kDims);
    } else if (key.text == "reverse") {
      read("window_reversal", kFlags);
    } else {
      lexer_.fail_at(key, "stride, pad, lhs_dilate, rhs_dilate or reverse");
    }
  }
}

// One word: `e5m2`.
void Reader::read_exponent_mantissa() {
  const Token word = lexer_.expect(TokenKind::kWord, "a format such as e8m23");
  const std::string_view text = word.text;
  const char* last = text.data() + text.size();
  int exponent = 0, mantissa = 0;
  const auto first = std::from_chars(text.data() + 1, last, exponent);
  const bool has_mantissa =
      text[0] == 'e' && first.ec == std::errc() && first.ptr != last && *first.ptr == 'm';
  const auto second = has_mantissa ? std::from_chars(first.ptr + 1, last, mantissa) : first;
  if (!has_mantissa || second.ec != std::errc() || second.ptr != last || exponent < 0 ||
      mantissa < 0) {
    lexer_.fail_at(word, "a format such as e8m23");
  }
  parts_.attributes.set("exponent_bits", int64_t{exponent});
  parts_.attributes.set("mantissa_bits", int64_t{mantissa});
}

void Reader::read_types(TypesForm form) {
  if (form == TypesForm::kFunctional || lexer_.at("(")) {
    parts_.types = parse_function_type(lexer_);
  } else {
    read_short_types(form);
  }
}

void Reader::read_short_types(TypesForm form) {
  const Token start = lexer_.peek();
  FunctionType& types = parts_.types;
  const std::vector<TensorType> written = parse_types(lexer_);
  const size_t expected = form == TypesForm::kSelect ? 2 : 1;
  switch (form) {
    case TypesForm::kEach:
      types = {written, written};
      return;
    case TypesForm::kResults:
      types = {{}, written};
      return;
    case TypesForm::kArrow:
      types.operands = written;
      lexer_.expect("->");
      if (lexer_.accept("(")) {
        types.results = parse_types(lexer_);
        lexer_.expect(")");
      } else {
        types.results = {parse_type(lexer_)};
      }
      return;
    default:
      break;
  }
  if (written.size() != expected) {
    lexer_.fail_at(
        start, expected == 1 ? "one type, or (types) -> type" : "two types, or (types) -> type");
  }
  types.results = {written.back()};
  types.operands.assign(parts_.operands.size(), written.back());
  if (form == TypesForm::kSelect) types.operands.front() = written.front();
  if (form == TypesForm::kComplex) {
    for (TensorType& type : types.operands) type.element = real_part(type.element);
  }
}

}  // namespace

void parse_pretty(Lexer& lexer, const ValueScope& scope, const Syntax& syntax, OpParts& parts) {
  Reader(lexer, scope, parts).read_pieces(syntax);
  if (parts.kind == OpKind::kConstant) {
    parts.types.results = {parts.attributes.get<Literal>("value").type()};
  }
}

}  // namespace tpu::hlo::text
