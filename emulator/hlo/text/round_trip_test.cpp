// What is printed parses to the same program, in both forms: the written corpus, which covers all
// ops, and random programs.
#include <gtest/gtest.h>

#include <set>

#include "emulator/base/error.h"
#include "emulator/base/property.h"
#include "emulator/hlo/op_table.h"
#include "emulator/hlo/testing/generator.h"
#include "emulator/hlo/testing/shrink.h"
#include "emulator/hlo/text.h"
#include "emulator/hlo/text/module_difference.h"
#include "emulator/hlo/text/testdata.h"

namespace tpu::hlo::text {
namespace {

// Empty if the module survives printing and parsing.
std::string round_trip_failure(const Module& module) {
  for (const TextForm form : {TextForm::kPretty, TextForm::kGeneric}) {
    const std::string printed = print(module, form);
    try {
      const Module again = parse(printed);
      std::string difference = module_difference(module, again);
      if (!difference.empty()) return difference.append("\n").append(printed);
      if (print(again, form) != printed) return "prints differently again:\n" + printed;
    } catch (const Error& error) {
      return std::string(error.what()) + "\n" + printed;
    }
  }
  return "";
}

void collect_kinds(const Block& block, std::set<OpKind>& kinds) {
  for (const auto& op : block.ops()) {
    kinds.insert(op->kind());
    for (int i = 0; i < op->num_regions(); ++i) collect_kinds(op->region(i), kinds);
  }
}

TEST(RoundTrip, WrittenProgramsPrintAsTheyAre) {
  for (const auto& [name, text] : read_testdata()) {
    SCOPED_TRACE(name);
    const Module module = parse(text);
    EXPECT_EQ(print(module), text);
    EXPECT_EQ(print(parse(print(module, TextForm::kGeneric))), text);
    EXPECT_EQ(round_trip_failure(module), "");
  }
}

TEST(RoundTrip, WrittenProgramsHaveEveryOp) {
  // Their types, tuples and quantized tensors, are not in the IR.
  std::set<OpKind> kinds = {OpKind::kTuple, OpKind::kGetTupleElement, OpKind::kUniformQuantize,
                            OpKind::kUniformDequantize};
  for (const auto& [name, text] : read_testdata()) {
    const Module module = parse(text);
    for (const auto& function : module.functions()) collect_kinds(function->body, kinds);
  }
  for (int i = 0; i < kNumOpKinds; ++i) {
    const auto kind = static_cast<OpKind>(i);
    EXPECT_TRUE(kinds.contains(kind)) << "no program has " << mnemonic(kind);
  }
}

TEST(RoundTrip, FormsMix) {
  // Any op of a program in the form that the rest of it has not.
  const Module module = parse(R"(
    module @mixed {
      "func.func"() <{function_type = (tensor<2xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
      ^bb0(%x: tensor<2xf32>):
        %0 = stablehlo.add %x, %x : tensor<2xf32>
        %1 = "stablehlo.multiply"(%0, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        %2 = "stablehlo.transpose"(%1) {permutation = dense<0> : tensor<1xi64>} : (tensor<2xf32>) -> tensor<2xf32>
        %3 = "stablehlo.compare"(%2, %2) {comparison_direction = #stablehlo.comparison_direction<LT>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
        %4 = stablehlo.select %3, %1, %2 : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        func.return %4 : tensor<2xf32>
      }) : () -> ()
    })");
  EXPECT_EQ(print(module), R"(module @mixed {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>
    %1 = stablehlo.multiply %0, %arg0 : tensor<2xf32>
    %2 = stablehlo.transpose %1, dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
    %3 = stablehlo.compare LT, %2, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %4 = stablehlo.select %3, %1, %2 : tensor<2xi1>, tensor<2xf32>
    return %4 : tensor<2xf32>
  }
}
)");
}

TEST(RoundTrip, CommentsLocationsAndForeignAttributesAreSkipped) {
  const Module module = parse(R"(
    #loc = loc(unknown)
    // A comment with "quotes and { brackets.
    module attributes {mhlo.num_replicas = 1 : i32, jax.map = {a = [1, 2], b = "}"}} {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%x: tensor<f32> {mhlo.sharding = "{replicated}"} loc("x")) -> (tensor<f32> {jax.result_info = "r"}) attributes {no_inline} {
        %0 = stablehlo.sine %x {mhlo.note = #sdy.rule<([i])->([i])>} : tensor<f32> loc(#loc1)  // Why.
        return %0 : tensor<f32> loc(callsite("f"("a.py":1:2) at #loc))
      } loc(#loc)
    } loc(#loc)
    #loc1 = loc("a)b":3:4)
  )");
  EXPECT_EQ(print(module), R"(module {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.sine %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
}
)");
}

TEST(RoundTrip, TopKBecomesASort) {
  const Module module = parse(R"(func.func @main(%x: tensor<2x5xf32>) -> tensor<2x3xi32> {
    %v, %i = chlo.top_k(%x, k = 3) : tensor<2x5xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
    return %i : tensor<2x3xi32>
  })");
  std::set<OpKind> kinds;
  collect_kinds(module.main().body, kinds);
  EXPECT_TRUE(kinds.contains(OpKind::kSort));
  EXPECT_FALSE(kinds.contains(OpKind::kCustomCall));
  EXPECT_EQ(round_trip_failure(module), "");
}

TEST(RoundTrip, RandomPrograms) {
  const uint64_t seed = tpu::testing::seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  testing::Rng rng(seed);
  constexpr int kPrograms = 300;
  for (int i = 0; i < kPrograms; ++i) {
    testing::Program program = testing::random_program(rng);
    if (round_trip_failure(program.module).empty()) continue;
    const testing::Program small =
        testing::shrink(std::move(program), [](const testing::Program& candidate) {
          return !round_trip_failure(candidate.module).empty();
        });
    FAIL() << "program " << i << ": " << round_trip_failure(small.module);
  }
}

}  // namespace
}  // namespace tpu::hlo::text
