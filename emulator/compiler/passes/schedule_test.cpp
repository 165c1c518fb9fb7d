#include "emulator/compiler/passes/schedule.h"

#include <gtest/gtest.h>

#include "emulator/compiler/passes/testing.h"

namespace tpu::compiler {
namespace {

constexpr int kAvx2Bytes = 32;

Schedule schedule_of(std::string_view text) {
  const PlannedProgram program(text);
  const Placement placement = place_buffers(program.plan, {}, {});
  return make_schedule(program.plan.steps.at(0).kernels.at(0), placement, kAvx2Bytes);
}

TEST(Schedule, DenseArraysAreOneLoop) {
  const Schedule schedule = schedule_of(R"(
    func.func public @main(%x: tensor<4x6x8xf32>, %y: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
      %0 = stablehlo.add %x, %y : tensor<4x6x8xf32>
      return %0 : tensor<4x6x8xf32>
    })");
  EXPECT_EQ(schedule.form, LoopForm::kMap);
  EXPECT_EQ(schedule.sizes, (hlo::Dims{192}));
  EXPECT_EQ(schedule.width, 8);
}

TEST(Schedule, ABroadcastOperandKeepsItsDimensionApart) {
  const Schedule schedule = schedule_of(R"(
    func.func public @main(%x: tensor<4x6x8xf32>, %y: tensor<8xf32>) -> tensor<4x6x8xf32> {
      %b = stablehlo.broadcast_in_dim %y, dims = [2] : (tensor<8xf32>) -> tensor<4x6x8xf32>
      %0 = stablehlo.add %x, %b : tensor<4x6x8xf32>
      return %0 : tensor<4x6x8xf32>
    })");
  EXPECT_EQ(schedule.sizes, (hlo::Dims{24, 8}));
}

TEST(Schedule, BytesUseWholeRegisters) {
  const Schedule schedule = schedule_of(R"(
    func.func public @main(%x: tensor<100xi8>, %y: tensor<100xi8>) -> tensor<100xi8> {
      %0 = stablehlo.add %x, %y : tensor<100xi8>
      return %0 : tensor<100xi8>
    })");
  EXPECT_EQ(schedule.width, 32);
}

TEST(Schedule, RowsAndColumnsByHowTheInputLies) {
  constexpr std::string_view kRows = R"(
    func.func public @main(%x: tensor<64x96xf32>, %zero: tensor<f32>) -> tensor<64xf32> {
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
          : (tensor<64x96xf32>, tensor<f32>) -> tensor<64xf32>
      return %0 : tensor<64xf32>
    })";
  const Schedule rows = schedule_of(kRows);
  EXPECT_EQ(rows.form, LoopForm::kRows);
  EXPECT_EQ(rows.reduced_count(), 96);
  const Schedule columns = schedule_of(R"(
    func.func public @main(%x: tensor<64x96xf32>, %zero: tensor<f32>) -> tensor<96xf32> {
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<64x96xf32>, tensor<f32>) -> tensor<96xf32>
      return %0 : tensor<96xf32>
    })");
  EXPECT_EQ(columns.form, LoopForm::kColumns);
  EXPECT_EQ(columns.sizes[columns.vector], 96);
  EXPECT_EQ(columns.reduced_count(), 64);
}

TEST(Schedule, CrosswiseLoadsAreTiled) {
  const Schedule schedule = schedule_of(R"(
    func.func public @main(%x: tensor<64x96xf32>, %y: tensor<96x64xf32>) -> tensor<96x64xf32> {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x96xf32>) -> tensor<96x64xf32>
      %0 = stablehlo.add %t, %y : tensor<96x64xf32>
      return %0 : tensor<96x64xf32>
    })");
  EXPECT_EQ(schedule.form, LoopForm::kTiles);
  EXPECT_EQ(schedule.cross, 0);
  EXPECT_EQ(schedule.tile, 16);
}

TEST(Schedule, UnitsCoverTheDomain) {
  const Schedule schedule = schedule_of(R"(
    func.func public @main(%x: tensor<3x100000xf32>, %y: tensor<100000xf32>)
        -> tensor<3x100000xf32> {
      %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<100000xf32>) -> tensor<3x100000xf32>
      %0 = stablehlo.add %x, %b : tensor<3x100000xf32>
      return %0 : tensor<3x100000xf32>
    })");
  EXPECT_EQ(schedule.chunk % schedule.width, 0);
  const int64_t chunks = (100000 + schedule.chunk - 1) / schedule.chunk;
  EXPECT_GT(chunks, 1);
  EXPECT_EQ(schedule.units, 3 * chunks);
}

TEST(Schedule, SplitsOnlyAFewLongRows) {
  const auto splits = [](const std::string& rows, const std::string& columns) {
    const PlannedProgram program(
        "func.func public @main(%x: tensor<" + rows + "x" + columns +
        "xf32>, %zero: tensor<f32>) -> tensor<" + rows + "xf32> {\n" +
        "%0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : " +
        "(tensor<" + rows + "x" + columns + "xf32>, tensor<f32>) -> tensor<" + rows +
        "xf32>\nreturn %0 : tensor<" + rows + "xf32>\n}");
    const Placement placement = place_buffers(program.plan, {}, {});
    const LoopKernel& kernel = program.plan.steps.at(0).kernels.at(0);
    return should_split_lanes(kernel, make_schedule(kernel, placement, kAvx2Bytes));
  };
  EXPECT_TRUE(splits("1", "1000000"));
  EXPECT_FALSE(splits("1", "1000"));
  EXPECT_FALSE(splits("64", "1000000"));
}

}  // namespace
}  // namespace tpu::compiler
