#include "emulator/tensorcore/mxu/numerics.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"

namespace tpu::tensorcore {
namespace {

constexpr Pass kOnePass[] = {{0, 0}};
constexpr Pass kThreePasses[] = {{1, 0}, {0, 1}, {0, 0}};
constexpr Pass kSixPasses[] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};

Precision precision_from_name(const std::string& name) {
  if (name == "DEFAULT") return Precision::kDefault;
  if (name == "HIGH") return Precision::kHigh;
  if (name == "HIGHEST") return Precision::kHighest;
  throw InvalidArgument("precision_config holds '" + name + "'; expected DEFAULT, HIGH or HIGHEST");
}

std::span<const Pass> passes_of(Precision precision) {
  if (precision == Precision::kHighest) return kSixPasses;
  if (precision == Precision::kHigh) return kThreePasses;
  return kOnePass;
}

}  // namespace

Precision precision_of(const hlo::Attributes& attributes) {
  Precision highest = Precision::kDefault;
  for (const hlo::EnumValue& asked : attributes.get_or<hlo::EnumValues>("precision_config", {})) {
    highest = std::max(highest, precision_from_name(asked.value));
  }
  return highest;
}

PassPlan plan_passes(Precision asked, hlo::ElementType lhs, hlo::ElementType rhs) {
  using hlo::ElementType;
  const auto either = [&](ElementType type) {
    return hlo::real_part(lhs) == type || hlo::real_part(rhs) == type;
  };
  if (either(ElementType::kF64) || !either(ElementType::kF32)) return {false, 1, kOnePass};
  if (hlo::is_complex(lhs)) asked = Precision::kHighest;
  const int parts = asked == Precision::kHighest ? 3 : asked == Precision::kHigh ? 2 : 1;
  return {true, parts, passes_of(asked)};
}

std::array<float, 3> split_bf16(float x) {
  const float h = round_to_bf16(x);
  if (!std::isfinite(h)) return {h, 0.0f, 0.0f};
  const float rest = x - h;  // exact, and so is the next: the parts' bits do not overlap
  const float m = round_to_bf16(rest);
  return {h, m, round_to_bf16(rest - m)};
}

Arithmetic arithmetic_of(hlo::ElementType lhs, hlo::ElementType rhs, hlo::ElementType result) {
  using hlo::ElementType;
  const auto all = [&](auto&& predicate) {
    return predicate(lhs) && predicate(rhs) && predicate(result);
  };
  if (all(hlo::is_boolean)) return Arithmetic::kBoolean;
  if (all(hlo::is_integer)) return Arithmetic::kInteger;
  if (all(hlo::is_float)) {
    const bool wide = lhs == ElementType::kF64 || rhs == ElementType::kF64;
    return wide ? Arithmetic::kF64 : Arithmetic::kF32;
  }
  if (lhs == rhs && rhs == result && hlo::is_complex(lhs)) {
    return lhs == ElementType::kComplexF32 ? Arithmetic::kComplexF32 : Arithmetic::kComplexF64;
  }
  throw InvalidArgument("a product of " + std::string(hlo::name(lhs)) + " and " +
                        std::string(hlo::name(rhs)) + " cannot give " +
                        std::string(hlo::name(result)) +
                        "; expected all floats, all integers, all i1 or one complex type");
}

}  // namespace tpu::tensorcore
