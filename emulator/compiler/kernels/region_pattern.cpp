#include "emulator/compiler/kernels/region_pattern.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;
using Direction = RegionPattern::Direction;
using Kind = RegionPattern::Kind;

constexpr std::array<std::pair<std::string_view, Direction>, 6> kDirections = {{
    {"EQ", Direction::kEq},
    {"NE", Direction::kNe},
    {"GE", Direction::kGe},
    {"GT", Direction::kGt},
    {"LE", Direction::kLe},
    {"LT", Direction::kLt},
}};

Direction direction_of(const Op& compare) {
  const std::string& text = compare.attributes().get_enum("comparison_direction");
  for (const auto& [name, direction] : kDirections) {
    if (name == text) return direction;
  }
  return Direction::kEq;  // not reached in a verified module
}

// What a < b is called when it is written b > a.
Direction swapped(Direction direction) {
  switch (direction) {
    case Direction::kGe:
      return Direction::kLe;
    case Direction::kGt:
      return Direction::kLt;
    case Direction::kLe:
      return Direction::kGe;
    case Direction::kLt:
      return Direction::kGt;
    default:
      return direction;
  }
}

bool is_commutative(OpKind kind) {
  switch (kind) {
    case OpKind::kAdd:
    case OpKind::kAnd:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kMultiply:
    case OpKind::kOr:
    case OpKind::kXor:
      return true;
    default:
      return false;
  }
}

bool is_binary(OpKind kind) {
  switch (kind) {
    case OpKind::kDivide:
    case OpKind::kPower:
    case OpKind::kRemainder:
    case OpKind::kSubtract:
      return true;
    default:
      return is_commutative(kind);
  }
}

const Op* defined_by(const Value* value, OpKind kind) {
  return value->def && value->def->kind() == kind ? value->def : nullptr;
}

// The number of the block's argument that `value` is, or -1.
int argument_number(const Block& block, const Value* value) {
  return value->block == &block && !value->def ? value->index : -1;
}

// A scalar constant's value, through a broadcast of nothing to nothing.
std::optional<double> scalar_constant(const Value* value) {
  const Op* constant = defined_by(value, OpKind::kConstant);
  if (!constant) return std::nullopt;
  const auto& literal = constant->attributes().get<hlo::Literal>("value");
  if (literal.type().num_elements() != 1) return std::nullopt;
  return hlo::decode_double(literal, 0);
}

// select(compare DIRECTION x y, on_true, on_false) taken apart.
struct Choice {
  Direction direction;
  const Value* lhs;
  const Value* rhs;
  const Value* on_true;
  const Value* on_false;
};

std::optional<Choice> as_choice(const Value* value) {
  const Op* select = defined_by(value, OpKind::kSelect);
  const Op* compare = select ? defined_by(select->operand(0), OpKind::kCompare) : nullptr;
  if (!compare) return std::nullopt;
  return Choice{direction_of(*compare), compare->operand(0), compare->operand(1),
                select->operand(1), select->operand(2)};
}

// An argument as a comparison sees it.
struct Key {
  int argument = -1;
  bool canonical_zero = false;
  bool canonical_nan = false;
};

Key strip_canonical(const Block& block, const Value* value) {
  Key key;
  if (auto choice = as_choice(value);
      choice && choice->direction == Direction::kNe && choice->lhs == choice->rhs) {
    const std::optional<double> nan = scalar_constant(choice->on_true);
    if (!nan || *nan == *nan) return key;
    key.canonical_nan = true;
    value = choice->on_false;
    const int tested = argument_number(block, choice->lhs);
    const auto inner = as_choice(value);
    const int chosen = argument_number(block, inner ? inner->on_false : value);
    if (tested < 0 || tested != chosen) return key;
  }
  if (auto choice = as_choice(value); choice && choice->direction == Direction::kEq) {
    const std::optional<double> compared = scalar_constant(choice->rhs);
    const std::optional<double> chosen = scalar_constant(choice->on_true);
    if (compared != 0.0 || chosen != 0.0 || choice->lhs != choice->on_false) return key;
    if (1.0 / *chosen < 0) return key;  // -0 is not the canonical zero
    key.canonical_zero = true;
    value = choice->on_false;
  }
  key.argument = argument_number(block, value);
  return key;
}

bool is_total_order(const Op& compare) {
  const auto* type = compare.attributes().find("compare_type");
  const auto* spelled = type ? std::get_if<hlo::EnumValue>(type) : nullptr;
  return spelled && spelled->value == "TOTALORDER";
}

RegionPattern compare_pattern(const Block& block, const Op& compare) {
  const Key lhs = strip_canonical(block, compare.operand(0));
  const Key rhs = strip_canonical(block, compare.operand(1));
  const bool same_pair = lhs.argument >= 0 && rhs.argument >= 0 && lhs.argument != rhs.argument &&
                         lhs.argument / 2 == rhs.argument / 2;
  if (!same_pair || lhs.canonical_zero != rhs.canonical_zero ||
      lhs.canonical_nan != rhs.canonical_nan) {
    return {};
  }
  RegionPattern pattern;
  pattern.kind = Kind::kCompare;
  pattern.direction = direction_of(compare);
  if (lhs.argument > rhs.argument) pattern.direction = swapped(pattern.direction);
  pattern.total_order = is_total_order(compare);
  pattern.canonical_zero = lhs.canonical_zero;
  pattern.canonical_nan = lhs.canonical_nan;
  pattern.pair = lhs.argument / 2;
  return pattern;
}

// The argument that `value` tests for NaN (compare NE x x), or -1.
int tested_for_nan(const Block& block, const Value* value) {
  const Op* compare = defined_by(value, OpKind::kCompare);
  if (!compare || direction_of(*compare) != Direction::kNe) return -1;
  if (compare->operand(0) != compare->operand(1) || is_total_order(*compare)) return -1;
  return argument_number(block, compare->operand(0));
}

