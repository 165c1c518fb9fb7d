#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "emulator/base/error.h"
#include "emulator/compiler/compiler.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/text.h"

namespace tpu::compiler {
namespace {

using hlo::ElementType;
using hlo::Literal;

// Loops, a library call with a region, constants, a copy, branches and a loop.
constexpr std::string_view kProgram = R"(
  func.func public @main(%x: tensor<6x5xf32>, %n: tensor<i32>) -> (tensor<6x5xf32>, tensor<5x6xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
    %cb = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<5xf32>) -> tensor<6x5xf32>
    %y = stablehlo.multiply %x, %cb : tensor<6x5xf32>
    %s = "stablehlo.sort"(%y) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %lt = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }) : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %w:2 = stablehlo.while(%i = %zero, %v = %s) : tensor<i32>, tensor<6x5xf32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %u = "stablehlo.case"(%i) ({
        %e = stablehlo.tanh %v : tensor<6x5xf32>
        stablehlo.return %e : tensor<6x5xf32>
      }, {
        %r = stablehlo.reverse %v, dims = [0] : tensor<6x5xf32>
        stablehlo.return %r : tensor<6x5xf32>
      }) : (tensor<i32>) -> tensor<6x5xf32>
      stablehlo.return %j, %u : tensor<i32>, tensor<6x5xf32>
    }
    %t = stablehlo.transpose %w#1, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
    return %w#1, %t : tensor<6x5xf32>, tensor<5x6xf32>
  })";

std::vector<Literal> arguments() {
  std::vector<std::byte> bytes(30 * 4);
  for (int i = 0; i < 30; ++i) {
    const float value = static_cast<float>((i * 7) % 11) / 4 - 1;
    std::memcpy(bytes.data() + 4 * i, &value, 4);
  }
  return {Literal({ElementType::kF32, {6, 5}}, bytes), hlo::scalar(ElementType::kSI32, int64_t{3})};
}

std::vector<Literal> run(const Executable& executable) {
  const std::vector<Literal> in = arguments();
  const std::byte* parameters[] = {in[0].bytes().data(), in[1].bytes().data()};
  std::vector<Literal> out = {Literal(executable.result_types()[0]),
                              Literal(executable.result_types()[1])};
  std::byte* results[] = {out[0].mutable_bytes().data(), out[1].mutable_bytes().data()};
  Scratch scratch;
  executable.run(parameters, results, scratch);
  return out;
}

TEST(Serialize, RoundTripGivesTheSameProgram) {
  const hlo::Module module = hlo::parse(kProgram);
  const auto compiled = compile(module);
  const std::vector<std::byte> image = compiled->serialize();
  const auto loaded = Executable::load(image);
  const std::vector<Literal> expected = hlo::evaluate(module, arguments());
  EXPECT_EQ(run(*compiled), expected);
  EXPECT_EQ(run(*loaded), expected);
  EXPECT_EQ(loaded->serialize(), image);
  EXPECT_TRUE(std::ranges::equal(loaded->parameter_types(), compiled->parameter_types()));
  EXPECT_TRUE(std::ranges::equal(loaded->result_types(), compiled->result_types()));
  EXPECT_EQ(loaded->scratch_bytes(), compiled->scratch_bytes());
  EXPECT_EQ(loaded->may_fault(), compiled->may_fault());
  ASSERT_EQ(loaded->kernels().size(), compiled->kernels().size());
  for (size_t i = 0; i < loaded->kernels().size(); ++i) {
    EXPECT_EQ(loaded->kernels()[i].name, compiled->kernels()[i].name);
    EXPECT_EQ(loaded->kernels()[i].bytes_read, compiled->kernels()[i].bytes_read);
  }
}

TEST(Serialize, RefusesATornImage) {
  const std::vector<std::byte> image = compile(hlo::parse(kProgram))->serialize();
  for (size_t size = 0; size < image.size(); size += 1 + image.size() / 200) {
    EXPECT_THROW(Executable::load(std::span(image).first(size)), InvalidArgument) << size;
  }
}

TEST(Serialize, RefusesAFlippedBit) {
  std::vector<std::byte> image = compile(hlo::parse(kProgram))->serialize();
  for (size_t at = 0; at < image.size(); at += 1 + image.size() / 300) {
    image[at] ^= std::byte{0x10};
    EXPECT_THROW(Executable::load(image), InvalidArgument) << at;
    image[at] ^= std::byte{0x10};
  }
  EXPECT_NO_THROW(Executable::load(image));
}

}  // namespace
}  // namespace tpu::compiler
