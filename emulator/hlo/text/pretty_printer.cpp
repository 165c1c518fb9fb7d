#include "emulator/hlo/text/pretty_printer.h"

#include <algorithm>
#include <utility>

#include "emulator/hlo/text/attribute_text.h"
#include "emulator/hlo/text/chlo.h"
#include "emulator/hlo/text/dictionary_text.h"
#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo::text {
namespace {

// Walks a syntax's pieces along an op. `fits_` turns false where the op does not fit.
class Writer {
 public:
  Writer(const Op& op, const Syntax& syntax, const ValueNames& names)
      : op_(op), names_(names), in_place_(attributes_in_place(syntax)) {
    if (chlo_name(op)) in_place_.push_back("call_target_name");  // The op's name says it.
  }

  std::optional<std::string> write(const Syntax& syntax) {
    write_pieces(syntax);
    const bool all_written = next_operand_ == static_cast<int>(op_.operands().size());
    if (!fits_ || !all_written || op_.num_regions() != 0) return std::nullopt;
    return std::move(out_);
  }

 private:
  void write_pieces(const Syntax& syntax);
  void write_piece(const Piece& piece);
  void write_operand();
  void write_attribute(std::string_view name);
  void write_slice_ranges();
  void write_window();
  void write_types(TypesForm form);
  std::optional<std::string> short_types(TypesForm form) const;

  bool has_all(std::span<const std::string_view> names) const {
    return std::ranges::all_of(
        names, [&](std::string_view name) { return op_.attributes().contains(name); });
  }
  template <class T>
  const T* get(std::string_view name) {
    const Attribute* found = op_.attributes().find(name);
    const T* value = found ? std::get_if<T>(found) : nullptr;
    fits_ &= value != nullptr;
    return value;
  }

