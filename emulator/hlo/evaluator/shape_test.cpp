#include "emulator/hlo/evaluator/expect.h"

namespace tpu::hlo {
namespace {

TEST(Shape, Iota) {
  expect_op("stablehlo.iota dim = 1 : tensor<2x3xi32>", {},
            "dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>");
  expect_op("stablehlo.iota dim = 0 : tensor<3xcomplex<f32>>", {},
            "dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f32>>");
  // i4 wraps beyond 7.
  expect_op("stablehlo.iota dim = 0 : tensor<9xi4>", {},
            "dense<[0, 1, 2, 3, 4, 5, 6, 7, -8]> : tensor<9xi4>");
}

TEST(Shape, BroadcastInDim) {
  expect_op("stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<2xi32>) -> tensor<2x2xi32>",
            {"dense<[1, 2]> : tensor<2xi32>"}, "dense<[[1, 2], [1, 2]]> : tensor<2x2xi32>");
  expect_op("stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<1x2xi32>) -> tensor<2x3xi32>",
            {"dense<[[1, 2]]> : tensor<1x2xi32>"},
            "dense<[[1, 1, 1], [2, 2, 2]]> : tensor<2x3xi32>");
  expect_op("stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<0x2xf32>",
            {"dense<1.0> : tensor<f32>"}, "dense<> : tensor<0x2xf32>");
}

TEST(Shape, Rearrangements) {
  const std::string x = "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>";
  expect_op("stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<3x2xi32>", {x},
            "dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>");
  expect_op("stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>", {x},
            "dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>");
  expect_op("stablehlo.reverse %a, dims = [1] : tensor<2x3xi32>", {x},
            "dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>");
  expect_op("stablehlo.slice %a [0:2:1, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>", {x},
            "dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>");
  expect_op("stablehlo.slice %a [1:1, 0:3] : (tensor<2x3xi32>) -> tensor<0x3xi32>", {x},
            "dense<> : tensor<0x3xi32>");
}

TEST(Shape, TransposeOfThreeDimensions) {
  // result[i, j, k] = operand at [k, i, j].
  expect_op("stablehlo.transpose %a, dims = [1, 2, 0] : (tensor<2x1x3xi8>) -> tensor<1x3x2xi8>",
            {"dense<[[[1, 2, 3]], [[4, 5, 6]]]> : tensor<2x1x3xi8>"},
            "dense<[[[1, 4], [2, 5], [3, 6]]]> : tensor<1x3x2xi8>");
}

TEST(Shape, Concatenate) {
  expect_op(
      "stablehlo.concatenate %a, %b, %c, dim = 1 : (tensor<2x1xi32>, tensor<2x0xi32>, "
      "tensor<2x2xi32>) -> tensor<2x3xi32>",
      {"dense<[[1], [2]]> : tensor<2x1xi32>", "dense<> : tensor<2x0xi32>",
       "dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>"},
      "dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi32>");
}

TEST(Shape, Pad) {
  expect_op(
      "stablehlo.pad %a, %b, low = [1], high = [2], interior = [1] : (tensor<3xi32>, tensor<i32>) "
      "-> tensor<8xi32>",
      {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<9> : tensor<i32>"},
      "dense<[9, 1, 9, 2, 9, 3, 9, 9]> : tensor<8xi32>");
  expect_op(
      "stablehlo.pad %a, %b, low = [-1], high = [-1], interior = [1] : (tensor<3xi32>, "
      "tensor<i32>) -> tensor<3xi32>",
      {"dense<[1, 2, 3]> : tensor<3xi32>", "dense<9> : tensor<i32>"},
      "dense<[9, 2, 9]> : tensor<3xi32>");
}

TEST(Shape, DynamicSlicesClampTheirStart) {
  const std::string type = " : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>";
  const std::string x = "dense<[1, 2, 3, 4]> : tensor<4xi32>";
  expect_op("stablehlo.dynamic_slice %a, %b, sizes = [2]" + type, {x, "dense<1> : tensor<i32>"},
            "dense<[2, 3]> : tensor<2xi32>");
  expect_op("stablehlo.dynamic_slice %a, %b, sizes = [2]" + type, {x, "dense<9> : tensor<i32>"},
            "dense<[3, 4]> : tensor<2xi32>");
  expect_op("stablehlo.dynamic_slice %a, %b, sizes = [2]" + type, {x, "dense<-9> : tensor<i32>"},
            "dense<[1, 2]> : tensor<2xi32>");
  // An unsigned index is never negative.
  expect_op(
      "stablehlo.dynamic_slice %a, %b, sizes = [2] : (tensor<4xi32>, tensor<ui64>) -> "
      "tensor<2xi32>",
      {x, "dense<18446744073709551615> : tensor<ui64>"}, "dense<[3, 4]> : tensor<2xi32>");
  expect_op(
      "stablehlo.dynamic_update_slice %a, %b, %c : (tensor<4xi32>, tensor<2xi32>, tensor<i32>) -> "
      "tensor<4xi32>",
      {x, "dense<[8, 9]> : tensor<2xi32>", "dense<7> : tensor<i32>"},
      "dense<[1, 2, 8, 9]> : tensor<4xi32>");
}

TEST(Shape, BitcastConvert) {
  expect_op("stablehlo.bitcast_convert %a : (tensor<1xf32>) -> tensor<1xi32>",
            {"dense<[1.0]> : tensor<1xf32>"}, "dense<[1065353216]> : tensor<1xi32>");
  // Least significant part first.
  expect_op("stablehlo.bitcast_convert %a : (tensor<1xui32>) -> tensor<1x2xui16>",
            {"dense<[65538]> : tensor<1xui32>"}, "dense<[[2, 1]]> : tensor<1x2xui16>");
  expect_op("stablehlo.bitcast_convert %a : (tensor<1x4xi8>) -> tensor<1xi32>",
            {"dense<[[-1, 0, 0, 0]]> : tensor<1x4xi8>"}, "dense<[255]> : tensor<1xi32>");
  expect_op("stablehlo.bitcast_convert %a : (tensor<2xi4>) -> tensor<2xui4>",
            {"dense<[-1, 5]> : tensor<2xi4>"}, "dense<[15, 5]> : tensor<2xui4>");
}

TEST(Shape, GetDimensionSize) {
  expect_op("stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>",
            {"dense<0.0> : tensor<2x3xf32>"}, "dense<3> : tensor<i32>");
}

TEST(Gather, RowsByIndex) {
  expect_op(R"("stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>, indices_are_sorted = false}>
      : (tensor<3x2xi32>, tensor<4xi32>) -> tensor<4x2xi32>)",
            {"dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>",
             "dense<[2, 0, -1, 7]> : tensor<4xi32>"},  // the last two are clamped
            "dense<[[5, 6], [1, 2], [1, 2], [5, 6]]> : tensor<4x2xi32>");
}

TEST(Gather, BatchingDimensions) {
  // One index a row: result[b] = operand[b, index[b]].
  expect_op(R"("stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<
      collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
      start_index_map = [1], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}>
      : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2xi32>)",
            {"dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>", "dense<[2, 1]> : tensor<2xi32>"},
            "dense<[3, 5]> : tensor<2xi32>");
}

