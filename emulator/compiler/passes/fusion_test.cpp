#include "emulator/compiler/passes/fusion.h"

#include <gtest/gtest.h>

#include "emulator/base/error.h"
#include "emulator/compiler/passes/testing.h"

namespace tpu::compiler {
namespace {

constexpr std::string_view kSoftmax = R"(
  func.func public @main(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
        : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
    %d = stablehlo.subtract %x, %mb : tensor<64x128xf32>
    %e = stablehlo.exponential %d : tensor<64x128xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
    %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
    %r = stablehlo.divide %e, %sb : tensor<64x128xf32>
    return %r : tensor<64x128xf32>
  })";

TEST(Fusion, SoftmaxIsOneKernelInThreePasses) {
  const PlannedProgram program(kSoftmax);
  ASSERT_EQ(program.steps(), "loops");
  ASSERT_EQ(program.plan.steps[0].kernels.size(), 1u);
  const LoopKernel& kernel = program.plan.steps[0].kernels[0];
  ASSERT_EQ(kernel.reductions.size(), 2u);
  EXPECT_EQ(kernel.reductions[0].stage, 0);
  EXPECT_EQ(kernel.reductions[1].stage, 1);
  EXPECT_EQ(kernel.nodes[kernel.stores[0].node].stage, 2);
  EXPECT_EQ(kernel.size_of(kernel.reduced), 128);
}

TEST(Fusion, LayerNormWithStatisticsIsOneKernel) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<32x64xf32>, %w: tensor<64xf32>, %b: tensor<64xf32>)
        -> (tensor<32x64xf32>, tensor<32x1xf32>, tensor<32x1xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %n = stablehlo.constant dense<64.0> : tensor<32x1xf32>
      %eps = stablehlo.constant dense<1.0e-5> : tensor<32x1xf32>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
      %s1 = stablehlo.reshape %s : (tensor<32xf32>) -> tensor<32x1xf32>
      %mean = stablehlo.divide %s1, %n : tensor<32x1xf32>
      %mb = stablehlo.broadcast_in_dim %mean, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x64xf32>
      %d = stablehlo.subtract %x, %mb : tensor<32x64xf32>
      %dd = stablehlo.multiply %d, %d : tensor<32x64xf32>
      %v = stablehlo.reduce(%dd init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<32x64xf32>, tensor<f32>) -> tensor<32xf32>
      %v1 = stablehlo.reshape %v : (tensor<32xf32>) -> tensor<32x1xf32>
      %var = stablehlo.divide %v1, %n : tensor<32x1xf32>
      %ve = stablehlo.add %var, %eps : tensor<32x1xf32>
      %rstd = stablehlo.rsqrt %ve : tensor<32x1xf32>
      %rb = stablehlo.broadcast_in_dim %rstd, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x64xf32>
      %y = stablehlo.multiply %d, %rb : tensor<32x64xf32>
      %wb = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
      %yw = stablehlo.multiply %y, %wb : tensor<32x64xf32>
      %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<32x64xf32>
      %r = stablehlo.add %yw, %bb : tensor<32x64xf32>
      return %r, %mean, %rstd : tensor<32x64xf32>, tensor<32x1xf32>, tensor<32x1xf32>
    })");
  ASSERT_EQ(program.steps(), "loops");
  EXPECT_EQ(program.plan.steps[0].outputs.size(), 3u);
}

TEST(Fusion, BatchStatisticsOfOneInputShareAKernel) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<8x16x9x9xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 2, 3]
          : (tensor<8x16x9x9xf32>, tensor<f32>) -> tensor<16xf32>
      %xx = stablehlo.multiply %x, %x : tensor<8x16x9x9xf32>
      %q = stablehlo.reduce(%xx init: %zero) applies stablehlo.add across dimensions = [0, 2, 3]
          : (tensor<8x16x9x9xf32>, tensor<f32>) -> tensor<16xf32>
      return %s, %q : tensor<16xf32>, tensor<16xf32>
    })");
  EXPECT_EQ(program.steps(), "loops");
}

TEST(Fusion, ReductionsAlongDifferentDimensionsStayApart) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %rows = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      %columns = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      return %rows, %columns : tensor<64xf32>, tensor<64xf32>
    })");
  EXPECT_EQ(program.steps(), "loops loops");
}

TEST(Fusion, ExpensiveValuesAreNotComputedAgainForEachRow) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<512x64xf32>, %w: tensor<64xf32>) -> tensor<512x64xf32> {
      %e = stablehlo.exponential %w : tensor<64xf32>
      %b = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<64xf32>) -> tensor<512x64xf32>
      %r = stablehlo.multiply %x, %b : tensor<512x64xf32>
      return %r : tensor<512x64xf32>
    })");
  EXPECT_EQ(program.steps(), "loops loops");
}

