#include "emulator/hlo/ops/checks.h"

#include <algorithm>

#include "emulator/base/error.h"

namespace tpu::hlo::ops {
namespace {

std::string join(std::span<const TensorType> types) {
  std::string text;
  for (const TensorType& type : types) {
    if (!text.empty()) text += ", ";
    text += to_string(type);
  }
  return text;
}

std::string class_names(unsigned classes) {
  constexpr std::pair<TypeClass, std::string_view> kNames[] = {
      {kBool, "boolean"}, {kSigned, "signed integer"}, {kUnsigned, "unsigned integer"},
      {kFloat, "float"},  {kComplex, "complex"},       {kToken, "token"}};
  std::string text;
  for (const auto& [bit, name] : kNames) {
    if (!(classes & bit)) continue;
    if (!text.empty()) text += " or ";
    text += name;
  }
  return text;
}

std::string list_text(std::span<const int64_t> values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(values[i]);
  }
  return text + "]";
}

// The attributes a reader needs to see the mistake; large ones and dimension numbers are named
// by their kind only.
std::string to_text(const Attribute& attribute) {
  if (const auto* flag = std::get_if<bool>(&attribute)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&attribute)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&attribute)) return "\"" + *text + "\"";
  if (const auto* value = std::get_if<EnumValue>(&attribute)) return value->value;
  if (const auto* dims = std::get_if<Dims>(&attribute)) return list_text(*dims);
  if (const auto* matrix = std::get_if<IntMatrix>(&attribute)) {
    return std::to_string(matrix->rows) + "x" + std::to_string(matrix->columns) +
           list_text(matrix->values);
  }
  if (const auto* numbers = std::get_if<DotDimensionNumbers>(&attribute)) {
    return "batching " + list_text(numbers->lhs_batching_dimensions) + " x " +
           list_text(numbers->rhs_batching_dimensions) + ", contracting " +
           list_text(numbers->lhs_contracting_dimensions) + " x " +
           list_text(numbers->rhs_contracting_dimensions);
  }
  return "...";
}

std::string describe(const OpView& op) {
  std::string text = "stablehlo." + std::string(mnemonic(op.kind)) + "(";
  text += join(operand_types(op)) + ")";
  std::string attributes;
  for (const auto& [name, value] : op.attributes) {
    attributes += (attributes.empty() ? "" : ", ") + name + " = " + to_text(value);
  }
  if (!attributes.empty()) text += " {" + attributes + "}";
  return text;
}

}  // namespace

TypeClass type_class(ElementType type) {
  if (is_float(type)) return kFloat;
  if (is_signed_integer(type)) return kSigned;
  if (is_unsigned_integer(type)) return kUnsigned;
  if (is_boolean(type)) return kBool;
  return is_complex(type) ? kComplex : kToken;
}

void fail(const OpView& op, std::string_view label, std::string_view problem) {
  std::string text = describe(op) + ": " + std::string(problem);
  if (!label.empty()) {
    text += " [" + std::string(mnemonic(op.kind)) + "_" + std::string(label) + "]";
  }
  throw InvalidArgument(text);
}

void require_class(const OpView& op, int operand, unsigned classes) {
  const ElementType type = type_of(op, operand).element;
  if (type_class(type) & classes) return;
  fail(op, "i" + std::to_string(operand + 1),
       "operand " + std::to_string(operand) + " must be " + class_names(classes) + ", is " +
           std::string(name(type)));
}

void require_rank(const OpView& op, int operand, int rank) {
  if (type_of(op, operand).rank() == rank) return;
  fail(op, "i" + std::to_string(operand + 1),
       "operand " + std::to_string(operand) + " must have rank " + std::to_string(rank));
}

void require_index_scalars(const OpView& op, int first, std::string_view label) {
  for (int i = first; i < static_cast<int>(op.operands.size()); ++i) {
    require_class(op, i, kInteger);
    require_rank(op, i, 0);
    require(op, type_of(op, i) == type_of(op, first), label,
            "all start indices must have one type");
  }
}

