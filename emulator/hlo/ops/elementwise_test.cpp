// Elementwise arithmetic, selection and conversion.
#include <algorithm>
#include <map>

#include "emulator/hlo/op_table.h"
#include "emulator/hlo/ops/refusals.h"

namespace tpu::hlo::ops {
namespace {

using enum ElementType;

// The specification's element types for each op, one letter a class: b i1, s signed, u unsigned,
// f float, c complex.
const std::map<OpKind, std::string> kUnary = {
    {OpKind::kAbs, "sfc"},
    {OpKind::kCbrt, "fc"},
    {OpKind::kCeil, "f"},
    {OpKind::kCosine, "fc"},
    {OpKind::kCountLeadingZeros, "su"},
    {OpKind::kExponential, "fc"},
    {OpKind::kExponentialMinusOne, "fc"},
    {OpKind::kFloor, "f"},
    {OpKind::kImag, "fc"},
    {OpKind::kIsFinite, "f"},
    {OpKind::kLog, "fc"},
    {OpKind::kLogPlusOne, "fc"},
    {OpKind::kLogistic, "fc"},
    {OpKind::kNegate, "sufc"},
    {OpKind::kNot, "bsu"},
    {OpKind::kPopcnt, "su"},
    {OpKind::kReal, "fc"},
    {OpKind::kRoundNearestAfz, "f"},
    {OpKind::kRoundNearestEven, "f"},
    {OpKind::kRsqrt, "fc"},
    {OpKind::kSign, "sfc"},
    {OpKind::kSine, "fc"},
    {OpKind::kSqrt, "fc"},
    {OpKind::kTan, "fc"},
    {OpKind::kTanh, "fc"},
};

const std::map<OpKind, std::string> kBinary = {
    {OpKind::kAdd, "bsufc"},
    {OpKind::kAnd, "bsu"},
    {OpKind::kAtan2, "fc"},
    {OpKind::kDivide, "sufc"},
    {OpKind::kMaximum, "bsufc"},
    {OpKind::kMinimum, "bsufc"},
    {OpKind::kMultiply, "bsufc"},
    {OpKind::kOr, "bsu"},
    {OpKind::kPower, "sufc"},
    {OpKind::kRemainder, "sufc"},
    {OpKind::kShiftLeft, "su"},
    {OpKind::kShiftRightArithmetic, "su"},
    {OpKind::kShiftRightLogical, "su"},
    {OpKind::kSubtract, "sufc"},
    {OpKind::kXor, "bsu"},
};

char letter(ElementType type) {
  if (is_boolean(type)) return 'b';
  if (is_signed_integer(type)) return 's';
  if (is_unsigned_integer(type)) return 'u';
  return is_float(type) ? 'f' : 'c';
}

TensorType unary_result(OpKind kind, const TensorType& operand) {
  const bool real = kind == OpKind::kAbs || kind == OpKind::kReal || kind == OpKind::kImag;
  if (kind == OpKind::kIsFinite) return {kI1, operand.shape};
  return {real ? real_part(operand.element) : operand.element, operand.shape};
}

// Each op with each element type: accepted or refused just as the specification says.
TEST(Elementwise, ElementTypesOfEachOp) {
  for (int e = 0; e < static_cast<int>(kToken); ++e) {
    const auto element = static_cast<ElementType>(e);
    Module module;
    Builder b(module.add_function("main").body);
    Value* x = b.parameter({element, {2, 3}});
    const auto check = [&](OpKind kind, const std::string& letters, int operands) {
      const std::string what = std::string(mnemonic(kind)) + " of " + std::string(name(element));
      const std::vector<Value*> values(operands, x);
      if (letters.find(letter(element)) == std::string::npos) {
        EXPECT_THROW(b.create(kind, values), InvalidArgument) << what;
      } else {
        EXPECT_EQ(b.create(kind, values)->result()->type,
                  operands == 1 ? unary_result(kind, x->type) : x->type)
            << what;
      }
    };
    for (const auto& [kind, letters] : kUnary) check(kind, letters, 1);
    for (const auto& [kind, letters] : kBinary) check(kind, letters, 2);
  }
}

TEST(Elementwise, TheListsAboveAreComplete) {
  const std::vector<OpKind> others = {OpKind::kCompare, OpKind::kSelect,  OpKind::kClamp,
                                      OpKind::kConvert, OpKind::kComplex, OpKind::kReducePrecision};
  for (int i = 0; i < kNumOpKinds; ++i) {
    const auto kind = static_cast<OpKind>(i);
    const bool listed = kUnary.contains(kind) || kBinary.contains(kind) ||
                        std::ranges::find(others, kind) != others.end();
    EXPECT_EQ(op_info(kind).elementwise, listed) << mnemonic(kind);
  }
}

TEST(Elementwise, BinaryOperandsHaveOneType) {
  for (const auto& [kind, letters] : kBinary) {
    const ElementType element = letters.find('s') != std::string::npos ? kSI32 : kF32;
    const ElementType other = element == kSI32 ? kSI16 : kF64;
    const std::string label = std::string(mnemonic(kind)) + "_c1";
    expect_refused({{label,
                     [=, kind = kind](Builder& b) {
                       b.binary(kind, b.parameter({element, {4}}), b.parameter({element, {1}}));
                     }},
                    {label, [=, kind = kind](Builder& b) {
                       b.binary(kind, b.parameter({element, {4}}), b.parameter({other, {4}}));
                     }}});
  }
}

TEST(Selection, Compare) {
  for (ElementType element : {kI1, kSI32, kUI8, kBF16, kComplexF32}) {
    EXPECT_EQ(type_of_built([=](Builder& b) {
                Value* x = b.parameter({element, {2, 5}});
                return b.compare(x, x, "NE");
              }),
              (TensorType{kI1, {2, 5}}));
  }
  const auto compare_as = [](ElementType element, std::string type) {
    return [=](Builder& b) {
      Value* x = b.parameter({element, {}});
      b.create(OpKind::kCompare, {x, x},
               {{"comparison_direction", EnumValue{"EQ"}}, {"compare_type", EnumValue{type}}});
    };
  };
  expect_refused({
      {"compare_c1",
       [](Builder& b) { b.compare(b.parameter({kF32, {}}), b.parameter({kF64, {}}), "LT"); }},
      {"compare_c2",
       [](Builder& b) { b.compare(b.parameter({kF32, {2}}), b.parameter({kF32, {1}}), "LT"); }},
      {"compare_i3",
       [](Builder& b) { b.compare(b.parameter({kF32, {}}), b.parameter({kF32, {}}), "lt"); }},
      {"compare_i3",
       [](Builder& b) {
         b.compare(b.parameter({kComplexF32, {}}), b.parameter({kComplexF32, {}}), "LT");
       }},
      {"compare_c3", compare_as(kSI32, "UNSIGNED")},
      {"compare_c3", compare_as(kUI32, "SIGNED")},
      {"compare_c3", compare_as(kI1, "SIGNED")},
      {"compare_c3", compare_as(kF32, "SIGNED")},
      {"compare_c3", compare_as(kComplexF32, "TOTALORDER")},
  });
}

TEST(Selection, SelectAndClamp) {
  const TensorType matrix{kF32, {2, 3}};
  for (const Dims& pred : {Dims{}, Dims{2, 3}}) {
    EXPECT_EQ(type_of_built([&](Builder& b) {
                Value* x = b.parameter(matrix);
                return b.select(b.parameter({kI1, pred}), x, x);
              }),
              matrix);
    EXPECT_EQ(type_of_built([&](Builder& b) {
                return b.clamp(b.parameter({kF32, pred}), b.parameter(matrix),
                               b.parameter({kF32, {}}));
              }),
              matrix);
  }
  const auto select = [](TensorType pred, TensorType on_true, TensorType on_false) {
    return [=](Builder& b) {
      b.select(b.parameter(pred), b.parameter(on_true), b.parameter(on_false));
    };
  };
  const auto clamp = [](TensorType min, TensorType x, TensorType max) {
    return [=](Builder& b) { b.clamp(b.parameter(min), b.parameter(x), b.parameter(max)); };
  };
  expect_refused({
      {"select_i1", select({kSI32, {}}, matrix, matrix)},
      {"select_c1", select({kI1, {2}}, matrix, matrix)},
      {"select_c2", select({kI1, {}}, matrix, {kF32, {3, 2}})},
      {"select_c2", select({kI1, {}}, matrix, {kF64, {2, 3}})},
      {"clamp_c1", clamp({kF32, {1}}, matrix, matrix)},
      {"clamp_c2", clamp(matrix, matrix, {kF32, {3}})},
      {"clamp_c3", clamp({kF64, {}}, matrix, {kF32, {}})},
  });
}

TEST(Conversion, ConvertAnyTensorToAny) {
  for (int from = 0; from < static_cast<int>(kToken); ++from) {
    for (int to = 0; to < static_cast<int>(kToken); ++to) {
      EXPECT_EQ(type_of_built([=](Builder& b) {
                  return b.convert(b.parameter({static_cast<ElementType>(from), {3}}),
                                   static_cast<ElementType>(to));
                }),
                (TensorType{static_cast<ElementType>(to), {3}}));
    }
  }
  expect_refused({{"convert_c1",
                   [](Builder& b) {
                     b.create(OpKind::kConvert, {b.parameter({kF32, {2}})}, {}, {}, {{kF64, {3}}});
                   }},
                  {"result type",
                   [](Builder& b) { b.create(OpKind::kConvert, {b.parameter({kF32, {2}})}); }}});
}

TEST(Conversion, BitcastKeepsTheBits) {
  const auto cast = [](TensorType from, TensorType to) {
    return [=](Builder& b) { return b.bitcast_convert(b.parameter(from), to); };
  };
  const std::pair<TensorType, TensorType> good[] = {
      {{kF32, {2, 3}}, {kSI32, {2, 3}}}, {{kF32, {2}}, {kUI8, {2, 4}}},
      {{kUI8, {2, 4}}, {kF32, {2}}},     {{kF64, {}}, {kBF16, {4}}},
      {{kSI8, {3}}, {kSI4, {3, 2}}},     {{kComplexF64, {}}, {kComplexF32, {2}}},
  };
  for (const auto& [from, to] : good) EXPECT_EQ(type_of_built(cast(from, to)), to);
  const auto refused = [&](TensorType from, TensorType to) {
    return [=](Builder& b) { cast(from, to)(b); };
  };
  expect_refused({
      {"bitcast_convert_c1", refused({kF32, {2, 3}}, {kSI32, {3, 2}})},
      {"bitcast_convert_c1", refused({kF32, {2}}, {kUI8, {2, 3}})},
      {"bitcast_convert_c1", refused({kF32, {2}}, {kUI8, {8}})},
      {"bitcast_convert_c1", refused({kUI8, {2, 2}}, {kF32, {2}})},
      {"bitcast_convert_c1", refused({kUI8, {}}, {kF32, {}})},
      {"bitcast_convert_c2", refused({kComplexF32, {}}, {kF64, {}})},
  });
}

TEST(Conversion, ComplexAndReducePrecision) {
  EXPECT_EQ(type_of_built([](Builder& b) {
              Value* x = b.parameter({kF64, {2}});
              return b.complex(x, x);
            }),
            (TensorType{kComplexF64, {2}}));
  EXPECT_EQ(
      type_of_built([](Builder& b) { return b.reduce_precision(b.parameter({kF32, {2}}), 5, 0); }),
      (TensorType{kF32, {2}}));
  expect_refused({
      {"complex_i1",
       [](Builder& b) { b.complex(b.parameter({kBF16, {}}), b.parameter({kBF16, {}})); }},
      {"complex_c1",
       [](Builder& b) { b.complex(b.parameter({kF32, {}}), b.parameter({kF64, {}})); }},
      {"reduce_precision_i1",
       [](Builder& b) { b.reduce_precision(b.parameter({kSI32, {}}), 5, 10); }},
      {"reduce_precision_c2",
       [](Builder& b) { b.reduce_precision(b.parameter({kF32, {}}), 0, 10); }},
      {"reduce_precision_c3",
       [](Builder& b) { b.reduce_precision(b.parameter({kF32, {}}), 5, -1); }},
  });
}

}  // namespace
}  // namespace tpu::hlo::ops
