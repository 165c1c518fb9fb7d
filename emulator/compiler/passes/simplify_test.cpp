#include "emulator/compiler/passes/simplify.h"

#include <gtest/gtest.h>

#include "emulator/base/error.h"
#include "emulator/hlo/text.h"

namespace tpu::compiler {
namespace {

std::string simplified(std::string_view text) {
  hlo::Module module = hlo::parse(text);
  simplify(module);
  std::string ops;
  for (const auto& op : module.main().body.ops()) {
    if (!ops.empty()) ops += ' ';
    ops += hlo::mnemonic(op->kind());
  }
  return ops;
}

TEST(Simplify, InlinesNestedCalls) {
  EXPECT_EQ(simplified(R"(module {
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %1 = call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @add(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %x, %y : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  })"),
            "add add return");
}

TEST(Simplify, RefusesRecursion) {
  EXPECT_THROW(simplified(R"(module {
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  })"),
               InvalidArgument);
}

TEST(Simplify, DropsWhatPassesItsOperandOn) {
  EXPECT_EQ(simplified(R"(
    func.func public @main(%x: tensor<2x3xf32>, %i: tensor<i32>) -> tensor<2x3xf32> {
      %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.transpose %0, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %2 = stablehlo.convert %1 : tensor<2x3xf32>
      %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %4 = stablehlo.slice %3 [0:2, 0:3] : (tensor<2x3xf32>) -> tensor<2x3xf32>
      %5 = stablehlo.dynamic_slice %4, %i, %i, sizes = [2, 3]
          : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
      %6 = stablehlo.optimization_barrier %5 : tensor<2x3xf32>
      return %6 : tensor<2x3xf32>
    })"),
            "return");
}

TEST(Simplify, KeepsATransposeOfEqualSizes) {
  EXPECT_EQ(simplified(R"(
    func.func public @main(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
      return %0 : tensor<3x3xf32>
    })"),
            "transpose return");
}

TEST(Simplify, MergesEqualOpsButNotDifferentAttributes) {
  EXPECT_EQ(simplified(R"(
    func.func public @main(%x: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
      %0 = stablehlo.compare LT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %1 = stablehlo.compare LT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      %2 = stablehlo.compare LE, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
      return %0, %1, %2 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
    })"),
            "compare compare return");
}

TEST(Simplify, AReductionOfNothingIsItsInit) {
  EXPECT_EQ(simplified(R"(
    func.func public @main(%x: tensor<3x0xf32>, %init: tensor<f32>) -> tensor<3xf32> {
      %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1]
          : (tensor<3x0xf32>, tensor<f32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    })"),
            "broadcast_in_dim return");
}

TEST(Simplify, WorksInsideOfBranches) {
  EXPECT_EQ(simplified(R"(
    func.func public @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = "stablehlo.if"(%p) ({
        %1 = stablehlo.exponential %x : tensor<4xf32>
        %2 = stablehlo.convert %x : tensor<4xf32>
        stablehlo.return %2 : tensor<4xf32>
      }, {
        %3 = stablehlo.negate %x : tensor<4xf32>
        stablehlo.return %3 : tensor<4xf32>
      }) : (tensor<i1>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })"),
            "if return");
}

}  // namespace
}  // namespace tpu::compiler