void require_given_results(const OpView& op, size_t count) {
  if (op.result_types.size() == count) return;
  fail(op, "",
       "needs " + std::to_string(count) + " result type(s), got " +
           std::to_string(op.result_types.size()));
}

bool is_unique(std::span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (values[i] == values[j]) return false;
    }
  }
  return true;
}

bool is_sorted(std::span<const int64_t> values) {
  return std::ranges::is_sorted(values);
}

bool all_within(std::span<const int64_t> values, int64_t low, int64_t high) {
  return std::ranges::all_of(values, [&](int64_t v) { return low <= v && v < high; });
}

bool contains(std::span<const int64_t> values, int64_t value) {
  return std::ranges::find(values, value) != values.end();
}

Dims concatenated(const Dims& a, const Dims& b) {
  Dims all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> choices) {
  return std::ranges::find(choices, text) != choices.end();
}

bool is_promotable(ElementType from, ElementType to) {
  if (from == to) return true;
  const bool same_kind = (is_integer(from) && is_integer(to)) || (is_float(from) && is_float(to)) ||
                         (is_complex(from) && is_complex(to));
  return same_kind && bit_width(from) <= bit_width(to);
}

std::vector<TensorType> operand_types(const OpView& op) {
  std::vector<TensorType> types;
  types.reserve(op.operands.size());
  for (const Value* operand : op.operands) types.push_back(operand->type);
  return types;
}

std::vector<TensorType> block_argument_types(const Block& block) {
  std::vector<TensorType> types;
  types.reserve(block.arguments().size());
  for (const auto& argument : block.arguments()) types.push_back(argument->type);
  return types;
}

std::vector<TensorType> block_result_types(const OpView& op, int region) {
  const Block& block = *op.regions[region];
  if (block.ops().empty() || block.ops().back()->kind() != OpKind::kReturn) {
    fail(op, "", "region " + std::to_string(region) + " must end in 'return'");
  }
  std::vector<TensorType> types;
  for (const Value* value : block.ops().back()->operands()) types.push_back(value->type);
  return types;
}

void require_signature(const OpView& op, int region, std::span<const TensorType> arguments,
                       std::span<const TensorType> results, std::string_view label) {
  const std::vector<TensorType> got_arguments = block_argument_types(*op.regions[region]);
  const std::vector<TensorType> got_results = block_result_types(op, region);
  if (std::ranges::equal(got_arguments, arguments) && std::ranges::equal(got_results, results)) {
    return;
  }
  fail(op, label,
       "region " + std::to_string(region) + " must have type (" + join(arguments) + ") -> (" +
           join(results) + "), has (" + join(got_arguments) + ") -> (" + join(got_results) + ")");
}

std::vector<ElementType> require_combiner(const OpView& op, int region, int count,
                                          std::string_view label) {
  const std::vector<TensorType> results = block_result_types(op, region);
  std::vector<TensorType> arguments = results;
  arguments.insert(arguments.end(), results.begin(), results.end());
  require_signature(op, region, arguments, results, label);
  if (static_cast<int>(results.size()) != count) {
    fail(op, label, "the body must return " + std::to_string(count) + " value(s)");
  }
  std::vector<ElementType> elements;
  for (int i = 0; i < count; ++i) {
    require(op, results[i].rank() == 0, label, "the body must work on scalars");
    require(op, is_promotable(type_of(op, i).element, results[i].element), label,
            "the operand's element type must be promotable to the body's");
    elements.push_back(results[i].element);
  }
  return elements;
}

Dims dims_or(const OpView& op, std::string_view name, int count, int64_t fallback) {
  if (op.attributes.contains(name)) return op.attributes.get<Dims>(name);
  return Dims(count, fallback);
}

}  // namespace tpu::hlo::ops
