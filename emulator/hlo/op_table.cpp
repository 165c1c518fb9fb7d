#include "emulator/hlo/op_table.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "emulator/base/error.h"
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo {
namespace {

using Table = std::array<OpInfo, kNumOpKinds>;

Table build_table() {
  Table table;
  std::array<bool, kNumOpKinds> filled{};
  for (const auto family :
       {ops::elementwise_rows, ops::selection_rows, ops::conversion_rows, ops::creation_rows,
        ops::shaping_rows, ops::indexing_rows, ops::reduction_rows, ops::window_rows,
        ops::contraction_rows, ops::linear_algebra_rows, ops::normalization_rows, ops::control_rows,
        ops::communication_rows, ops::dynamism_rows, ops::untyped_rows}) {
    for (OpInfo& row : family()) {
      const size_t at = static_cast<size_t>(row.kind);
      if (filled[at]) {
        throw std::logic_error("two rows for op " + std::string(mnemonic(row.kind)));
      }
      filled[at] = true;
      table[at] = std::move(row);
    }
  }
  for (int i = 0; i < kNumOpKinds; ++i) {
    if (filled[i]) continue;
    throw std::logic_error("no row for op " + std::string(mnemonic(static_cast<OpKind>(i))));
  }
  return table;
}

bool holds(const Attribute& attribute, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return std::holds_alternative<bool>(attribute);
    case AttributeKind::kI32:
    case AttributeKind::kI64:
      return std::holds_alternative<int64_t>(attribute);
    case AttributeKind::kF32:
    case AttributeKind::kF64:
      return std::holds_alternative<double>(attribute);
    case AttributeKind::kString:
      return std::holds_alternative<std::string>(attribute);
    case AttributeKind::kEnum:
      return std::holds_alternative<EnumValue>(attribute);
    case AttributeKind::kEnumArray:
      return std::holds_alternative<EnumValues>(attribute);
    case AttributeKind::kI64Array:
      return std::holds_alternative<Dims>(attribute);
    case AttributeKind::kBoolArray:
      return std::holds_alternative<std::vector<bool>>(attribute);
    case AttributeKind::kI64Matrix:
      return std::holds_alternative<IntMatrix>(attribute);
    case AttributeKind::kLiteral:
      return std::holds_alternative<Literal>(attribute);
    case AttributeKind::kSymbol:
      return std::holds_alternative<SymbolRef>(attribute);
    case AttributeKind::kSymbolArray:
      return std::holds_alternative<std::vector<SymbolRef>>(attribute);
    case AttributeKind::kDotNumbers:
      return std::holds_alternative<DotDimensionNumbers>(attribute);
    case AttributeKind::kConvNumbers:
      return std::holds_alternative<ConvDimensionNumbers>(attribute);
    case AttributeKind::kGatherNumbers:
      return std::holds_alternative<GatherDimensionNumbers>(attribute);
    case AttributeKind::kScatterNumbers:
      return std::holds_alternative<ScatterDimensionNumbers>(attribute);
  }
  return false;
}

std::string bounds(int min, int max) {
  if (max < 0) return std::to_string(min) + " or more";
  if (min == max) return std::to_string(min);
  return std::to_string(min) + " to " + std::to_string(max);
}

void check_form(const OpView& op, const OpInfo& info) {
  const int operands = static_cast<int>(op.operands.size());
  if (operands < info.min_operands || (info.max_operands >= 0 && operands > info.max_operands)) {
    ops::fail(op, "",
              "takes " + bounds(info.min_operands, info.max_operands) + " operands, got " +
                  std::to_string(operands));
  }
  const int regions = static_cast<int>(op.regions.size());
  if (info.num_regions < 0 ? regions < 1 : regions != info.num_regions) {
    ops::fail(op, "",
              "takes " + (info.num_regions < 0 ? "one or more" : std::to_string(info.num_regions)) +
                  " regions, got " + std::to_string(regions));
  }
  for (const AttributeSpec& spec : info.attributes) {
    const Attribute* attribute = op.attributes.find(spec.name);
    if (!attribute && !spec.required) continue;
    if (!attribute) ops::fail(op, "", "needs attribute '" + std::string(spec.name) + "'");
    if (!holds(*attribute, spec.kind)) {
      ops::fail(op, "", "attribute '" + std::string(spec.name) + "' has the wrong type");
    }
  }
}

std::string row_of_status(const OpInfo& info) {
  const std::string operands = bounds(info.min_operands, info.max_operands);
  const std::string regions = info.num_regions < 0 ? "1 or more" : std::to_string(info.num_regions);
  return "| `" + std::string(mnemonic(info.kind)) + "` | " + operands + " | " + regions + " | " +
         (info.infer ? "yes" : "no") + " | " + (info.implemented ? "yes" : "no") + " |\n";
}

}  // namespace

const OpInfo& op_info(OpKind kind) {
  static const Table table = build_table();
  return table[static_cast<size_t>(kind)];
}

std::vector<TensorType> infer_types(const OpView& op) {
  const OpInfo& info = op_info(op.kind);
  check_form(op, info);
  if (!info.infer) {
    throw Unimplemented("stablehlo." + std::string(mnemonic(op.kind)) +
                        " works on tuples or quantized tensors, which are not supported");
  }
  std::vector<TensorType> inferred = info.infer(op);
  if (op.result_types.empty()) return inferred;
  if (op.result_types.size() != inferred.size()) {
    ops::fail(op, "",
              "has " + std::to_string(inferred.size()) + " result(s), " +
                  std::to_string(op.result_types.size()) + " type(s) were given");
  }
  for (size_t i = 0; i < inferred.size(); ++i) {
    if (inferred[i] == op.result_types[i]) continue;
    ops::fail(op, "",
              "result " + std::to_string(i) + " must have type " + to_string(inferred[i]) +
                  ", was given " + to_string(op.result_types[i]));
  }
  return inferred;
}

bool is_elementwise(const Op& op) {
  if (op.kind() != OpKind::kCustomCall) return op_info(op.kind()).elementwise;
  return op.attributes().get<std::string>("call_target_name").starts_with("chlo.");
}

bool has_side_effects(const Op& op) {
  if (op_info(op.kind()).side_effects) return true;
  if (op.kind() == OpKind::kCustomCall) {
    return op.attributes().get<std::string>("call_target_name") == "tpu.assert" ||
           op.attributes().get_or<bool>("has_side_effect", false);
  }
  for (int i = 0; i < op.num_regions(); ++i) {
    const auto& body = op.region(i).ops();
    if (std::ranges::any_of(body, [](const auto& inner) { return has_side_effects(*inner); })) {
      return true;
    }
  }
  return false;
}

std::string status_table() {
  std::string text =
      "| op | operands | regions | typed and verified | runs |\n"
      "|---|---|---|---|---|\n";
  for (int i = 0; i < kNumOpKinds; ++i) text += row_of_status(op_info(static_cast<OpKind>(i)));
  return text;
}

}  // namespace tpu::hlo
