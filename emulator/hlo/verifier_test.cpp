#include <gtest/gtest.h>

#include <functional>

#include "emulator/base/error.h"
#include "emulator/hlo/builder.h"
#include "emulator/hlo/op_table.h"

namespace tpu::hlo {
namespace {

using enum ElementType;

std::string problem_of(const Module& module) {
  try {
    verify(module);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

#define EXPECT_PROBLEM(module, text) \
  EXPECT_NE(problem_of(module).find(text), std::string::npos) << problem_of(module)

// A function that adds a loop-carried value to itself while it is below 100, and calls a helper.
Module sample() {
  Module module;
  Builder helper(module.add_function("helper").body);
  Value* p = helper.parameter({kF32, {}});
  helper.ret({helper.multiply(p, p)});
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({kF32, {}});
  Value* limit = b.constant(kF32, 100.0);
  const std::vector<Value*> looped = b.while_(
      {x},
      [&](Builder& inner, std::span<Value* const> args) {
        inner.ret({inner.compare(args[0], limit, "LT")});  // sees a value from outside
      },
      [](Builder& inner, std::span<Value* const> args) {
        inner.ret({inner.add(args[0], args[0])});
      });
  Op* call = b.create(OpKind::kCall, looped, {{"callee", SymbolRef{"helper"}}}, {}, {{kF32, {}}});
  b.ret({call->result()});
  return module;
}

TEST(Verifier, AcceptsASoundModule) {
  EXPECT_EQ(problem_of(sample()), "");
  EXPECT_EQ(problem_of(sample().clone()), "");
  EXPECT_EQ(problem_of(Module()), "");
}

TEST(Verifier, BlocksEndInReturn) {
  Module module;
  Builder b(module.add_function("f").body);
  EXPECT_PROBLEM(module, "in function @f: a block must end in 'return'");
  Value* x = b.constant(kF32, 1.0);
  EXPECT_PROBLEM(module, "must end in 'return'");
  b.ret({x});
  EXPECT_EQ(problem_of(module), "");
  b.constant(kF32, 2.0);
  b.ret({x});
  EXPECT_PROBLEM(module, "'return' must be a block's last op");
}

TEST(Verifier, UsesFollowDefinitions) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({kF32, {}});
  Value* first = b.add(x, x);
  Value* second = b.add(x, x);
  b.ret({second});
  EXPECT_EQ(problem_of(module), "");
  first->def->set_operand(0, second);
  EXPECT_PROBLEM(module, "'stablehlo.add' uses a value before its definition");
  first->def->set_operand(0, first);
  EXPECT_PROBLEM(module, "before its definition");
  first->def->set_operand(0, nullptr);
  EXPECT_PROBLEM(module, "null operand");
}

TEST(Verifier, ValuesOfARegionStayInside) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* inside = nullptr;
  Value* index = b.constant(kSI32, int64_t{0});
  b.case_(index, {[&](Builder& inner, std::span<Value* const>) {
            inside = inner.constant(kF32, 1.0);
            inner.ret({inside});
          }});
  b.ret({inside});
  EXPECT_PROBLEM(module, "from another scope");
}

TEST(Verifier, ValuesOfOtherFunctionsAreOutOfScope) {
  Module module;
  Builder f(module.add_function("f").body);
  Value* x = f.parameter({kF32, {}});
  f.ret({x});
  Builder(module.add_function("main").body).ret({x});
  EXPECT_PROBLEM(module, "in function @main");
}

TEST(Verifier, TypesAreCheckedAgainstTheTable) {
  Module module;
  Builder b(module.add_function("main").body);
  Value* x = b.parameter({kF32, {2}});
  Value* sum = b.add(x, x);
  b.ret({sum});
  sum->type.shape = {3};
  EXPECT_PROBLEM(module, "must have type tensor<2xf32>, was given tensor<3xf32>");
  sum->type.shape = {2};
  x->type.element = kToken;
  EXPECT_PROBLEM(module, "add_i1");
}

TEST(Verifier, RegionsAreChecked) {
  Module module = sample();
  Op& loop = *module.main().body.ops()[1];
  ASSERT_EQ(loop.kind(), OpKind::kWhile);
  loop.region(1).argument(0)->type.element = kF64;
  EXPECT_PROBLEM(module, "stablehlo.add(tensor<f64>, tensor<f64>): result 0 must have type");
  loop.region(1).ops()[0]->result()->type.element = kF64;
  EXPECT_PROBLEM(module, "[while_c2]");
}

TEST(Verifier, CallsMatchTheirFunctions) {
  Module module = sample();
  Op& call = *module.main().body.ops()[2];
  call.attributes().set("callee", SymbolRef{"nobody"});
  EXPECT_PROBLEM(module, "@nobody, which the module does not define");
  call.attributes().set("callee", SymbolRef{"helper"});
  module.find("helper")->body.argument(0)->type.shape = {1};
  for (const auto& op : module.find("helper")->body.ops()) {
    if (op->num_results() > 0) op->result()->type.shape = {1};
  }
  EXPECT_PROBLEM(module, "call of @helper must have type (tensor<1xf32>) -> (tensor<1xf32>), has");
}

TEST(Verifier, RecursionIsRefused) {
  Module module = sample();
  Op& call = *module.main().body.ops()[2];
  call.attributes().set("callee", SymbolRef{"main"});
  EXPECT_PROBLEM(module, "the function calls itself");
}

}  // namespace
}  // namespace tpu::hlo