TEST(Fusion, CheapValuesAreComputedAgainWhereverTheyAreUsed) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<64x64xbf16>) -> (tensor<64xf32>, tensor<64xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %y = stablehlo.convert %x : (tensor<64x64xbf16>) -> tensor<64x64xf32>
      %rows = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      %columns = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
      return %rows, %columns : tensor<64xf32>, tensor<64xf32>
    })");
  ASSERT_EQ(program.steps(), "loops loops");
  for (const PlanStep& step : program.plan.steps) EXPECT_EQ(step.outputs.size(), 1u);
}

TEST(Fusion, NoCycleThroughACall) {
  // The sum needs the product, which needs the matrix product, which needs the negation.
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %n = stablehlo.exponential %x : tensor<8x8xf32>
      %p = stablehlo.dot_general %n, %n, contracting_dims = [1] x [0]
          : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
      %r = stablehlo.add %n, %p : tensor<8x8xf32>
      return %r : tensor<8x8xf32>
    })");
  EXPECT_EQ(program.steps(), "loops dot_general loops");
}

TEST(Fusion, CallsSeeTransposesAndSlicesAsStrides) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<6x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x4xf32> {
      %s = stablehlo.slice %x [1:5, 0:8:1] : (tensor<6x8xf32>) -> tensor<4x8xf32>
      %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
      %p = stablehlo.dot_general %y, %t, contracting_dims = [1] x [0]
          : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
      return %p : tensor<4x4xf32>
    })");
  ASSERT_EQ(program.steps(), "dot_general");
  const ValueView& view = program.plan.steps[0].operands[1];
  EXPECT_EQ(view.base, program.module.main().body.argument(0));
  EXPECT_EQ(view.offset, 8);
  EXPECT_EQ(view.strides, (hlo::Dims{1, 8}));
}

TEST(Fusion, ConcatenateIsOneKernelAPiece) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<4x8xf32>, %y: tensor<4x3xf32>) -> tensor<4x11xf32> {
      %n = stablehlo.negate %y : tensor<4x3xf32>
      %c = stablehlo.concatenate %x, %n, dim = 1
          : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x11xf32>
      %r = stablehlo.exponential %c : tensor<4x11xf32>
      return %r : tensor<4x11xf32>
    })");
  ASSERT_EQ(program.steps(), "loops");
  ASSERT_EQ(program.plan.steps[0].kernels.size(), 2u);
  EXPECT_EQ(program.plan.steps[0].kernels[0].size_of(~uint64_t{0}), 32);
  EXPECT_EQ(program.plan.steps[0].kernels[1].size_of(~uint64_t{0}), 12);
}

TEST(Fusion, ReshapesFuseWhereAFinerDomainMakesThemAffine) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<4x6x8xf32>, %y: tensor<24x2x4xf32>) -> tensor<24x2x4xf32> {
      %e = stablehlo.exponential %x : tensor<4x6x8xf32>
      %t = stablehlo.reshape %e : (tensor<4x6x8xf32>) -> tensor<24x2x4xf32>
      %r = stablehlo.add %t, %y : tensor<24x2x4xf32>
      return %r : tensor<24x2x4xf32>
    })");
  EXPECT_EQ(program.steps(), "loops");
}

TEST(Fusion, OtherReshapesAreWrittenOut) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<4x6xf32>, %y: tensor<3x8xf32>) -> tensor<3x8xf32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
      %s = stablehlo.reshape %t : (tensor<6x4xf32>) -> tensor<3x8xf32>
      %u = stablehlo.transpose %s, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
      %v = stablehlo.reshape %u : (tensor<8x3xf32>) -> tensor<3x8xf32>
      %r = stablehlo.add %v, %y : tensor<3x8xf32>
      return %r : tensor<3x8xf32>
    })");
  EXPECT_EQ(program.steps(), "loops loops");
}

TEST(Fusion, UnusedPureOpsGoAndFaultsStay) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<4xf32>, %ok: tensor<i1>) -> tensor<4xf32> {
      %unused = stablehlo.exponential %x : tensor<4xf32>
      stablehlo.custom_call @tpu.assert(%ok) {has_side_effect = true, message = "no"}
          : (tensor<i1>) -> ()
      %r = stablehlo.negate %x : tensor<4xf32>
      return %r : tensor<4xf32>
    })");
  EXPECT_EQ(program.steps(), "custom_call loops");
}

}  // namespace
}  // namespace tpu::compiler
