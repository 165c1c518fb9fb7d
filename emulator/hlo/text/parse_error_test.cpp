// Text with errors: messages say where and what, and no text crashes or hangs the parser.
#include <gtest/gtest.h>

#include "emulator/base/error.h"
#include "emulator/base/property.h"
#include "emulator/hlo/testing/rng.h"
#include "emulator/hlo/text.h"
#include "emulator/hlo/text/testdata.h"

namespace tpu::hlo::text {
namespace {

// The message of the error in `text`; empty if there is none.
std::string error_in(std::string_view text) {
  try {
    parse(text);
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

// The error in the body of a function with parameters %x: tensor<2xf32> and %i: tensor<i32>. Its
// first line is line 2 of the text.
std::string error_in_body(const std::string& body) {
  return error_in("func.func @main(%x: tensor<2xf32>, %i: tensor<i32>) {\n" + body + "\nreturn }");
}

TEST(ParseError, SaysWhereWhatAndWhatWasExpected) {
  EXPECT_EQ(error_in_body("%0 = stablehlo.add %x %x : tensor<2xf32>"),
            "line 2, column 23: found '%x', expected ','");
  EXPECT_EQ(error_in_body("  %0 = stablehlo.sine %y : tensor<2xf32>"),
            "line 2, column 23: value '%y' is not defined here");
  EXPECT_EQ(
      error_in_body("\n %0 = stablehlo.sin %x : tensor<2xf32>"),
      "line 3, column 7: found op 'stablehlo.sin', expected an op of stablehlo, chlo or func");
  EXPECT_EQ(error_in_body("%0 = stablehlo.iota dim = zero : tensor<2xf32>"),
            "line 2, column 27: found 'zero', expected an integer");
  EXPECT_EQ(error_in_body("%0 = stablehlo.sine %x : tensor<?xf32>"),
            "line 2, column 33: found dimension '?', expected a number: shapes must be static");
  EXPECT_EQ(error_in_body("%0 = stablehlo.sine %x : tensor<3xf32>"),
            "line 2, column 6: sine is written with operands of (tensor<3xf32>), has "
            "(tensor<2xf32>)");
  EXPECT_EQ(error_in("module @m {"), "line 1, column 12: found the end of the text, expected '}'");
}

TEST(ParseError, NamesTheFault) {
  const auto expect = [](const std::string& body, const std::string& fault) {
    const std::string error = error_in_body(body);
    EXPECT_NE(error.find(fault), std::string::npos) << body << "\ngave: " << error;
  };
  expect("%x = stablehlo.sine %x : tensor<2xf32>", "'%x' is defined twice");
  expect("%0, %1 = stablehlo.sine %x : tensor<2xf32>", "has 1 result(s)");
  expect("%0 = stablehlo.sine %x#1 : tensor<2xf32>", "there is no #1");
  expect("%0 = stablehlo.sine %x : tensor<2xf99>", "unknown element type 'f99'");
  expect("%0 = stablehlo.sine %x : tuple<tensor<f32>>", "found 'tuple'");
  expect("%0 = stablehlo.constant dense<[1, 2> : tensor<2xi32>", "expected ','");
  expect("%0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>", "do not fill tensor<3xi32>");
  expect("%0 = stablehlo.sort %x : tensor<2xf32>", "expected the generic form");
  expect("%0 = \"stablehlo.foo\"() : () -> tensor<f32>", "found op 'stablehlo.foo'");
  expect("%0 = stablehlo.compare LT, %x, %i : (tensor<2xf32>, tensor<i32>) -> tensor<2xi1>",
         "same element type");
  expect("%0 = stablehlo.custom_call @\"open(%x) : (tensor<2xf32>) -> tensor<2xf32>",
         "without its closing quote");
  expect("%0 = stablehlo.reshape %x {a = (} : (tensor<2xf32>) -> tensor<2xf32>", "found '}'");
  expect(
      "%0 = \"stablehlo.slice\"(%x) <{start_indices = array<i64: 0>}> : (tensor<2xf32>) -> "
      "tensor<1xf32>",
      "limit_indices");
  expect(
      "%0 = \"stablehlo.dot_general\"(%x, %x) <{algorithm = #stablehlo.dot_algorithm<x = 1>}> : "
      "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
      "'algorithm' is not supported");
  expect(
      "%0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], algorithm = <x = 1> : "
      "(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
      "'algorithm' is not supported");
  expect("return", "expected '}' after return");
}

TEST(ParseError, FunctionsAgreeWithTheirHeaders) {
  EXPECT_NE(error_in("func.func @f() -> tensor<f32> { return }").find("@f is declared as"),
            std::string::npos);
  EXPECT_NE(error_in("func.func @f() { return } func.func @f() { return }").find("defined twice"),
            std::string::npos);
  EXPECT_NE(error_in("func.func private @f()").find("without a body"), std::string::npos);
  EXPECT_NE(error_in("func.func @f() { call @g() : () -> () return }").find("@g"),
            std::string::npos);
}

TEST(ParseError, DeepNestingIsRefused) {
  constexpr int kDepth = 100000;
  const auto nested = [](const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < kDepth; ++i) text += open;
    for (int i = 0; i < kDepth; ++i) text += close;
    return text;
  };
  EXPECT_NE(error_in_body("%0 = stablehlo.constant dense<" + nested("[", "]") + "> : tensor<f32>"),
            "");
  EXPECT_NE(error_in_body(nested("\"stablehlo.if\"(%x) ({", "})")).find("levels deep"),
            std::string::npos);
  // Brackets that are only skipped may nest as they like.
  EXPECT_EQ(
      error_in("module attributes {a.b = " + nested("[", "]") + "} { func.func @f() { return } }"),
      "");
}

// --- Mutations ---

std::string mutated(testing::Rng& rng, std::string text, const std::string& donor) {
  constexpr std::string_view kTokens[] = {"(",
                                          ")",
                                          "{",
                                          "}",
                                          "<",
                                          ">",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "=",
                                          "->",
                                          "%0",
                                          "%arg0",
                                          "#",
                                          "@main",
                                          "tensor<2xf32>",
                                          "dense<",
                                          "\"",
                                          "-",
                                          "0",
                                          "1",
                                          "18446744073709551615",
                                          "0x",
                                          "1.5",
                                          "^bb0",
                                          "stablehlo.add",
                                          "\"stablehlo.sort\"",
                                          "loc(",
                                          "//",
                                          "array<i64",
                                          "init",
                                          "x",
                                          "?",
                                          "!",
                                          "attributes",
                                          "return",
                                          "\n",
                                          "tensor<0x",
                                          "complex<",
                                          "\\",
                                          "::"};
  const auto place = [&](const std::string& in) {
    return static_cast<size_t>(rng.below(static_cast<int64_t>(in.size()) + 1));
  };
  for (int64_t edits = rng.between(1, 4); edits > 0; --edits) {
    const size_t at = place(text);
    const auto length = static_cast<size_t>(rng.between(1, 12));
    switch (rng.below(7)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kTokens[static_cast<size_t>(rng.below(std::ssize(kTokens)))]);
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(rng.bits());
        break;
      case 3:
        text.insert(at, text.substr(place(text), length));
        break;
      case 4:
        text.insert(at, donor.substr(place(donor), 10 * length));
        break;
      case 5:
        text.replace(at, length, donor.substr(place(donor), length));
        break;
      default:
        // A line somewhere else.
        if (const size_t end = text.find('\n', at); end != std::string::npos) {
          const std::string line = text.substr(at, end - at);
          text.erase(at, end - at);
          text.insert(place(text), line);
        }
        break;
    }
  }
  return text;
}

TEST(ParseError, MutatedProgramsParseOrFailCleanly) {
  const uint64_t seed = tpu::testing::seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  testing::Rng rng(seed);
  std::vector<std::string> corpus;
  for (const auto& [name, text] : read_testdata()) {
    corpus.push_back(text);
    corpus.push_back(print(parse(text), TextForm::kGeneric));
  }
  int parsed = 0;
  constexpr int kMutations = 6000;
  for (int i = 0; i < kMutations; ++i) {
    const std::string text = mutated(rng, rng.pick(corpus), rng.pick(corpus));
    SCOPED_TRACE("mutation " + std::to_string(i));
    try {
      const Module module = parse(text);
      ++parsed;
      // What the parser lets through is printable and means the same.
      const std::string printed = print(module);
      ASSERT_EQ(print(parse(printed)), printed);
    } catch (const InvalidArgument& error) {
      ASSERT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(parsed, 0);
  EXPECT_LT(parsed, kMutations);
}

}  // namespace
}  // namespace tpu::hlo::text
