#include "emulator/compiler/kernels/sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Builder;
using hlo::Value;
using tpu::testing::check_property;

// The comparators that programs use, by the operand pair they look at.
struct Comparator {
  std::string direction = "LT";
  bool total_order = false, canonical_zero = false, canonical_nan = false;
  size_t pair = 0;
  bool nan_last = false;  // by a second term: NaN is above all numbers
};

Value* canonical(Builder& b, Value* x, const Comparator& comparator) {
  Value* y = x;
  if (comparator.canonical_zero) {
    Value* zero = b.constant(x->type.element, 0.0);
    y = b.select(b.compare(x, zero, "EQ"), zero, y);
  }
  if (comparator.canonical_nan) {
    y = b.select(b.compare(x, x, "NE"), b.constant(x->type.element, NAN), y);
  }
  return y;
}

Builder::Body body_of(const Comparator& comparator) {
  return [comparator](Builder& b, std::span<Value* const> arguments) {
    Value* lhs = canonical(b, arguments[2 * comparator.pair], comparator);
    Value* rhs = canonical(b, arguments[2 * comparator.pair + 1], comparator);
    if (comparator.nan_last) {
      const bool ascending = comparator.direction == "LT";
      Value* nans[2] = {b.compare(lhs, lhs, "NE"), b.compare(rhs, rhs, "NE")};
      Value* by_nan = b.and_(nans[ascending ? 1 : 0], b.not_(nans[ascending ? 0 : 1]));
      return b.ret({b.or_(b.compare(lhs, rhs, comparator.direction), by_nan)});
    }
    if (!comparator.total_order) return b.ret({b.compare(lhs, rhs, comparator.direction)});
    hlo::Attributes attributes;
    attributes.set("compare_type", hlo::EnumValue{"TOTALORDER"});
    attributes.set("comparison_direction", hlo::EnumValue{comparator.direction});
    b.ret({b.create(OpKind::kCompare, {lhs, rhs}, attributes)->result()});
  };
}

// Ascending by the first operand, descending by the second where equal: no pattern knows it.
void lexicographic(Builder& b, std::span<Value* const> arguments) {
  Value* first = b.compare(arguments[0], arguments[1], "LT");
  Value* equal = b.compare(arguments[0], arguments[1], "EQ");
  Value* second = b.compare(arguments[2], arguments[3], "GT");
  b.ret({b.or_(first, b.and_(equal, second))});
}

const std::vector<ElementType> kTypes = {
    ElementType::kI1,   ElementType::kSI8,   ElementType::kUI16, ElementType::kSI32,
    ElementType::kUI64, ElementType::kBF16,  ElementType::kF16,  ElementType::kF32,
    ElementType::kF64,  ElementType::kF8E5M2};

OpCase random_sort(Choices& choices, int64_t count, int64_t largest) {
  const Dims shape = random_shape(choices, choices.in(1, 3), largest);
  OpCase op{OpKind::kSort, {}};
  std::vector<TensorType> arguments;
  for (int64_t i = 0; i < count; ++i) {
    const ElementType element = pick(choices, kTypes);
    const Values values = choices.coin() ? Values::kSmall : Values::kAnything;
    op.operands.push_back(random_literal(choices, {element, shape}, values));
    arguments.insert(arguments.end(), 2, {element, {}});
  }
  const auto rank = static_cast<int64_t>(shape.size());
  op.attributes = {{"dimension", choices.in(0, rank - 1)}, {"is_stable", true}};
  op.regions = {{arguments, nullptr}};
  return op;
}

TEST(Sort, OneKey) {
  check_property(300, [](Choices& choices) {
    const int64_t count = choices.in(1, 3);
    OpCase op = random_sort(choices, count, 12);
    Comparator comparator;
    comparator.pair = static_cast<size_t>(choices.in(0, count - 1));
    comparator.direction = choices.coin() ? "LT" : "GT";
    if (hlo::is_float(op.operands[comparator.pair].type().element)) {
      comparator.total_order = choices.coin();
      comparator.canonical_zero = choices.coin();
      comparator.canonical_nan = choices.coin();
      comparator.nan_last = choices.coin();
    }
    op.regions[0].body = body_of(comparator);
    return difference_from_evaluator(choices, op);
  });
}

TEST(Sort, Lexicographic) {
  check_property(60, [](Choices& choices) {
    OpCase op = random_sort(choices, 2, 12);
    op.regions[0].body = lexicographic;
    return difference_from_evaluator(choices, op);
  });
}

// Long lines: radix passes, parts, merges.
template <class Key>
void check_permutation(size_t n, Key mask) {
  std::mt19937_64 random(tpu::testing::seed());
  std::vector<Key> keys(n);
  for (Key& key : keys) key = static_cast<Key>(random()) & mask;
  std::vector<uint32_t> expected(n), actual(n);
  std::iota(expected.begin(), expected.end(), 0u);
  std::stable_sort(expected.begin(), expected.end(),
                   [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
  sort_permutation(std::span<const Key>(keys), actual);
  EXPECT_EQ(actual, expected) << n << " keys of " << sizeof(Key) << " bytes";
}

TEST(Sort, PermutationIsStableAtEveryLength) {
  for (size_t n : {0, 1, 2, 511, 512, 513, 5000, 70000, 300001}) {
    check_permutation<uint8_t>(n, 0xff);
    check_permutation<uint16_t>(n, 0x0ff3);
    check_permutation<uint32_t>(n, 0xffffffff);
    check_permutation<uint32_t>(n, 0x00ff0000);
    check_permutation<uint64_t>(n, 0xf0000000000000ff);
  }
}

}  // namespace
}  // namespace tpu::compiler::kernels