TEST(Scatter, UpdatesInOrderAndSkipsWhatIsOutside) {
  const auto scatter = [](const std::string& body, const std::string& expected) {
    expect_op(R"("stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
        indices_are_sorted = false, unique_indices = false}> ({
        ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        )" + body +
                  R"(
        }) : (tensor<4xi32>, tensor<5xi32>, tensor<5xi32>) -> tensor<4xi32>)",
              {"dense<[10, 20, 30, 40]> : tensor<4xi32>", "dense<[1, 3, 1, -1, 4]> : tensor<5xi32>",
               "dense<[1, 2, 3, 4, 5]> : tensor<5xi32>"},
              expected);
  };
  scatter("%s = stablehlo.add %x, %y : tensor<i32>\n stablehlo.return %s : tensor<i32>",
          "dense<[10, 24, 30, 42]> : tensor<4xi32>");
  scatter("stablehlo.return %y : tensor<i32>", "dense<[10, 3, 30, 2]> : tensor<4xi32>");
}

TEST(Scatter, AWindowMayBePartlyOutside) {
  expect_op(R"("stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 0>,
      indices_are_sorted = false, unique_indices = false}> ({
      ^bb0(%x: tensor<i32>, %y: tensor<i32>):
        stablehlo.return %y : tensor<i32>
      }) : (tensor<4xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>)",
            {"dense<[10, 20, 30, 40]> : tensor<4xi32>", "dense<[2]> : tensor<1xi32>",
             "dense<[1, 2, 3]> : tensor<3xi32>"},
            "dense<[10, 20, 1, 2]> : tensor<4xi32>");
}

}  // namespace
}  // namespace tpu::hlo
