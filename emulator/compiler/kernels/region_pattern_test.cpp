#include "emulator/compiler/kernels/region_pattern.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "emulator/hlo/builder.h"

namespace tpu::compiler {
namespace {

using hlo::Builder;
using hlo::ElementType;
using hlo::OpKind;
using hlo::Value;
using Kind = RegionPattern::Kind;
using Direction = RegionPattern::Direction;

RegionPattern pattern_of(size_t arguments, const Builder::Body& body,
                         ElementType element = ElementType::kF32) {
  hlo::Block block;
  std::vector<Value*> values;
  for (size_t i = 0; i < arguments; ++i) values.push_back(block.add_argument({element, {}}));
  Builder b(block);
  body(b, values);
  return recognise_region(block);
}

using Arguments = std::span<Value* const>;

TEST(RegionPattern, BinaryOps) {
  const RegionPattern add = pattern_of(2, Builder::combiner(OpKind::kAdd));
  EXPECT_EQ(add.kind, Kind::kBinary);
  EXPECT_EQ(add.op, OpKind::kAdd);
  const RegionPattern swapped =
      pattern_of(2, [](Builder& b, Arguments a) { b.ret({b.maximum(a[1], a[0])}); });
  EXPECT_EQ(swapped.kind, Kind::kBinary);
  EXPECT_EQ(swapped.op, OpKind::kMaximum);
  EXPECT_EQ(pattern_of(2, [](Builder& b, Arguments a) { b.ret({b.subtract(a[1], a[0])}); }).kind,
            Kind::kGeneral);
  EXPECT_EQ(pattern_of(2, [](Builder& b, Arguments a) { b.ret({b.add(a[1], a[1])}); }).kind,
            Kind::kGeneral);
}

TEST(RegionPattern, PassingArguments) {
  EXPECT_EQ(pattern_of(2, [](Builder& b, Arguments a) { b.ret({a[1]}); }).kind, Kind::kSecond);
  EXPECT_EQ(pattern_of(2, [](Builder& b, Arguments a) { b.ret({a[0]}); }).kind, Kind::kFirst);
  EXPECT_EQ(pattern_of(4, [](Builder& b, Arguments a) { b.ret({a[2], a[3]}); }).kind,
            Kind::kSecond);
  EXPECT_EQ(pattern_of(4, [](Builder& b, Arguments a) { b.ret({a[3], a[2]}); }).kind,
            Kind::kGeneral);
  EXPECT_EQ(pattern_of(4, [](Builder& b, Arguments a) { b.ret({a[0], a[3]}); }).kind,
            Kind::kGeneral);
}

TEST(RegionPattern, Comparisons) {
  const RegionPattern greater =
      pattern_of(4, [](Builder& b, Arguments a) { b.ret({b.compare(a[3], a[2], "LT")}); });
  EXPECT_EQ(greater.kind, Kind::kCompare);
  EXPECT_EQ(greater.direction, Direction::kGt);
  EXPECT_EQ(greater.pair, 1);
  EXPECT_FALSE(greater.total_order);
  EXPECT_EQ(
      pattern_of(4, [](Builder& b, Arguments a) { b.ret({b.compare(a[0], a[2], "LT")}); }).kind,
      Kind::kGeneral);
}

// x before y, or only `nan` is NaN.
RegionPattern nan_last(const char* direction, size_t nan) {
  return pattern_of(2, [=](Builder& b, Arguments a) {
    Value* only =
        b.and_(b.compare(a[nan], a[nan], "NE"), b.not_(b.compare(a[1 - nan], a[1 - nan], "NE")));
    b.ret({b.or_(b.compare(a[0], a[1], direction), only)});
  });
}

TEST(RegionPattern, NanLast) {
  EXPECT_EQ(nan_last("LT", 1).kind, Kind::kCompare);
  EXPECT_TRUE(nan_last("LT", 1).total_order);
  EXPECT_TRUE(nan_last("LT", 1).canonical_zero);
  EXPECT_EQ(nan_last("GT", 0).direction, Direction::kGt);
  EXPECT_EQ(nan_last("LT", 0).kind, Kind::kGeneral);  // NaN first
  EXPECT_EQ(nan_last("GT", 1).kind, Kind::kGeneral);
  EXPECT_EQ(nan_last("GE", 0).kind, Kind::kGeneral);
}

RegionPattern take(const std::function<Value*(Builder&, Arguments)>& condition) {
  return pattern_of(4, [&](Builder& b, Arguments a) {
    Value* taken = condition(b, a);
    b.ret({b.select(taken, a[2], a[0]), b.select(taken, a[3], a[1])});
  });
}

TEST(RegionPattern, Take) {
  const RegionPattern larger = take([](Builder& b, Arguments a) {
    Value* first = b.compare(a[1], b.constant(ElementType::kF32, 0.0), "LT");
    return b.or_(b.or_(b.compare(a[0], a[2], "LT"), first), b.compare(a[2], a[2], "NE"));
  });
  EXPECT_EQ(larger.kind, Kind::kTake);
  EXPECT_EQ(larger.direction, Direction::kGt);
  EXPECT_TRUE(larger.take_nan);
  EXPECT_TRUE(larger.take_first);
  const auto kind = [](auto condition) { return take(condition).kind; };
  EXPECT_EQ(kind([](Builder& b, Arguments a) { return b.compare(a[2], a[0], "LE"); }), Kind::kTake);
  EXPECT_EQ(kind([](Builder& b, Arguments a) { return b.compare(a[2], a[2], "NE"); }),
            Kind::kGeneral);  // no comparison of values
  EXPECT_EQ(kind([](Builder& b, Arguments a) { return b.compare(a[3], a[1], "GT"); }),
            Kind::kGeneral);
  EXPECT_EQ(kind([](Builder& b, Arguments a) {
              return b.or_(b.compare(a[2], a[0], "GT"), b.compare(a[0], a[0], "NE"));
            }),
            Kind::kGeneral);
}

Value* canonical(Builder& b, Value* x, double zero, double nan) {
  Value* at_zero = b.constant(ElementType::kF32, zero);
  Value* y = b.select(b.compare(x, at_zero, "EQ"), at_zero, x);
  return b.select(b.compare(x, x, "NE"), b.constant(ElementType::kF32, nan), y);
}

TEST(RegionPattern, CanonicalComparisons) {
  const auto body = [](double zero, double nan) {
    return [=](Builder& b, Arguments a) {
      b.ret({b.compare(canonical(b, a[0], zero, nan), canonical(b, a[1], zero, nan), "LT")});
    };
  };
  const RegionPattern canonicalised = pattern_of(2, body(0.0, NAN));
  EXPECT_EQ(canonicalised.kind, Kind::kCompare);
  EXPECT_TRUE(canonicalised.canonical_zero);
  EXPECT_TRUE(canonicalised.canonical_nan);
  // What looks alike but puts other numbers in is something else.
  EXPECT_EQ(pattern_of(2, body(1.0, NAN)).kind, Kind::kGeneral);
  EXPECT_EQ(pattern_of(2, body(-0.0, NAN)).kind, Kind::kGeneral);
  EXPECT_EQ(pattern_of(2, body(0.0, 5.0)).kind, Kind::kGeneral);
}

TEST(RegionPattern, OneSidedCanonicalisationIsGeneral) {
  EXPECT_EQ(pattern_of(2,
                       [](Builder& b, Arguments a) {
                         b.ret({b.compare(canonical(b, a[0], 0.0, NAN), a[1], "LT")});
                       })
                .kind,
            Kind::kGeneral);
}

}  // namespace
}  // namespace tpu::compiler
