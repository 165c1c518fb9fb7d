#include "emulator/hlo/evaluator/expect.h"

namespace tpu::hlo {
namespace {

TEST(Reduce, OverRowsColumnsAndAll) {
  const std::string x = "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>";
  const std::string zero = "dense<0> : tensor<i32>";
  const auto reduce = [&](const std::string& dims, const std::string& expected) {
    const std::string type = expected.substr(expected.rfind(" : ") + 3);
    expect_op("stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = " + dims +
                  " : (tensor<2x3xi32>, tensor<i32>) -> " + type,
              {x, zero}, expected);
  };
  reduce("[1]", "dense<[6, 15]> : tensor<2xi32>");
  reduce("[0]", "dense<[5, 7, 9]> : tensor<3xi32>");
  reduce("[0, 1]", "dense<21> : tensor<i32>");
  reduce("[]", x);
}

TEST(Reduce, NothingGivesInit) {
  expect_op(
      "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : "
      "(tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>",
      {"dense<> : tensor<2x0xf32>", "dense<-0.0> : tensor<f32>"},
      "dense<[-0.0, -0.0]> : tensor<2xf32>");
}

// body(accumulator, x) = 2 accumulator + x shows the order: each combination doubles what was
// there before.
std::string doubling_reduce(int64_t count) {
  const std::string n = std::to_string(count);
  return R"(stablehlo.reduce(%a init: %b) across dimensions = [0]
      : (tensor<)" +
         n + R"(xi64>, tensor<i64>) -> tensor<i64>
      reducer(%x: tensor<i64>, %y: tensor<i64>) {
        %two = stablehlo.constant dense<2> : tensor<i64>
        %d = stablehlo.multiply %x, %two : tensor<i64>
        %s = stablehlo.add %d, %y : tensor<i64>
        stablehlo.return %s : tensor<i64>
      })";
}

TEST(Reduce, LanesThenTree) {
  // Three elements are three lanes: h = 2 joins lanes 0 and 2, h = 1 the result with lane 1:
  // 2 (2 * 1 + 4) + 2 = 14; then init: 2 * 100 + 14.
  expect_op(doubling_reduce(3), {"dense<[1, 2, 4]> : tensor<3xi64>", "dense<100> : tensor<i64>"},
            "dense<214> : tensor<i64>");
  // 34 ones: lanes 0 and 1 become 2 + 1 = 3. The tree doubles lane 0's share at each of 5 levels.
  // In level h lane l < h becomes 2 l + (l + h). With all lanes 1 the tree gives 3^5 = 243; lane
  // 0's extra 2 weighs 2^5, lane 1's 2^4: 243 + 64 + 32 = 339.
  std::string ones = "1";
  for (int i = 1; i < 34; ++i) ones += ", 1";
  expect_op(doubling_reduce(34),
            {"dense<[" + ones + "]> : tensor<34xi64>", "dense<0> : tensor<i64>"},
            "dense<339> : tensor<i64>");
}

TEST(Reduce, FloatSumsFollowTheLanes) {
  // Lane 0 adds elements 0 and 32, so that the large numbers cancel before lane 1 is added.
  std::string x = "1.0e30, 1.0";
  for (int i = 2; i < 32; ++i) x += ", 0.0";
  x += ", -1.0e30";
  expect_op(
      "stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : "
      "(tensor<33xf32>, tensor<f32>) -> tensor<f32>",
      {"dense<[" + x + "]> : tensor<33xf32>", "dense<0.0> : tensor<f32>"},
      "dense<1.0> : tensor<f32>");
}

TEST(Reduce, Variadic) {
  expect_pairs(R"(
    func.func @main() -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
      %x = stablehlo.constant dense<[3, 9, 9, 1]> : tensor<4xi32>
      %i = stablehlo.iota dim = 0 : tensor<4xi32>
      %low = stablehlo.constant dense<-1> : tensor<i32>
      %0:2 = stablehlo.reduce(%x init: %low), (%i init: %low) across dimensions = [0]
          : (tensor<4xi32>, tensor<4xi32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
          reducer(%a: tensor<i32>, %c: tensor<i32>) (%b: tensor<i32>, %d: tensor<i32>) {
        %better = stablehlo.compare GE, %a, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %v = stablehlo.select %better, %a, %c : tensor<i1>, tensor<i32>
        %n = stablehlo.select %better, %b, %d : tensor<i1>, tensor<i32>
        stablehlo.return %v, %n : tensor<i32>, tensor<i32>
      }
      %nine = stablehlo.constant dense<9> : tensor<i32>
      // Lanes 0, 2 (tie 3 < 9 gives 2) join first, then lane 1: 9 >= 9 keeps index 2.
      %two = stablehlo.constant dense<2> : tensor<i32>
      return %0#0, %nine, %0#1, %two : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    })");
}

std::string window_sum(const std::string& attributes, const std::string& result) {
  return R"("stablehlo.reduce_window"(%a, %b) <{)" + attributes + R"(}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<4xi32>, tensor<i32>) -> )" +
         result;
}

TEST(ReduceWindow, StridesPaddingDilation) {
  const std::string x = "dense<[1, 2, 3, 4]> : tensor<4xi32>", zero = "dense<0> : tensor<i32>";
  expect_op(window_sum("window_dimensions = array<i64: 2>", "tensor<3xi32>"), {x, zero},
            "dense<[3, 5, 7]> : tensor<3xi32>");
  expect_op(window_sum("window_dimensions = array<i64: 2>, window_strides = array<i64: 2>, "
                       "padding = dense<[[1, 1]]> : tensor<1x2xi64>",
                       "tensor<3xi32>"),
            {x, zero}, "dense<[1, 5, 4]> : tensor<3xi32>");
  expect_op(window_sum("window_dimensions = array<i64: 2>, window_dilations = array<i64: 3>",
                       "tensor<1xi32>"),
            {x, zero}, "dense<[5]> : tensor<1xi32>");
  // 1 . 2 . 3 . 4 with holes: windows of 3 see one or two elements.
  expect_op(window_sum("window_dimensions = array<i64: 3>, base_dilations = array<i64: 2>",
                       "tensor<5xi32>"),
            {x, zero}, "dense<[3, 2, 5, 3, 7]> : tensor<5xi32>");
}

TEST(ReduceWindow, PaddingCountsAsInit) {
  // Every window starts from 10 and takes one more 10 for the position in padding.
  expect_op(window_sum("window_dimensions = array<i64: 2>, window_strides = array<i64: 4>, "
                       "padding = dense<[[1, 0]]> : tensor<1x2xi64>",
                       "tensor<1xi32>"),
            {"dense<[1, 2, 3, 4]> : tensor<4xi32>", "dense<10> : tensor<i32>"},
            "dense<[21]> : tensor<1xi32>");
}

TEST(SelectAndScatter, SendsEachSourceToItsWindowsWinner) {
  expect_op(R"("stablehlo.select_and_scatter"(%a, %b, %c) <{
      window_dimensions = array<i64: 2>, window_strides = array<i64: 2>,
      padding = dense<0> : tensor<1x2xi64>}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %p = stablehlo.compare GE, %x, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }, {
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %s = stablehlo.add %x, %y : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>)",
            {"dense<[1, 5, 7, 7]> : tensor<4xi32>", "dense<[20, 30]> : tensor<2xi32>",
             "dense<100> : tensor<i32>"},
            "dense<[100, 120, 130, 100]> : tensor<4xi32>");
}

TEST(Map, AppliesToEachElement) {
  expect_op(R"("stablehlo.map"(%a, %b) <{dimensions = array<i64: 0>}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        %0 = stablehlo.multiply %x, %y : tensor<i32>
        stablehlo.return %0 : tensor<i32>
      }) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>)",
            {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<[4, 5, 6]> : tensor<3xi32>"},
            "dense<[4, 10, 18]> : tensor<3xi32>");
}