  const Op& op_;
  const ValueNames& names_;
  std::vector<std::string_view> in_place_;
  std::string out_;
  int next_operand_ = 0;
  bool fits_ = true;
};

void Writer::write_pieces(const Syntax& syntax) {
  for (const Piece& piece : syntax) write_piece(piece);
}

void Writer::write_piece(const Piece& piece) {
  switch (piece.kind) {
    case PieceKind::kText:
      out_ += piece.text;
      break;
    case PieceKind::kOperand:
      write_operand();
      break;
    case PieceKind::kOperands:
      for (bool first = true; next_operand_ < static_cast<int>(op_.operands().size());) {
        if (!std::exchange(first, false)) out_ += ", ";
        write_operand();
      }
      break;
    case PieceKind::kAttribute:
      write_attribute(piece.text);
      break;
    case PieceKind::kDictionary:
      out_ += dictionary_text(op_.kind(), op_.attributes(), in_place_);
      break;
    case PieceKind::kOptional:
      if (has_all(attributes_in_place(piece.optional))) write_pieces(piece.optional);
      break;
    case PieceKind::kSliceRanges:
      write_slice_ranges();
      break;
    case PieceKind::kWindow:
      write_window();
      break;
    case PieceKind::kExponentMantissa: {
      const auto* exponent = get<int64_t>("exponent_bits");
      const auto* mantissa = get<int64_t>("mantissa_bits");
      if (fits_) out_ += "e" + std::to_string(*exponent) + "m" + std::to_string(*mantissa);
      break;
    }
    case PieceKind::kTarget:
      if (const auto* target = get<std::string>("call_target_name")) out_ += symbol(*target);
      break;
    case PieceKind::kTypes:
      write_types(piece.types);
      break;
  }
}

void Writer::write_operand() {
  fits_ &= next_operand_ < static_cast<int>(op_.operands().size());
  if (fits_) out_ += names_[op_.operand(next_operand_++)];
}

void Writer::write_attribute(std::string_view name) {
  const Attribute* value = op_.attributes().find(name);
  fits_ &= value != nullptr;
  if (value) out_ += attribute_text(*value, find_spec(op_.kind(), name), Spelling::kInline);
}

void Writer::write_slice_ranges() {
  const auto* starts = get<Dims>("start_indices");
  const auto* limits = get<Dims>("limit_indices");
  const auto* strides = get<Dims>("strides");
  fits_ = fits_ && starts->size() == limits->size() && starts->size() == strides->size();
  if (!fits_) return;
  out_ += '[';
  for (size_t i = 0; i < starts->size(); ++i) {
    if (i) out_ += ", ";
    out_ += std::to_string((*starts)[i]) + ":" + std::to_string((*limits)[i]);
    if ((*strides)[i] != 1) out_ += ":" + std::to_string((*strides)[i]);
  }
  out_ += ']';
}

std::string padding_text(const IntMatrix& padding) {
  std::string text;
  for (int64_t row = 0; row < padding.rows; ++row) {
    const auto first = padding.values.begin() + row * padding.columns;
    text += (row ? ", " : "") + list(Dims(first, first + padding.columns));
  }
  return "[" + text + "]";
}

void Writer::write_window() {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"stride", "window_strides"},
      {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"},
      {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"}};
  std::string items;
  for (const auto& [key, name] : kParts) {
    const Attribute* value = op_.attributes().find(name);
    if (!value) continue;
    const auto* padding = std::get_if<IntMatrix>(value);
    if (!items.empty()) items += ", ";
    items +=
        std::string(key) + " = " +
        (padding ? padding_text(*padding) : attribute_text(*value, nullptr, Spelling::kInline));
  }
  out_ += "{" + items + "}";
}

// The short form, if the types are as it says.
std::optional<std::string> Writer::short_types(TypesForm form) const {
  const std::vector<TensorType> from = operand_types(op_), to = result_types(op_);
  const auto all_are = [](std::span<const TensorType> types, const TensorType& type) {
    return std::ranges::all_of(types, [&](const TensorType& other) { return other == type; });
  };
  if (form == TypesForm::kEach) return from == to ? std::optional(types_text(to)) : std::nullopt;
  if (form == TypesForm::kResults) {
    return from.empty() ? std::optional(types_text(to)) : std::nullopt;
  }
  if (to.size() != 1) return std::nullopt;
  switch (form) {
    case TypesForm::kSame:
      return all_are(from, to[0]) ? std::optional(to_string(to[0])) : std::nullopt;
    case TypesForm::kSelect:
      if (from.size() != 3 || !all_are(std::span(from).subspan(1), to[0])) return std::nullopt;
      return to_string(from[0]) + ", " + to_string(to[0]);
    case TypesForm::kComplex: {
      const TensorType part{real_part(to[0].element), to[0].shape};
      return is_complex(to[0].element) && all_are(from, part) ? std::optional(to_string(to[0]))
                                                              : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

void Writer::write_types(TypesForm form) {
  const FunctionType type{operand_types(op_), result_types(op_)};
  if (form == TypesForm::kArrow) {
    const std::string results = types_text(type.results);
    out_ += types_text(type.operands) + " -> " +
            (type.results.size() == 1 ? results : "(" + results + ")");
    return;
  }
  const std::optional<std::string> text =
      form == TypesForm::kFunctional ? std::nullopt : short_types(form);
  // Lists of types have no long form.
  fits_ &= text || (form != TypesForm::kEach && form != TypesForm::kResults);
  out_ += text ? *text : function_type_text(type);
}

}  // namespace

std::optional<std::string> pretty_text(const Op& op, const Syntax& syntax,
                                       const ValueNames& names) {
  return Writer(op, syntax, names).write(syntax);
}

std::string operands_text(const Op& op, const ValueNames& names) {
  std::string text;
  for (const Value* operand : op.operands()) {
    if (!text.empty()) text += ", ";
    text += names[operand];
  }
  return text;
}

}  // namespace tpu::hlo::text
