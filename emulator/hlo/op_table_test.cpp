#include "emulator/hlo/op_table.h"

#include <gtest/gtest.h>

#include <set>

#include "emulator/base/error.h"
#include "emulator/hlo/builder.h"

namespace tpu::hlo {
namespace {

std::vector<OpKind> all_kinds() {
  std::vector<OpKind> kinds;
  for (int i = 0; i < kNumOpKinds; ++i) kinds.push_back(static_cast<OpKind>(i));
  return kinds;
}

TEST(OpTable, HasARowForEachKind) {
  for (OpKind kind : all_kinds()) {
    const OpInfo& info = op_info(kind);
    EXPECT_EQ(info.kind, kind);
    EXPECT_TRUE(info.max_operands < 0 || info.min_operands <= info.max_operands) << mnemonic(kind);
  }
}

TEST(OpTable, AttributesAreNamedOnceAndEnumsHaveNames) {
  for (OpKind kind : all_kinds()) {
    std::set<std::string_view> names;
    for (const AttributeSpec& spec : op_info(kind).attributes) {
      EXPECT_TRUE(names.insert(spec.name).second) << mnemonic(kind) << " " << spec.name;
      const bool is_enum =
          spec.kind == AttributeKind::kEnum || spec.kind == AttributeKind::kEnumArray;
      EXPECT_EQ(is_enum, !spec.enum_name.empty()) << mnemonic(kind) << " " << spec.name;
    }
  }
}

TEST(OpTable, WhatRunsIsTyped) {
  for (OpKind kind : all_kinds()) {
    const OpInfo& info = op_info(kind);
    if (info.implemented) {
      EXPECT_NE(info.infer, nullptr) << mnemonic(kind);
    }
    if (info.elementwise) {
      EXPECT_EQ(info.num_regions, 0) << mnemonic(kind);
    }
  }
}

TEST(OpTable, MnemonicsRoundTrip) {
  for (OpKind kind : all_kinds()) EXPECT_EQ(op_kind_from_mnemonic(mnemonic(kind)), kind);
  EXPECT_EQ(op_kind_from_mnemonic("no_such_op"), std::nullopt);
}

TEST(OpTable, StatusNamesEveryOp) {
  const std::string table = status_table();
  for (OpKind kind : all_kinds()) {
    EXPECT_NE(table.find("| `" + std::string(mnemonic(kind)) + "` |"), std::string::npos);
  }
  EXPECT_NE(table.find("| `add` | 2 | 0 | yes | yes |"), std::string::npos);
  EXPECT_NE(table.find("| `tuple` | 0 or more | 0 | no | no |"), std::string::npos);
}

TEST(OpTable, OpsWithoutTypesAreUnimplemented) {
  Module module;
  Builder b(module.add_function("main").body);
  EXPECT_THROW(b.create(OpKind::kTuple, {}), Unimplemented);
}

TEST(OpTable, FormIsChecked) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({ElementType::kF32, {2}});
  EXPECT_THROW(b.create(OpKind::kAdd, {x}), InvalidArgument);
  EXPECT_THROW(b.create(OpKind::kAdd, {x, nullptr}), InvalidArgument);
  EXPECT_THROW(b.create(OpKind::kTranspose, {x}), InvalidArgument);
  EXPECT_THROW(b.create(OpKind::kTranspose, {x}, {{"permutation", int64_t{0}}}), InvalidArgument);
  EXPECT_THROW(b.create(OpKind::kReduce, {x, x}, {{"dimensions", Dims{0}}}), InvalidArgument);
  // A type given for a result that the operands determine must be the right one.
  EXPECT_THROW(b.create(OpKind::kAbs, {x}, {}, {}, {{ElementType::kF32, {3}}}), InvalidArgument);
  EXPECT_NO_THROW(b.create(OpKind::kAbs, {x}, {}, {}, {{ElementType::kF32, {2}}}));
}

TEST(OpTable, MessagesNameTypesAttributesAndConstraint) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({ElementType::kF32, {2, 3}});
  try {
    b.transpose(x, {1, 1});
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(),
                 "stablehlo.transpose(tensor<2x3xf32>) {permutation = [1, 1]}: permutation must "
                 "hold each dimension of the operand once [transpose_c2]");
  }
}

TEST(OpTable, SideEffectsAndElementwiseLookInside) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({ElementType::kF32, {}});
  Value* ok = b.parameter({ElementType::kI1, {}});
  EXPECT_TRUE(is_elementwise(*b.erf(x)->def));
  EXPECT_TRUE(is_elementwise(*b.add(x, x)->def));
  EXPECT_FALSE(is_elementwise(*b.custom_call("lapack", {x}, {x->type})[0]->def));
  EXPECT_FALSE(has_side_effects(*b.add(x, x)->def));
  EXPECT_FALSE(has_side_effects(*b.erf(x)->def));
  b.assert_true(ok, "message");
  EXPECT_TRUE(has_side_effects(*b.block().ops().back()));
  const auto branch = [&](bool asserting) {
    return [=](Builder& inner, std::span<Value* const>) {
      if (asserting) inner.assert_true(ok, "inside");
      inner.ret({x});
    };
  };
  Value* index = b.constant(ElementType::kSI32, int64_t{0});
  EXPECT_TRUE(has_side_effects(*b.case_(index, {branch(false), branch(true)})[0]->def));
  EXPECT_FALSE(has_side_effects(*b.case_(index, {branch(false), branch(false)})[0]->def));
}

}  // namespace
}  // namespace tpu::hlo
