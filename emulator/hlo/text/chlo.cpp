#include "emulator/hlo/text/chlo.h"

#include <algorithm>
#include <array>

#include "emulator/base/error.h"
#include "emulator/hlo/builder.h"
#include "emulator/hlo/text/syntax.h"

namespace tpu::hlo::text {
namespace {

constexpr std::string_view kPrefix = "chlo.";

// What only a custom_call can have.
constexpr std::array<std::string_view, 4> kCustomCallOnly = {"has_side_effect", "backend_config",
                                                             "api_version", "called_computations"};

const std::string* call_target(const Attributes& attributes) {
  const Attribute* target = attributes.find("call_target_name");
  return target ? std::get_if<std::string>(target) : nullptr;
}

}  // namespace

bool is_chlo_op(std::string_view name) {
  return find_chlo_syntax(name) != nullptr;
}

Attributes chlo_attributes(std::string_view name) {
  return {{"call_target_name", std::string(kPrefix) + std::string(name)}};
}

std::optional<std::string> chlo_name(const Op& op) {
  if (op.kind() != OpKind::kCustomCall || op.num_results() == 0) return std::nullopt;
  const std::string* target = call_target(op.attributes());
  if (!target || !target->starts_with(kPrefix)) return std::nullopt;
  const std::string name = target->substr(kPrefix.size());
  const bool is_more = std::ranges::any_of(
      kCustomCallOnly, [&](std::string_view key) { return op.attributes().contains(key); });
  return is_chlo_op(name) && !is_more ? std::optional(name) : std::nullopt;
}

bool is_top_k(const Attributes& attributes) {
  const std::string* target = call_target(attributes);
  return target && *target == "chlo.top_k";
}

std::vector<Value*> expand_top_k(Block& block, Value* operand, int64_t k) {
  const TensorType& type = operand->type;
  if (type.rank() == 0 || k < 0 || k > type.shape.back()) {
    throw InvalidArgument("chlo.top_k: k = " + std::to_string(k) + " of " + to_string(type) +
                          ", expected 0 <= k <= the last dimension");
  }
  Builder builder(block);
  const int64_t dimension = type.rank() - 1;
  Value* positions = builder.iota({ElementType::kSI32, type.shape}, dimension);
  const auto is_before = [](Builder& b, std::span<Value* const> arguments) {
    Value* greater = b.compare(arguments[0], arguments[1], "GT");
    const bool is_ordered = !is_float(arguments[0]->type.element);
    if (!is_ordered) greater->def->attributes().set("compare_type", EnumValue{"TOTALORDER"});
    b.ret({greater});
  };
  const std::vector<Value*> sorted =
      builder.sort({operand, positions}, dimension, /*is_stable=*/true, is_before);
  const Dims starts(type.rank(), 0), strides(type.rank(), 1);
  Dims limits = type.shape;
  limits.back() = k;
  return {builder.slice(sorted[0], starts, limits, strides),
          builder.slice(sorted[1], starts, limits, strides)};
}

}  // namespace tpu::hlo::text
