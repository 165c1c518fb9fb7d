#include <cmath>
#include <numbers>

#include "emulator/hlo/evaluator/expect.h"
#include "emulator/hlo/evaluator/fourier.h"

namespace tpu::hlo {
namespace {

TEST(Cholesky, LowerAndUpper) {
  // L = [[2, 0], [1, 3]]; the triangle that is not read holds rubbish.
  expect_op("stablehlo.cholesky %a, lower = true : tensor<2x2xf32>",
            {"dense<[[4.0, 99.0], [2.0, 10.0]]> : tensor<2x2xf32>"},
            "dense<[[2.0, 0.0], [1.0, 3.0]]> : tensor<2x2xf32>");
  expect_op("stablehlo.cholesky %a, lower = false : tensor<2x2xf32>",
            {"dense<[[4.0, 2.0], [99.0, 10.0]]> : tensor<2x2xf32>"},
            "dense<[[2.0, 1.0], [0.0, 3.0]]> : tensor<2x2xf32>");
}

TEST(Cholesky, HermitianAndNotPositive) {
  // L = [[1, 0], [i, 2]]: a = L L^H = [[1, -i], [i, 5]].
  expect_op("stablehlo.cholesky %a, lower = true : tensor<2x2xcomplex<f64>>",
            {"dense<[[(1.0, 0.0), (0.0, 0.0)], [(0.0, 1.0), (5.0, 0.0)]]> : "
             "tensor<2x2xcomplex<f64>>"},
            "dense<[[(1.0, 0.0), (0.0, 0.0)], [(0.0, 1.0), (2.0, 0.0)]]> : "
            "tensor<2x2xcomplex<f64>>");
  expect_op("stablehlo.cholesky %a, lower = true : tensor<1x1xf32>",
            {"dense<[[-1.0]]> : tensor<1x1xf32>"}, "dense<[[0x7FC00000]]> : tensor<1x1xf32>");
}

std::string solve(const std::string& left, const std::string& lower, const std::string& unit,
                  const std::string& transpose, const std::string& types) {
  return R"("stablehlo.triangular_solve"(%a, %b) <{left_side = )" + left + ", lower = " + lower +
         ", unit_diagonal = " + unit + ", transpose_a = #stablehlo<transpose " + transpose +
         ">}> : " + types;
}

TEST(TriangularSolve, EverySide) {
  const std::string a = "dense<[[2.0, 99.0], [1.0, 4.0]]> : tensor<2x2xf32>";
  const std::string left = "(tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>";
  const std::string right = "(tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>";
  const std::string column = "dense<[[2.0], [9.0]]> : tensor<2x1xf32>";
  const std::string row = "dense<[[2.0, 8.0]]> : tensor<1x2xf32>";
  expect_op(solve("true", "true", "false", "NO_TRANSPOSE", left), {a, column},
            "dense<[[1.0], [2.0]]> : tensor<2x1xf32>");
  expect_op(solve("true", "true", "true", "NO_TRANSPOSE", left), {a, column},
            "dense<[[2.0], [7.0]]> : tensor<2x1xf32>");
  // Transposed: 2 x + y = 2, 4 y = 9.
  expect_op(solve("true", "true", "false", "TRANSPOSE", left), {a, column},
            "dense<[[-0.125], [2.25]]> : tensor<2x1xf32>");
  // x a = b: 4 x1 = 8, 2 x0 + x1 = 2.
  expect_op(solve("false", "true", "false", "NO_TRANSPOSE", right), {a, row},
            "dense<[[0.0, 2.0]]> : tensor<1x2xf32>");
  expect_op(solve("false", "true", "false", "TRANSPOSE", right), {a, row},
            "dense<[[1.0, 1.75]]> : tensor<1x2xf32>");
  expect_op(solve("true", "true", "false", "ADJOINT",
                  "(tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> "
                  "tensor<1x1xcomplex<f32>>"),
            {"dense<[[(0.0, 2.0)]]> : tensor<1x1xcomplex<f32>>",
             "dense<[[(2.0, 0.0)]]> : tensor<1x1xcomplex<f32>>"},
            "dense<[[(-0.0, 1.0)]]> : tensor<1x1xcomplex<f32>>");
}

TEST(Fft, ExactPowersOfFour) {
  const std::string in =
      "dense<[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]> : "
      "tensor<4xcomplex<f32>>";
  const std::string out =
      "dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0), (-2.0, -2.0)]> : "
      "tensor<4xcomplex<f32>>";
  const auto fft = [](const std::string& type, const std::string& from, const std::string& to) {
    return "stablehlo.fft %a, type = " + type + ", length = [4] : (" + from + ") -> " + to;
  };
  expect_op(fft("IFFT", "tensor<4xcomplex<f32>>", "tensor<4xcomplex<f32>>"), {out}, in);
  expect_op(fft("RFFT", "tensor<4xf32>", "tensor<3xcomplex<f32>>"),
            {"dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>"},
            "dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>");
  expect_op(fft("IRFFT", "tensor<3xcomplex<f32>>", "tensor<4xf32>"),
            {"dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>"},
            "dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>");
}

// The transform of every length up to 40 is near the sum that defines it, and inverts.
TEST(Fft, AgreesWithTheDefinition) {
  for (int64_t n = 1; n <= 40; ++n) {
    const FourierTransform<double> transform(n);
    std::vector<tensorcore::Complex<double>> x;
    for (int64_t i = 0; i < n; ++i) x.push_back({std::sin(3.0 * double(i)), double(i % 7) - 3});
    const auto result = transform.forward(x);
    for (int64_t k = 0; k < n; ++k) {
      double re = 0, im = 0;
      for (int64_t i = 0; i < n; ++i) {
        const double angle = -2 * std::numbers::pi * double(k * i % n) / double(n);
        re += x[i].re * std::cos(angle) - x[i].im * std::sin(angle);
        im += x[i].re * std::sin(angle) + x[i].im * std::cos(angle);
      }
      EXPECT_NEAR(result[k].re, re, 1e-12 * double(n)) << n << " " << k;
      EXPECT_NEAR(result[k].im, im, 1e-12 * double(n)) << n << " " << k;
    }
    const auto back = transform.inverse(result);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(back[i].re, x[i].re, 1e-13 * double(n));
      EXPECT_NEAR(back[i].im, x[i].im, 1e-13 * double(n));
    }
  }
}

TEST(Fft, SeveralDimensionsOneAfterTheOther) {
  expect_op(
      "stablehlo.fft %a, type = RFFT, length = [2, 2] : (tensor<2x2xf64>) -> "
      "tensor<2x2xcomplex<f64>>",
      {"dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf64>"},
      "dense<[[(11.0, 0.0), (-3.0, 0.0)], [(-5.0, 0.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f64>>");
}

}  // namespace
}  // namespace tpu::hlo
