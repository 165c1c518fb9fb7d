#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/expect.h"

namespace tpu::hlo {
namespace {

// A unary or binary op on vectors of one type.
void expect_vector(const std::string& op, const std::string& type,
                   const std::vector<std::string>& operands, const std::string& expected) {
  std::vector<std::string> constants;
  std::string names;
  for (size_t i = 0; i < operands.size(); ++i) {
    constants.push_back("dense<" + operands[i] + "> : " + type);
    names += std::string(i ? ", %" : "%") + static_cast<char>('a' + i);
  }
  expect_op("stablehlo." + op + " " + names + " : " + type, constants,
            "dense<" + expected + "> : " + type);
}

TEST(Elementwise, IntegersWrapInTheirWidth) {
  expect_vector("add", "tensor<3xi8>", {"[127, -128, 1]", "[1, -1, 2]"}, "[-128, 127, 3]");
  expect_vector("add", "tensor<2xui8>", {"[255, 7]", "[1, 8]"}, "[0, 15]");
  expect_vector("add", "tensor<2xi4>", {"[7, -8]", "[1, -1]"}, "[-8, 7]");
  expect_vector("subtract", "tensor<2xui32>", {"[0, 5]", "[1, 3]"}, "[4294967295, 2]");
  expect_vector("multiply", "tensor<2xi16>", {"[300, -1]", "[300, -32768]"}, "[24464, -32768]");
  expect_vector("multiply", "tensor<1xui4>", {"[7]", "[5]"}, "[3]");
  expect_vector("negate", "tensor<3xi32>", {"[1, -2147483648, 0]"}, "[-1, -2147483648, 0]");
  expect_vector("negate", "tensor<1xui8>", {"[1]"}, "[255]");
  expect_vector("abs", "tensor<3xi8>", {"[-5, -128, 5]"}, "[5, -128, 5]");
}

TEST(Elementwise, IntegerDivisionHasNoFaults) {
  expect_vector("divide", "tensor<5xi32>", {"[7, -7, 1, -2147483648, 0]", "[2, 2, 0, -1, 0]"},
                "[3, -3, -1, -2147483648, -1]");
  expect_vector("divide", "tensor<2xui8>", {"[200, 3]", "[7, 0]"}, "[28, 255]");
  expect_vector("remainder", "tensor<5xi32>", {"[7, -7, 1, -2147483648, 7]", "[2, 2, 0, -1, -2]"},
                "[1, -1, 1, 0, 1]");
  expect_vector("remainder", "tensor<2xui64>", {"[18446744073709551615, 5]", "[10, 0]"}, "[5, 5]");
}

TEST(Elementwise, IntegerPower) {
  expect_vector("power", "tensor<6xi32>", {"[2, -3, 0, 1, -1, 5]", "[10, 3, 0, -4, -3, -1]"},
                "[1024, -27, 1, 1, -1, 0]");
  expect_vector("power", "tensor<2xui8>", {"[2, 3]", "[8, 5]"}, "[0, 243]");
}

TEST(Elementwise, BitOps) {
  expect_vector("and", "tensor<2xi8>", {"[12, -1]", "[10, 5]"}, "[8, 5]");
  expect_vector("or", "tensor<2xi8>", {"[12, -128]", "[10, 5]"}, "[14, -123]");
  expect_vector("xor", "tensor<2xui8>", {"[12, 255]", "[10, 15]"}, "[6, 240]");
  expect_vector("not", "tensor<2xi8>", {"[0, 5]"}, "[-1, -6]");
  expect_vector("not", "tensor<2xi1>", {"[true, false]"}, "[false, true]");
  expect_vector("popcnt", "tensor<3xi8>", {"[0, -1, 5]"}, "[0, 8, 2]");
  expect_vector("popcnt", "tensor<1xi4>", {"[-1]"}, "[4]");
  expect_vector("count_leading_zeros", "tensor<4xi16>", {"[0, 1, -1, 256]"}, "[16, 15, 0, 7]");
  expect_vector("count_leading_zeros", "tensor<1xui4>", {"[1]"}, "[3]");
}

TEST(Elementwise, ShiftsByTheWidthOrMore) {
  expect_vector("shift_left", "tensor<4xi8>", {"[1, 1, 3, 1]", "[7, 8, 100, -1]"},
                "[-128, 0, 0, 0]");
  expect_vector("shift_right_logical", "tensor<3xi8>", {"[-128, -1, -1]", "[7, 8, 1]"},
                "[1, 0, 127]");
  expect_vector("shift_right_arithmetic", "tensor<4xi8>", {"[-128, -1, 64, -4]", "[7, 8, 9, 1]"},
                "[-1, -1, 0, -2]");
  expect_vector("shift_right_arithmetic", "tensor<2xui8>", {"[128, 64]", "[1, 1]"}, "[192, 32]");
}

TEST(Elementwise, TruthValues) {
  const std::string a = "[false, false, true, true]", b = "[false, true, false, true]";
  expect_vector("add", "tensor<4xi1>", {a, b}, "[false, true, true, true]");
  expect_vector("multiply", "tensor<4xi1>", {a, b}, "[false, false, false, true]");
  expect_vector("maximum", "tensor<4xi1>", {a, b}, "[false, true, true, true]");
  expect_vector("minimum", "tensor<4xi1>", {a, b}, "[false, false, false, true]");
}

TEST(Elementwise, MaximumAndMinimumOfSpecials) {
  // 0x7FC00000 is a NaN.
  expect_vector("maximum", "tensor<5xf32>",
                {"[0x7FC00000, 1.0, -0.0, 0.0, 2.0]", "[1.0, 0x7FC00000, 0.0, -0.0, 3.0]"},
                "[0x7FC00000, 0x7FC00000, 0.0, 0.0, 3.0]");
  expect_vector("minimum", "tensor<4xbf16>", {"[0x7FC0, -0.0, 0.0, 2.0]", "[1.0, 0.0, -0.0, 3.0]"},
                "[0x7FC0, -0.0, -0.0, 2.0]");
  expect_vector("maximum", "tensor<2xui8>", {"[200, 1]", "[100, 2]"}, "[200, 2]");
  expect_vector("maximum", "tensor<2xi8>", {"[-56, 1]", "[100, 2]"}, "[100, 2]");
}

TEST(Elementwise, FloatArithmeticRoundsToTheType) {
  // 256 + 1 is between two bf16 numbers; the tie goes to the even one.
  expect_vector("add", "tensor<2xbf16>", {"[256.0, 258.0]", "[1.0, 1.0]"}, "[256.0, 260.0]");
  expect_vector("multiply", "tensor<1xf16>", {"[300.0]", "[300.0]"}, "[0x7C00]");
  expect_vector("add", "tensor<1xf8E4M3FN>", {"[448.0]", "[448.0]"}, "[0x7F]");
  expect_vector("divide", "tensor<3xf32>", {"[1.0, -1.0, 0.0]", "[0.0, 0.0, 0.0]"},
                "[0x7F800000, 0xFF800000, 0x7FC00000]");
  // The smallest subnormal stays.
  expect_vector("multiply", "tensor<1xf32>", {"[0x00000001]", "[1.0]"}, "[0x00000001]");
  expect_vector("subtract", "tensor<1xf64>", {"[1.0]", "[1.0e-30]"}, "[1.0]");
  expect_vector("remainder", "tensor<4xf32>", {"[5.5, -5.5, 5.5, 1.0]", "[2.0, 2.0, -2.0, 0.0]"},
                "[1.5, -1.5, 1.5, 0x7FC00000]");
}

TEST(Elementwise, RoundingAndSigns) {
  const std::string x = "[-2.5, -0.5, 0.5, 1.5, 2.5, -0.0]";
  expect_vector("round_nearest_even", "tensor<6xf32>", {x}, "[-2.0, -0.0, 0.0, 2.0, 2.0, -0.0]");
  expect_vector("round_nearest_afz", "tensor<6xf32>", {x}, "[-3.0, -1.0, 1.0, 2.0, 3.0, -0.0]");
  expect_vector("floor", "tensor<6xf32>", {x}, "[-3.0, -1.0, 0.0, 1.0, 2.0, -0.0]");
  expect_vector("ceil", "tensor<6xf32>", {x}, "[-2.0, -0.0, 1.0, 2.0, 3.0, -0.0]");
  expect_vector("sign", "tensor<5xf32>", {"[-3.0, 0.0, -0.0, 0x7F800000, 0x7FC00000]"},
                "[-1.0, 0.0, -0.0, 1.0, 0x7FC00000]");
  expect_vector("sign", "tensor<3xi32>", {"[-3, 0, 9]"}, "[-1, 0, 1]");
  expect_vector("abs", "tensor<2xf32>", {"[-0.0, -3.0]"}, "[0.0, 3.0]");
}

TEST(Elementwise, ElementaryFunctionsAtExactPoints) {
  expect_vector("sqrt", "tensor<4xf32>", {"[4.0, 2.0, -0.0, -1.0]"},
                "[2.0, 0x3FB504F3, -0.0, 0x7FC00000]");
  expect_vector("rsqrt", "tensor<2xf64>", {"[4.0, 0.0]"}, "[0.5, 0x7FF0000000000000]");
  expect_vector("cbrt", "tensor<2xf32>", {"[27.0, -8.0]"}, "[3.0, -2.0]");
  expect_vector("exponential", "tensor<3xf32>", {"[0.0, 0xFF800000, 100.0]"},
                "[1.0, 0.0, 0x7F800000]");
  expect_vector("log", "tensor<3xf32>", {"[1.0, 0.0, -1.0]"}, "[0.0, 0xFF800000, 0x7FC00000]");
  expect_vector("exponential_minus_one", "tensor<1xf32>", {"[0.0]"}, "[0.0]");
  expect_vector("log_plus_one", "tensor<1xf32>", {"[0.0]"}, "[0.0]");
  expect_vector("logistic", "tensor<3xbf16>", {"[0.0, 100.0, -1000.0]"}, "[0.5, 1.0, 0.0]");
  expect_vector("tanh", "tensor<3xf16>", {"[0.0, 20.0, -20.0]"}, "[0.0, 1.0, -1.0]");
  expect_vector("sine", "tensor<1xf32>", {"[0.0]"}, "[0.0]");
  expect_vector("cosine", "tensor<1xf32>", {"[0.0]"}, "[1.0]");
  expect_vector("tan", "tensor<1xf64>", {"[0.0]"}, "[0.0]");
  expect_vector("power", "tensor<4xf32>", {"[2.0, 3.0, 0.0, 9.0]", "[10.0, 0.0, -1.0, 0.5]"},
                "[1024.0, 1.0, 0x7F800000, 3.0]");
  expect_vector("atan2", "tensor<2xf32>", {"[0.0, 1.0]", "[1.0, 1.0]"}, "[0.0, 0x3F490FDB]");
}

TEST(Elementwise, Chlo) {
  expect_op("stablehlo.custom_call @chlo.erf(%a) : (tensor<3xf32>) -> tensor<3xf32>",
            {"dense<[0.0, 10.0, -10.0]> : tensor<3xf32>"},
            "dense<[0.0, 1.0, -1.0]> : tensor<3xf32>");
  expect_op("stablehlo.custom_call @chlo.lgamma(%a) : (tensor<2xf64>) -> tensor<2xf64>",
            {"dense<[1.0, 2.0]> : tensor<2xf64>"}, "dense<[0.0, 0.0]> : tensor<2xf64>");
  expect_op("stablehlo.custom_call @chlo.asin(%a) : (tensor<2xbf16>) -> tensor<2xbf16>",
            {"dense<[0.0, 2.0]> : tensor<2xbf16>"}, "dense<[0.0, 0x7FC0]> : tensor<2xbf16>");
}

void expect_compare(const std::string& direction, const std::string& type, const std::string& a,
                    const std::string& b, const std::string& kind, const std::string& expected) {
  expect_op("stablehlo.compare " + direction + ", %a, %b, " + kind + " : (" + type + ", " + type +
                ") -> tensor<4xi1>",
            {"dense<" + a + "> : " + type, "dense<" + b + "> : " + type},
            "dense<" + expected + "> : tensor<4xi1>");
}

TEST(Elementwise, Compare) {
  const std::string a = "[1.0, -0.0, 0x7FC00000, 2.0]", b = "[2.0, 0.0, 0x7FC00000, 2.0]";
  const auto f32 = [&](const std::string& direction, const std::string& expected) {
    expect_compare(direction, "tensor<4xf32>", a, b, "FLOAT", expected);
  };
  f32("EQ", "[false, true, false, true]");
  f32("NE", "[true, false, true, false]");
  f32("LT", "[true, false, false, false]");
  f32("LE", "[true, true, false, true]");
  f32("GT", "[false, false, false, false]");
  f32("GE", "[false, true, false, true]");
  expect_compare("LT", "tensor<4xi8>", "[-1, 1, 0, 5]", "[1, -1, 0, 6]", "SIGNED",
                 "[true, false, false, true]");
  expect_compare("LT", "tensor<4xui8>", "[255, 1, 0, 5]", "[1, 255, 0, 6]", "UNSIGNED",
                 "[false, true, false, true]");
}

TEST(Elementwise, TotalOrderPutsEveryNanLast) {
  expect_compare("LT", "tensor<4xf32>", "[-0.0, 0x7F800000, 0xFFC00000, 0x7FC00000]",
                 "[0.0, 0x7FC00000, 0x7F800000, 0xFFC00000]", "TOTALORDER",
                 "[true, true, false, false]");
  expect_compare("EQ", "tensor<4xf32>", "[-0.0, 0.0, 0xFFC00000, 0x7FC00000]",
                 "[0.0, 0.0, 0x7FC00000, 1.0]", "TOTALORDER", "[false, true, true, false]");
}

TEST(Elementwise, SelectAndClamp) {
  expect_op("stablehlo.select %a, %b, %c : tensor<2xi1>, tensor<2xi32>",
            {"dense<[true, false]> : tensor<2xi1>", "dense<[1, 2]> : tensor<2xi32>",
             "dense<[3, 4]> : tensor<2xi32>"},
            "dense<[1, 4]> : tensor<2xi32>");
  expect_op("stablehlo.select %a, %b, %c : tensor<i1>, tensor<2xf32>",
            {"dense<false> : tensor<i1>", "dense<[1.0, 2.0]> : tensor<2xf32>",
             "dense<[3.0, 4.0]> : tensor<2xf32>"},
            "dense<[3.0, 4.0]> : tensor<2xf32>");
  expect_op(
      "stablehlo.clamp %a, %b, %c : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>",
      {"dense<0> : tensor<i32>", "dense<[-5, 3, 9]> : tensor<3xi32>", "dense<5> : tensor<i32>"},
      "dense<[0, 3, 5]> : tensor<3xi32>");
}

void expect_convert(const std::string& from, const std::string& x, const std::string& to,
                    const std::string& expected) {
  expect_op("stablehlo.convert %a : (" + from + ") -> " + to, {"dense<" + x + "> : " + from},
            "dense<" + expected + "> : " + to);
}

TEST(Elementwise, ConvertFloatToInteger) {
  expect_convert("tensor<6xf32>", "[1.9, -1.9, 300.0, -300.0, 0x7FC00000, 0xFF800000]",
                 "tensor<6xi8>", "[1, -1, 127, -128, 0, -128]");
  expect_convert("tensor<4xf32>", "[-1.0, 0.5, 256.0, 255.5]", "tensor<4xui8>", "[0, 0, 255, 255]");
  expect_convert("tensor<3xf64>", "[1.0e30, -1.0e30, 9007199254740993.0]", "tensor<3xi64>",
                 "[9223372036854775807, -9223372036854775808, 9007199254740992]");
  expect_convert("tensor<1xf32>", "[1.0e30]", "tensor<1xui64>", "[18446744073709551615]");
  expect_convert("tensor<3xf16>", "[9.0, -9.0, 3.5]", "tensor<3xi4>", "[7, -8, 3]");
  expect_convert("tensor<4xf32>", "[0.0, -0.0, 0.25, 0x7FC00000]", "tensor<4xi1>",
                 "[false, false, true, true]");
}

TEST(Elementwise, ConvertBetweenOthers) {
  expect_convert("tensor<3xi32>", "[257, -1, 128]", "tensor<3xi8>", "[1, -1, -128]");
  expect_convert("tensor<2xi8>", "[-1, 5]", "tensor<2xui32>", "[4294967295, 5]");
  expect_convert("tensor<2xi32>", "[16777217, -3]", "tensor<2xf32>", "[16777216.0, -3.0]");
  expect_convert("tensor<1xui64>", "[18446744073709551615]", "tensor<1xf32>",
                 "[1.8446744073709552E19]");
  expect_convert("tensor<2xi1>", "[true, false]", "tensor<2xbf16>", "[1.0, 0.0]");
  expect_convert("tensor<2xf32>", "[1.00390625, 1.01171875]", "tensor<2xbf16>", "[1.0, 1.015625]");
  // By way of f32, where 1 + 2^-8 + 2^-40 is a tie; rounding once would give 1.0078125.
  expect_convert("tensor<1xf64>", "[0x3FF0100000001000]", "tensor<1xbf16>", "[1.0]");
  expect_convert("tensor<1xf32>", "[3.0]", "tensor<1xcomplex<f32>>", "[(3.0, 0.0)]");
  expect_convert("tensor<1xcomplex<f32>>", "[(3.0, 4.0)]", "tensor<1xi32>", "[3]");
}

TEST(Elementwise, ReducePrecision) {
  const auto reduce = [](const std::string& format, const std::string& x,
                         const std::string& expected) {
    expect_op("stablehlo.reduce_precision %a, format = " + format + " : tensor<4xf32>",
              {"dense<" + x + "> : tensor<4xf32>"}, "dense<" + expected + "> : tensor<4xf32>");
  };
  reduce("e8m7", "[1.00390625, 1.01171875, 0x7FC00000, -0.0]", "[1.0, 1.015625, 0x7FC00000, -0.0]");
  reduce("e5m10", "[65520.0, 65519.0, 1.0e-5, -1.0e-5]", "[0x7F800000, 65504.0, 0.0, -0.0]");
}

TEST(Elementwise, Complex) {
  const std::string type = "tensor<2xcomplex<f32>>";
  expect_vector("multiply", type, {"[(1.0, 2.0), (0.0, 1.0)]", "[(3.0, 4.0), (0.0, 1.0)]"},
                "[(-5.0, 10.0), (-1.0, 0.0)]");
  expect_vector("divide", type, {"[(-5.0, 10.0), (1.0, 0.0)]", "[(3.0, 4.0), (0.0, 1.0e30)]"},
                "[(1.0, 2.0), (0.0, -1.0e-30)]");
  expect_vector("exponential", type, {"[(0.0, 0.0), (0xFF800000, 0.0)]"},
                "[(1.0, 0.0), (0.0, 0.0)]");
  expect_vector("sqrt", type, {"[(-4.0, 0.0), (0.0, 2.0)]"}, "[(0.0, 2.0), (1.0, 1.0)]");
  expect_op("stablehlo.abs %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>",
            {"dense<[(3.0, -4.0), (0xFF800000, 0x7FC00000)]> : tensor<2xcomplex<f32>>"},
            "dense<[5.0, 0x7F800000]> : tensor<2xf32>");
  expect_op("stablehlo.imag %a : (tensor<1xcomplex<f64>>) -> tensor<1xf64>",
            {"dense<[(3.0, -4.0)]> : tensor<1xcomplex<f64>>"}, "dense<[-4.0]> : tensor<1xf64>");
  expect_op("stablehlo.complex %a, %b : tensor<1xcomplex<f32>>",
            {"dense<[1.0]> : tensor<1xf32>", "dense<[2.0]> : tensor<1xf32>"},
            "dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>");
}

TEST(Elementwise, ScalarsAndEmptyTensors) {
  expect_op("stablehlo.add %a, %a : tensor<i32>", {"dense<3> : tensor<i32>"},
            "dense<6> : tensor<i32>");
  expect_op("stablehlo.add %a, %a : tensor<0x3xf32>", {"dense<> : tensor<0x3xf32>"},
            "dense<> : tensor<0x3xf32>");
}

TEST(Elementwise, WhatIsMissingIsNamed) {
  try {
    evaluate_text(R"(func.func @main() -> tensor<ui32> {
      %0 = stablehlo.replica_id : tensor<ui32>
      return %0 : tensor<ui32>
    })");
    FAIL() << "replica_id is not implemented";
  } catch (const Unimplemented& error) {
    EXPECT_NE(std::string(error.what()).find("replica_id"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tpu::hlo
