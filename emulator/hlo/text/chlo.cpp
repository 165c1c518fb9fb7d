#include "emulator/hlo/text/chlo.h"

#include <algorithm>
#include <array>

#include "emulator/hlo/text/syntax.h"

namespace tpu::hlo::text {
namespace {

constexpr std::string_view kPrefix = "chlo.";

// What only a custom_call can have.
constexpr std::array<std::string_view, 4> kCustomCallOnly = {"has_side_effect", "backend_config",
                                                             "api_version", "called_computations"};

}  // namespace

Attributes chlo_attributes(std::string_view name) {
  return {{"call_target_name", std::string(kPrefix) + std::string(name)}};
}

std::optional<std::string> chlo_name(const Op& op) {
  if (op.kind() != OpKind::kCustomCall || op.num_results() == 0) return std::nullopt;
  const Attribute* target = op.attributes().find("call_target_name");
  const auto* name = target ? std::get_if<std::string>(target) : nullptr;
  if (!name || !name->starts_with(kPrefix)) return std::nullopt;
  const std::string bare = name->substr(kPrefix.size());
  const bool is_more = std::ranges::any_of(
      kCustomCallOnly, [&](std::string_view key) { return op.attributes().contains(key); });
  return is_chlo_op(bare) && !is_more ? std::optional(bare) : std::nullopt;
}

}  // namespace tpu::hlo::text
