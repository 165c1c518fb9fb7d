#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

#include "emulator/base/error.h"
#include "emulator/base/property.h"
#include "emulator/hlo/builder.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/op_table.h"
#include "emulator/hlo/testing/compare.h"
#include "emulator/hlo/testing/generator.h"
#include "emulator/hlo/testing/shrink.h"
#include "emulator/hlo/testing/values.h"
#include "emulator/hlo/text.h"

namespace tpu::hlo::testing {
namespace {

constexpr int kPrograms = 400;

// The results, or the message of the fault.
struct Outcome {
  std::vector<Literal> results;
  std::string fault;
};

Outcome outcome(const Module& module, std::span<const Literal> arguments) {
  try {
    return {evaluate(module, arguments), ""};
  } catch (const DeviceError& error) {
    return {{}, error.what()};
  }
}

void collect_kinds(const Block& block, std::set<OpKind>& kinds) {
  for (const auto& op : block.ops()) {
    kinds.insert(op->kind());
    for (int i = 0; i < op->num_regions(); ++i) collect_kinds(op->region(i), kinds);
  }
}

TEST(Generator, ProgramsEvaluateTheSameAfterPrintingAndParsing) {
  const uint64_t seed = ::tpu::testing::seed();
  std::cout << "TPU_TEST_SEED=" << seed << "\n";
  for (int i = 0; i < kPrograms; ++i) {
    Rng rng(seed + i);
    const Program program = random_program(rng);
    const Module parsed =
        parse(print(program.module, i % 2 ? TextForm::kGeneric : TextForm::kPretty));
    const Outcome expected = outcome(program.module, program.arguments);
    const Outcome actual = outcome(parsed, program.arguments);
    ASSERT_EQ(actual.fault, expected.fault) << to_text(program);
    for (size_t r = 0; r < expected.results.size(); ++r) {
      ASSERT_EQ(difference(actual.results[r], expected.results[r]), "") << to_text(program);
      ASSERT_EQ(expected.results[r].type(), program.module.main().result_types()[r]);
    }
  }
}

TEST(Generator, ReachesEveryImplementedOp) {
  std::set<OpKind> kinds;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Rng rng(seed);
    const Program program = random_program(rng);
    for (const auto& function : program.module.functions()) collect_kinds(function->body, kinds);
  }
  for (int i = 0; i < kNumOpKinds; ++i) {
    const OpKind kind = static_cast<OpKind>(i);
    const bool reached = kinds.contains(kind) || !op_info(kind).implemented;
    // get_dimension_size folds to a constant; a loop over its forms would say nothing.
    EXPECT_TRUE(reached || kind == OpKind::kGetDimensionSize) << mnemonic(kind);
  }
}

// By every compiler: a seed that somebody reports is of use to everybody. (Generators that draw
// otherwise change the number.)
TEST(Generator, SameProgramsEverywhere) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    for (const char c : to_text(random_program(rng))) hash = (hash ^ uint8_t(c)) * 1099511628211u;
  }
  EXPECT_EQ(hash, 16113141835879686128u);
}

TEST(Generator, SameSeedSameProgram) {
  Rng first(7), second(7);
  EXPECT_EQ(to_text(random_program(first)), to_text(random_program(second)));
}

// A failure that one multiplication is to blame for is cut down to it.
TEST(Shrink, FindsTheOneOp) {
  const auto multiplies = [](const Program& program) {
    for (const auto& op : program.module.main().body.ops()) {
      if (op->kind() == OpKind::kDotGeneral) return true;
    }
    return false;
  };
  int found = 0;
  for (uint64_t seed = 0; found < 10; ++seed) {
    Rng rng(seed);
    GeneratorOptions options;
    options.faults = false;
    Program program = random_program(rng, options);
    if (!multiplies(program)) continue;
    ++found;
    const Program small = shrink(std::move(program), multiplies);
    EXPECT_EQ(small.module.main().body.ops().size(), 2u) << to_text(small);
    EXPECT_EQ(small.module.functions().size(), 1u);
    for (const Literal& argument : small.arguments) {
      for (std::byte b : argument.bytes()) EXPECT_EQ(b, std::byte{0});
    }
    for (const Dims& strides : small.parameter_strides) EXPECT_TRUE(strides.empty());
  }
}

// The failure lies in a value: the element that shows it stays.
TEST(Shrink, KeepsWhatTheFailureNeeds) {
  const auto has_infinity = [](const Program& program) {
    const std::vector<Literal> results = evaluate(program.module, program.arguments);
    for (const Literal& result : results) {
      if (!is_float(result.type().element)) continue;
      for (int64_t i = 0; i < result.type().num_elements(); ++i) {
        if (std::isinf(decode_double(result, i))) return true;
      }
    }
    return false;
  };
  Program program;
  Builder b(program.module.add_function("main").body);
  const TensorType type{ElementType::kF32, {16, 4}};
  Value* x = b.parameter(type);
  Value* y = b.parameter(type);
  Value* quotient = b.divide(b.add(x, x), y);
  b.ret(
      {b.negate(x), b.reduce({b.transpose(quotient, {1, 0})}, {b.constant(ElementType::kF32, 0.0)},
                             {0, 1}, Builder::combiner(OpKind::kMaximum))[0]});
  Rng rng(3);
  program.arguments = {random_literal(rng, type, ValueStyle::kMild), splat(type, 1.0)};
  program.arguments[1].mutable_as<float>()[0] = 0;
  program.arguments[0].mutable_as<float>()[0] = 1;
  program.parameter_strides.resize(2);
  program.result_strides.resize(2);
  program.aliases = {-1, -1};
  ASSERT_TRUE(has_infinity(program));
  const Program small = shrink(std::move(program), has_infinity);
  EXPECT_TRUE(has_infinity(small));
  EXPECT_EQ(small.result_strides.size(), 1u);
  EXPECT_LE(small.module.main().body.ops().size(), 2u) << to_text(small);
}

TEST(Difference, TreatsNansAlikeAndZerosNot) {
  const auto f32 = [](std::initializer_list<float> values) {
    Literal literal({ElementType::kF32, {static_cast<int64_t>(values.size())}});
    std::ranges::copy(values, literal.mutable_as<float>().begin());
    return literal;
  };
  EXPECT_EQ(difference(f32({NAN, 1}), f32({-NAN, 1})), "");
  EXPECT_NE(difference(f32({0.0f}), f32({-0.0f})), "");
  EXPECT_EQ(difference(f32({1, 2, 3}), f32({1, 5, 4})),
            "2 of 3 numbers differ; first at [1]: 2 (0x40000000), expected 5 (0x40a00000)");
  EXPECT_NE(
      difference(scalar(ElementType::kSI8, int64_t{1}), scalar(ElementType::kUI8, int64_t{1})), "");
}

}  // namespace
}  // namespace tpu::hlo::testing
