#include "emulator/hlo/text/syntax.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {
namespace {

// In a format, `{name}` is a directive or an attribute, `[...]` an optional part.

constexpr std::string_view kUnary = " {operand}{dict} : {same}";
constexpr std::string_view kBinary = " {operand}, {operand}{dict} : {same}";
constexpr std::string_view kPlain = " {operands}{dict} : {functional}";

using Format = std::pair<OpKind, std::string_view>;

constexpr auto kFormats = std::to_array<Format>({
    {OpKind::kAbs, kUnary},
    {OpKind::kAdd, kBinary},
    {OpKind::kAfterAll, " {operands}{dict} : {same}"},
    {OpKind::kAnd, kBinary},
    {OpKind::kAtan2, kBinary},
    {OpKind::kBitcastConvert, kPlain},
    {OpKind::kBroadcastInDim, " {operand}, dims = {broadcast_dimensions}{dict} : {functional}"},
    {OpKind::kCall, " {callee}({operands}){dict} : {functional}"},
    {OpKind::kCbrt, kUnary},
    {OpKind::kCeil, kUnary},
    {OpKind::kCholesky, " {operand}[, lower = {lower}]{dict} : {same}"},
    {OpKind::kClamp, " {operand}, {operand}, {operand}{dict} : {same}"},
    {OpKind::kCompare,
     " {comparison_direction}, {operand}, {operand}[, {compare_type}]{dict} : {functional}"},
    {OpKind::kComplex, " {operand}, {operand}{dict} : {complex}"},
    {OpKind::kComposite, " {name} {operands}{dict} : {functional}"},
    {OpKind::kConcatenate, " {operands}, dim = {dimension}{dict} : {functional}"},
    {OpKind::kConstant, "{dict} {value}"},
    {OpKind::kConvert, kUnary},
    {OpKind::kConvolution,
     "({operands}) dim_numbers = {dimension_numbers}, window = {window}{dict} : {functional}"},
    {OpKind::kCosine, kUnary},
    {OpKind::kCountLeadingZeros, kUnary},
    {OpKind::kCustomCall, " {target}({operands}){dict} : {functional}"},
    {OpKind::kDivide, kBinary},
    {OpKind::kDotGeneral,
     " {operand}, {operand}, {dot_dimension_numbers}[, precision = {precision_config}]"
     "[, algorithm = {algorithm}]{dict} : {functional}"},
    {OpKind::kDynamicBroadcastInDim,
     " {operand}, {operand}, dims = {broadcast_dimensions}{dict} : {functional}"},
    {OpKind::kDynamicIota, " {operand}, dim = {iota_dimension}{dict} : {functional}"},
    {OpKind::kDynamicPad, kPlain},
    {OpKind::kDynamicReshape, kPlain},
    {OpKind::kDynamicSlice, " {operands}, sizes = {slice_sizes}{dict} : {functional}"},
    {OpKind::kDynamicUpdateSlice, kPlain},
    {OpKind::kExponential, kUnary},
    {OpKind::kExponentialMinusOne, kUnary},
    {OpKind::kFft, " {operand}, type = {fft_type}, length = {fft_length}{dict} : {functional}"},
    {OpKind::kFloor, kUnary},
    {OpKind::kGetDimensionSize, " {operand}, dim = {dimension}{dict} : {functional}"},
    {OpKind::kImag, kUnary},
    {OpKind::kIota, " dim = {iota_dimension}{dict} : {results}"},
    {OpKind::kIsFinite, kPlain},
    {OpKind::kLog, kUnary},
    {OpKind::kLogPlusOne, kUnary},
    {OpKind::kLogistic, kUnary},
    {OpKind::kMaximum, kBinary},
    {OpKind::kMinimum, kBinary},
    {OpKind::kMultiply, kBinary},
    {OpKind::kNegate, kUnary},
    {OpKind::kNot, kUnary},
    {OpKind::kOptimizationBarrier, "{dict} {operands} : {each}"},
    {OpKind::kOr, kBinary},
    {OpKind::kPad,
     " {operand}, {operand}, low = {edge_padding_low}, high = {edge_padding_high}, "
     "interior = {interior_padding}{dict} : {functional}"},
    {OpKind::kPartitionId, "{dict} : {results}"},
    {OpKind::kPopcnt, kUnary},
    {OpKind::kPower, kBinary},
    {OpKind::kReal, kUnary},
    {OpKind::kRealDynamicSlice, kPlain},
    {OpKind::kReducePrecision, " {operand}, format = {exponent_mantissa}{dict} : {same}"},
    {OpKind::kRemainder, kBinary},
    {OpKind::kReplicaId, "{dict} : {results}"},
    {OpKind::kReshape, kPlain},
    {OpKind::kReverse, " {operand}, dims = {dimensions}{dict} : {same}"},
    {OpKind::kRng,
     " {operand}, {operand}, {operand}, distribution = {rng_distribution}{dict} : {functional}"},
    {OpKind::kRngBitGenerator, " {operand}, algorithm = {rng_algorithm}{dict} : {functional}"},
    {OpKind::kRoundNearestAfz, kUnary},
    {OpKind::kRoundNearestEven, kUnary},
    {OpKind::kRsqrt, kUnary},
    {OpKind::kSelect, " {operand}, {operand}, {operand}{dict} : {select}"},
    {OpKind::kShiftLeft, kBinary},
    {OpKind::kShiftRightArithmetic, kBinary},
    {OpKind::kShiftRightLogical, kBinary},
    {OpKind::kSign, kUnary},
    {OpKind::kSine, kUnary},
    {OpKind::kSlice, " {operand} {slice_ranges}{dict} : {functional}"},
    {OpKind::kSqrt, kUnary},
    {OpKind::kSubtract, kBinary},
    {OpKind::kTan, kUnary},
    {OpKind::kTanh, kUnary},
    {OpKind::kTranspose, " {operand}, dims = {permutation}{dict} : {functional}"},
    {OpKind::kXor, kBinary},
});

using ChloFormat = std::pair<std::string_view, std::string_view>;

constexpr std::string_view kChloUnary = " {operand}{dict} : {arrow}";
constexpr std::string_view kChloBinary = " {operand}, {operand}{dict} : {arrow}";

// CHLO ops whose operands and results all have one type, and top_k.
constexpr auto kChloFormats = std::to_array<ChloFormat>({
    {"acos", kChloUnary},
    {"acosh", kChloUnary},
    {"asin", kChloUnary},
    {"asinh", kChloUnary},
    {"atan", kChloUnary},
    {"atanh", kChloUnary},
    {"bessel_i1e", kChloUnary},
    {"conj", kChloUnary},
    {"cosh", kChloUnary},
    {"digamma", kChloUnary},
    {"erf", kChloUnary},
    {"erf_inv", kChloUnary},
    {"erfc", kChloUnary},
    {"lgamma", kChloUnary},
    {"mulhi", kChloBinary},
    {"next_after", kChloBinary},
    {"polygamma", kChloBinary},
    {"sinh", kChloUnary},
    {"square", kChloUnary},
    {"tan", kChloUnary},
    {"top_k", "({operand}, k = {k}){dict} : {arrow}"},
    {"zeta", kChloBinary},
});

constexpr auto kDirectives = std::to_array<std::pair<std::string_view, PieceKind>>({
    {"operand", PieceKind::kOperand},
    {"operands", PieceKind::kOperands},
    {"dict", PieceKind::kDictionary},
    {"slice_ranges", PieceKind::kSliceRanges},
    {"window", PieceKind::kWindow},
    {"exponent_mantissa", PieceKind::kExponentMantissa},
    {"target", PieceKind::kTarget},
});

constexpr auto kTypeDirectives = std::to_array<std::pair<std::string_view, TypesForm>>({
    {"functional", TypesForm::kFunctional},
    {"same", TypesForm::kSame},
    {"select", TypesForm::kSelect},
    {"complex", TypesForm::kComplex},
    {"each", TypesForm::kEach},
    {"results", TypesForm::kResults},
    {"arrow", TypesForm::kArrow},
});

template <class Table>
auto lookup(const Table& table, std::string_view name)
    -> std::optional<decltype(table.front().second)> {
  for (const auto& [key, value] : table) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Piece directive(std::string_view name) {
  Piece piece;
  if (const auto kind = lookup(kDirectives, name)) {
    piece.kind = *kind;
  } else if (const auto types = lookup(kTypeDirectives, name)) {
    piece.kind = PieceKind::kTypes;
    piece.types = *types;
  } else {
    piece.kind = PieceKind::kAttribute;
    piece.text = name;
  }
  return piece;
}

Piece literal_piece(std::string_view text) {
  Piece piece;
  piece.text = text;
  Lexer lexer(text);
  while (!lexer.at(TokenKind::kEnd)) piece.tokens.push_back(lexer.take().text);
  return piece;
}

Syntax compile(std::string_view format) {
  Syntax syntax;
  while (!format.empty()) {
    const size_t special = format.find_first_of("{[");
    if (special != 0) {
      syntax.push_back(literal_piece(format.substr(0, special)));
      format.remove_prefix(std::min(special, format.size()));
      continue;
    }
    const size_t end = format.find(format[0] == '{' ? '}' : ']');
    const std::string_view inside = format.substr(1, end - 1);
    if (format[0] == '{') {
      syntax.push_back(directive(inside));
    } else {
      syntax.push_back({.kind = PieceKind::kOptional,
                        .text = {},
                        .tokens = {},
                        .types = {},
                        .optional = compile(inside)});
    }
    format.remove_prefix(end + 1);
  }
  return syntax;
}

template <class Key, class Formats>
std::map<Key, Syntax> compile_all(const Formats& formats) {
  std::map<Key, Syntax> all;
  for (const auto& [key, format] : formats) all.emplace(key, compile(format));
  return all;
}

}  // namespace

const Syntax* find_syntax(OpKind kind) {
  static const std::map<OpKind, Syntax> all = compile_all<OpKind>(kFormats);
  const auto found = all.find(kind);
  return found == all.end() ? nullptr : &found->second;
}

const Syntax* find_chlo_syntax(std::string_view name) {
  static const std::map<std::string_view, Syntax> all = compile_all<std::string_view>(kChloFormats);
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

std::vector<std::string_view> attributes_in_place(const Syntax& syntax) {
  std::vector<std::string_view> names;
  const auto add = [&](std::initializer_list<std::string_view> more) {
    names.insert(names.end(), more);
  };
  for (const Piece& piece : syntax) {
    switch (piece.kind) {
      case PieceKind::kAttribute:
        add({piece.text});
        break;
      case PieceKind::kOptional:
        for (const std::string_view name : attributes_in_place(piece.optional)) add({name});
        break;
      case PieceKind::kSliceRanges:
        add({"start_indices", "limit_indices", "strides"});
        break;
      case PieceKind::kWindow:
        add({"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"});
        break;
      case PieceKind::kExponentMantissa:
        add({"exponent_bits", "mantissa_bits"});
        break;
      case PieceKind::kTarget:
        add({"call_target_name"});
        break;
      default:
        break;
    }
  }
  return names;
}

}  // namespace tpu::hlo::text