TEST(Sort, StableWithPayload) {
  expect_pairs(R"(
    func.func @main() -> (tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>) {
      %k = stablehlo.constant dense<[[3, 1, 3, 2], [0, 0, 0, 0]]> : tensor<2x4xi32>
      %v = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi32>
      %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 1 : i64, is_stable = false}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
        %p = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<2x4xi32>, tensor<2x4xi32>) -> (tensor<2x4xi32>, tensor<2x4xi32>)
      %e0 = stablehlo.constant dense<[[3, 3, 2, 1], [0, 0, 0, 0]]> : tensor<2x4xi32>
      %e1 = stablehlo.constant dense<[[0, 2, 3, 1], [4, 5, 6, 7]]> : tensor<2x4xi32>
      return %0#0, %e0, %0#1, %e1
          : tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>, tensor<2x4xi32>
    })");
}

TEST(Sort, AlongTheFirstDimensionWithNans) {
  expect_op(R"("stablehlo.sort"(%a) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%x: tensor<f32>, %y: tensor<f32>):
        %p = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<4x1xf32>) -> tensor<4x1xf32>)",
            {"dense<[[0xFFC00000], [0.0], [-0.0], [-1.0]]> : tensor<4x1xf32>"},
            "dense<[[-1.0], [-0.0], [0.0], [0x7FC00000]]> : tensor<4x1xf32>");
}

}  // namespace
}  // namespace tpu::hlo
