#include "emulator/hlo/evaluator/contraction.h"

#include "emulator/hlo/evaluator/expect.h"

namespace tpu::hlo {
namespace {

TEST(DotGeneral, MatrixProduct) {
  expect_op(
      "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xi32>, "
      "tensor<3x2xi32>) -> tensor<2x2xi32>",
      {"dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>",
       "dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>"},
      "dense<[[4, 5], [10, 11]]> : tensor<2x2xi32>");
}

TEST(DotGeneral, BatchesAndWideIntegers) {
  expect_op(
      "stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [1] x [0] : "
      "(tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2xi32>",
      {"dense<[[-128, -128], [1, 2]]> : tensor<2x2xi8>",
       "dense<[[-128, 3], [-128, 4]]> : tensor<2x2xi8>"},
      "dense<[32768, 11]> : tensor<2xi32>");
  expect_op(
      "stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) "
      "-> tensor<i8>",
      {"dense<[100, 100]> : tensor<2xi8>", "dense<[2, 1]> : tensor<2xi8>"},
      "dense<44> : tensor<i8>");
}

TEST(DotGeneral, NothingToContract) {
  expect_op(
      "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x0xf32>, "
      "tensor<0x1xf32>) -> tensor<1x1xf32>",
      {"dense<> : tensor<1x0xf32>", "dense<> : tensor<0x1xf32>"},
      "dense<[[0.0]]> : tensor<1x1xf32>");
}

// x y for f32 scalars at a precision.
void expect_product(const std::string& precision, const std::string& x, const std::string& y,
                    const std::string& expected) {
  expect_op("stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], precision = [" +
                precision + ", " + precision + "] : (tensor<1xf32>, tensor<1xf32>) -> tensor<f32>",
            {"dense<[" + x + "]> : tensor<1xf32>", "dense<[" + y + "]> : tensor<1xf32>"},
            "dense<" + expected + "> : tensor<f32>");
}

TEST(DotGeneral, PassesOverBf16Parts) {
  // 1 + 2^-9 + 2^-17 has the parts 1, 2^-9 and 2^-17.
  const std::string x = "1.00196075439453125";
  expect_product("DEFAULT", x, "1.0", "1.0");
  expect_product("HIGH", x, "1.0", "1.001953125");
  expect_product("HIGHEST", x, "1.0", x);
  // Only three passes of parts with at most 2^-16 in all: h m + m h + h h.
  expect_product("HIGH", "1.00390625", "1.00390625", "1.0078125");
  expect_product("HIGHEST", "1.00390625", "1.00390625", "1.0078277587890625");
  // The largest f32 is infinite in bf16.
  expect_product("DEFAULT", "3.4028235e38", "1.0", "0x7F800000");
}

TEST(DotGeneral, ChunksOfTheMxuDepth) {
  // In one chunk 2^24 + 1 loses the 1; with chunks of 2, the ones are summed on their own.
  const std::string program = R"(func.func @main() -> (tensor<f32>, tensor<f32>) {
    %a = stablehlo.constant dense<[16777216.0, 0.0, 1.0, 1.0]> : tensor<4xf32>
    %b = stablehlo.constant dense<1.0> : tensor<4xf32>
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
        : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    %e = stablehlo.constant dense<EXPECTED> : tensor<f32>
    return %0, %e : tensor<f32>, tensor<f32>
  })";
  const auto with = [&](const std::string& expected) {
    std::string text = program;
    return text.replace(text.find("EXPECTED"), 8, expected);
  };
  expect_pairs(with("16777216.0"), {.mxu_depth = 128});
  expect_pairs(with("16777218.0"), {.mxu_depth = 2});
}

TEST(DotGeneral, NarrowResultsRoundOnce) {
  expect_op(
      "stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3xbf16>, "
      "tensor<3xbf16>) -> tensor<bf16>",
      {"dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>", "dense<1.0> : tensor<3xbf16>"},
      "dense<258.0> : tensor<bf16>");
}

TEST(DotGeneral, Complex) {
  expect_op(
      "stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xcomplex<f32>>, "
      "tensor<2xcomplex<f32>>) -> tensor<complex<f32>>",
      {"dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>",
       "dense<[(3.0, 4.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>"},
      "dense<(-6.0, 10.0)> : tensor<complex<f32>>");
}

std::string convolve(const std::string& window, const std::string& groups,
                     const std::string& types) {
  return "stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {" +
         window + "} {" + groups + "} : " + types;
}

TEST(Convolution, StridesPaddingDilationReversal) {
  const std::string x = "dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>";
  const std::string w = "dense<[[[1.0, 10.0]]]> : tensor<1x1x2xf32>";
  const std::string one = "batch_group_count = 1 : i64, feature_group_count = 1 : i64";
  const std::string in = "(tensor<1x1x4xf32>, tensor<1x1x2xf32>) -> ";
  expect_op(convolve("stride = [1]", one, in + "tensor<1x1x3xf32>"), {x, w},
            "dense<[[[21.0, 32.0, 43.0]]]> : tensor<1x1x3xf32>");
  expect_op(convolve("stride = [2], pad = [[1, 1]]", one, in + "tensor<1x1x3xf32>"), {x, w},
            "dense<[[[10.0, 32.0, 4.0]]]> : tensor<1x1x3xf32>");
  expect_op(convolve("stride = [1], reverse = [true]", one, in + "tensor<1x1x3xf32>"), {x, w},
            "dense<[[[12.0, 23.0, 34.0]]]> : tensor<1x1x3xf32>");
  expect_op(convolve("rhs_dilate = [2]", one, in + "tensor<1x1x2xf32>"), {x, w},
            "dense<[[[31.0, 42.0]]]> : tensor<1x1x2xf32>");
  expect_op(convolve("lhs_dilate = [2]", one, in + "tensor<1x1x6xf32>"), {x, w},
            "dense<[[[1.0, 20.0, 2.0, 30.0, 3.0, 40.0]]]> : tensor<1x1x6xf32>");
}

TEST(Convolution, Groups) {
  const std::string w = "dense<[[[2]], [[3]]]> : tensor<2x1x1xi32>";
  // Two features, each with a kernel of its own.
  expect_op(convolve("stride = [1]", "batch_group_count = 1 : i64, feature_group_count = 2 : i64",
                     "(tensor<1x2x2xi32>, tensor<2x1x1xi32>) -> tensor<1x2x2xi32>"),
            {"dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi32>", w},
            "dense<[[[2, 4], [9, 12]]]> : tensor<1x2x2xi32>");
  // Two halves of the batch, each for one output feature.
  expect_op(convolve("stride = [1]", "batch_group_count = 2 : i64, feature_group_count = 1 : i64",
                     "(tensor<2x1x2xi32>, tensor<2x1x1xi32>) -> tensor<1x2x2xi32>"),
            {"dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi32>", w},
            "dense<[[[2, 4], [9, 12]]]> : tensor<1x2x2xi32>");
}

TEST(Convolution, AnInfinityDoesNotShowInPadding) {
  expect_op(
      convolve("pad = [[1, 0]]", "batch_group_count = 1 : i64, feature_group_count = 1 : i64",
               "(tensor<1x1x1xf32>, tensor<1x1x2xf32>) -> tensor<1x1x1xf32>"),
      {"dense<[[[1.0]]]> : tensor<1x1x1xf32>", "dense<[[[0x7F800000, 1.0]]]> : tensor<1x1x2xf32>"},
      "dense<[[[1.0]]]> : tensor<1x1x1xf32>");
}

}  // namespace
}  // namespace tpu::hlo
