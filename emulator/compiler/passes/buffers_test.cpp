#include "emulator/compiler/passes/buffers.h"

#include <gtest/gtest.h>

#include "emulator/compiler/passes/testing.h"

namespace tpu::compiler {
namespace {

Placement place(const PlannedProgram& program, const Signature& signature = {}) {
  return place_buffers(program.plan, signature, {});
}

const hlo::Value* result_of(const PlannedProgram& program, int i) {
  return program.module.main().body.terminator().operand(i);
}

// Calls keep ops apart, so that values between them need memory.
constexpr std::string_view kChain = R"(
  func.func public @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %3 = stablehlo.dot_general %2, %x, contracting_dims = [1] x [0]
        : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    return %3 : tensor<16x16xf32>
  })";

TEST(Buffers, TemporariesThatAreNeverAliveTogetherShareBytes) {
  const Placement placement = place(PlannedProgram(kChain));
  EXPECT_EQ(placement.scratch_bytes, 2 * 16 * 16 * 4);
}

TEST(Buffers, ResultsAreWrittenWhereTheCallerWantsThem) {
  const PlannedProgram program(kChain);
  const Placement placement = place(program);
  EXPECT_EQ(placement.of(result_of(program, 0)).entry, placement.table.result(0));
  EXPECT_TRUE(placement.at_end.empty());
}

TEST(Buffers, ALoopWritesOverItsDyingInput) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %1 = stablehlo.exponential %0 : tensor<16x16xf32>
      %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      return %2 : tensor<16x16xf32>
    })");
  EXPECT_EQ(place(program).scratch_bytes, 16 * 16 * 4);
}

TEST(Buffers, ATransposedReadIsNotDoneInPlace) {
  const PlannedProgram program(R"(
    func.func public @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      %t = stablehlo.transpose %0, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %1 = stablehlo.exponential %t : tensor<16x16xf32>
      %2 = stablehlo.dot_general %1, %x, contracting_dims = [1] x [0]
          : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
      return %2 : tensor<16x16xf32>
    })");
  EXPECT_EQ(place(program).scratch_bytes, 2 * 16 * 16 * 4);
}

TEST(Buffers, AnAliasIsWrittenInPlaceIfNobodyReadsTheOldValueLater) {
  const PlannedProgram program(R"(
    func.func public @main(%p: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.subtract %p, %g : tensor<8xf32>
      return %0 : tensor<8xf32>
    })");
  const Placement placement = place(program, {.parameters = {}, .results = {}, .aliases = {0}});
  EXPECT_EQ(placement.of(result_of(program, 0)).entry, placement.table.result(0));
  EXPECT_EQ(placement.alias_of_entry[placement.table.result(0)], 0);
  EXPECT_EQ(placement.scratch_bytes, 0);
}

TEST(Buffers, AnAliasThatIsReadElsewhereIsCopiedAtTheEnd) {
  const PlannedProgram program(R"(
    func.func public @main(%p: tensor<8xf32>) -> tensor<8xf32> {
      %0 = stablehlo.reverse %p, dims = [0] : tensor<8xf32>
      %1 = stablehlo.subtract %p, %0 : tensor<8xf32>
      return %1 : tensor<8xf32>
    })");
  const Placement placement = place(program, {.parameters = {}, .results = {}, .aliases = {0}});
  EXPECT_EQ(placement.of(result_of(program, 0)).entry, placement.table.scratch());
  ASSERT_EQ(placement.at_end.size(), 1u);
}

TEST(Buffers, SwappedParametersGoThroughATemporary) {
  const PlannedProgram program(R"(
    func.func public @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
      return %b, %a : tensor<8xf32>, tensor<8xf32>
    })");
  const Placement placement = place(program, {.parameters = {}, .results = {}, .aliases = {0, 1}});
  const auto& copies = placement.at_end.at(program.plan.block);
  ASSERT_EQ(copies.size(), 4u);
  EXPECT_EQ(copies[0].to.entry, placement.table.scratch());
  EXPECT_EQ(copies[1].to.entry, placement.table.scratch());
  EXPECT_NE(copies[0].to.offset, copies[1].to.offset);
}

TEST(Buffers, ALoopsStateIsUpdatedInPlace) {
  const PlannedProgram program(R"(
    func.func public @main(%n: tensor<i32>, %x: tensor<64xf32>) -> tensor<64xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<64xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %element = stablehlo.constant dense<7.0> : tensor<1xf32>
        %w = stablehlo.dynamic_update_slice %v, %element, %i
            : (tensor<64xf32>, tensor<1xf32>, tensor<i32>) -> tensor<64xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %w : tensor<i32>, tensor<64xf32>
      }
      return %0#1 : tensor<64xf32>
    })");
  ASSERT_EQ(program.steps(), "while");
  const Placement placement = place(program);
  const PlanStep& loop = program.plan.steps[0];
  const hlo::Block& body = loop.op->region(1);
  EXPECT_FALSE(placement.at_end.contains(&body)) << "an iteration copies its state";
  EXPECT_EQ(placement.of(body.terminator().operand(1)), placement.of(body.argument(1)));
}

TEST(Buffers, WhatALoopReadsOutlivesItsLastIteration) {
  // %k is read in every iteration: nothing in the body may take its bytes.
  const PlannedProgram program(R"(
    func.func public @main(%n: tensor<i32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %k = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
          : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4x4xf32>
      cond {
        %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %a = stablehlo.dot_general %v, %k, contracting_dims = [1] x [0]
            : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        %b = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]
            : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %b : tensor<i32>, tensor<4x4xf32>
      }
      return %0#1 : tensor<4x4xf32>
    })");
  const Placement placement = place(program);
  const hlo::Block& main = program.module.main().body;
  const hlo::Value* k = nullptr;
  for (const auto& op : main.ops()) {
    if (op->kind() == hlo::OpKind::kDotGeneral) k = op->result();
  }
  ASSERT_NE(k, nullptr);
  for (const auto& [value, where] : placement.places) {
    if (value == k || where.entry != placement.table.scratch()) continue;
    const int64_t k_begin = placement.of(k).offset, k_end = k_begin + 64;
    const int64_t begin = where.offset, end = begin + value->type.num_bytes();
    EXPECT_TRUE(end <= k_begin || begin >= k_end) << hlo::to_string(value->type);
  }
}

}  // namespace
}  // namespace tpu::compiler