// "x is NaN and y is not": {x, y}, or {-1, -1}.
std::pair<int, int> only_first_is_nan(const Block& block, const Value* value) {
  const Op* both = defined_by(value, OpKind::kAnd);
  if (!both) return {-1, -1};
  for (int i : {0, 1}) {
    const Op* negation = defined_by(both->operand(1 - i), OpKind::kNot);
    const int x = tested_for_nan(block, both->operand(i));
    const int y = negation ? tested_for_nan(block, negation->operand(0)) : -1;
    if (x >= 0 && y >= 0) return {x, y};
  }
  return {-1, -1};
}

// compare LT x y, or y is NaN and x is not; and the same with GT and NaN on the other side.
RegionPattern nan_last_pattern(const Block& block, const Op& either) {
  for (int i : {0, 1}) {
    const Op* compare = defined_by(either.operand(i), OpKind::kCompare);
    if (!compare) continue;
    RegionPattern pattern = compare_pattern(block, *compare);
    if (pattern.kind != Kind::kCompare || pattern.total_order || pattern.canonical_zero ||
        pattern.canonical_nan) {
      continue;
    }
    const bool ascending = pattern.direction == Direction::kLt;
    if (!ascending && pattern.direction != Direction::kGt) continue;
    const auto [nan, number] = only_first_is_nan(block, either.operand(1 - i));
    const int lhs = 2 * pattern.pair, rhs = lhs + 1;
    if (nan != (ascending ? rhs : lhs) || number != (ascending ? lhs : rhs)) continue;
    pattern.total_order = pattern.canonical_zero = pattern.canonical_nan = true;
    return pattern;
  }
  return {};
}

// Adds what a term of kTake's condition says to `pattern`; false if it says something else.
bool add_take_term(const Block& block, const Value* value, bool& compared, RegionPattern& pattern) {
  if (const Op* either = defined_by(value, OpKind::kOr)) {
    return add_take_term(block, either->operand(0), compared, pattern) &&
           add_take_term(block, either->operand(1), compared, pattern);
  }
  const Op* compare = defined_by(value, OpKind::kCompare);
  if (!compare || is_total_order(*compare)) return false;
  if (tested_for_nan(block, value) == 2) return pattern.take_nan = true;
  const int lhs = argument_number(block, compare->operand(0));
  const int rhs = argument_number(block, compare->operand(1));
  const Direction direction = direction_of(*compare);
  if (lhs == 1 && direction == Direction::kLt && scalar_constant(compare->operand(1)) == 0.0) {
    return pattern.take_first = true;
  }
  const bool ordered = direction != Direction::kEq && direction != Direction::kNe;
  if (compared || !ordered || lhs + rhs != 2 || lhs * rhs != 0) return false;
  pattern.direction = lhs == 2 ? direction : swapped(direction);
  return compared = true;
}

RegionPattern take_pattern(const Block& block, const Op& terminator) {
  const Op* selects[2];
  for (int i : {0, 1}) {
    selects[i] = defined_by(terminator.operand(i), OpKind::kSelect);
    if (!selects[i] || argument_number(block, selects[i]->operand(1)) != 2 + i ||
        argument_number(block, selects[i]->operand(2)) != i) {
      return {};
    }
  }
  if (selects[0]->operand(0) != selects[1]->operand(0)) return {};
  RegionPattern pattern;
  bool compared = false;
  if (!add_take_term(block, selects[0]->operand(0), compared, pattern) || !compared) return {};
  pattern.kind = Kind::kTake;
  return pattern;
}

// kFirst or kSecond if the block returns its arguments' first or second half.
RegionPattern passing_pattern(const Block& block, const Op& terminator) {
  const int count = static_cast<int>(terminator.operands().size());
  const int arguments = static_cast<int>(block.arguments().size());
  bool first = count > 0, second = count > 0 && arguments == 2 * count;
  for (int i = 0; i < count; ++i) {
    const int number = argument_number(block, terminator.operand(i));
    first = first && number == i;
    second = second && number == i + count;
  }
  RegionPattern pattern;
  if (first) pattern.kind = Kind::kFirst;
  if (second) pattern.kind = Kind::kSecond;
  return pattern;
}

}  // namespace

RegionPattern recognise_region(const Block& region) {
  const Op& terminator = region.terminator();
  if (const RegionPattern passing = passing_pattern(region, terminator);
      passing.kind != Kind::kGeneral) {
    return passing;
  }
  if (terminator.operands().size() == 2 && region.arguments().size() == 4) {
    return take_pattern(region, terminator);
  }
  if (terminator.operands().size() != 1 || !terminator.operand(0)->def) return {};
  const Op& last = *terminator.operand(0)->def;
  if (last.parent != &region) return {};
  if (last.kind() == OpKind::kCompare) return compare_pattern(region, last);
  if (last.kind() == OpKind::kOr) {
    const RegionPattern pattern = nan_last_pattern(region, last);
    if (pattern.kind != Kind::kGeneral) return pattern;
  }
  if (!is_binary(last.kind()) || region.arguments().size() != 2) return {};

  const int lhs = argument_number(region, last.operand(0));
  const int rhs = argument_number(region, last.operand(1));
  const bool straight = lhs == 0 && rhs == 1;
  const bool reversed = lhs == 1 && rhs == 0 && is_commutative(last.kind());
  if (!straight && !reversed) return {};
  RegionPattern pattern;
  pattern.kind = Kind::kBinary;
  pattern.op = last.kind();
  return pattern;
}

}  // namespace tpu::compiler
