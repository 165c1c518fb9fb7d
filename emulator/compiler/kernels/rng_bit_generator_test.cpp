#include "emulator/compiler/kernels/rng_bit_generator.h"

#include <gtest/gtest.h>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

TEST(RngBitGenerator, GivesTheEvaluatorsBitsInEveryLayout) {
  tpu::testing::check_property(200, [](Choices& choices) {
    const std::vector<ElementType> types = {
        ElementType::kSI4,  ElementType::kUI4, ElementType::kUI8,  ElementType::kSI16,
        ElementType::kUI32, ElementType::kF32, ElementType::kUI64, ElementType::kF64};
    const std::string algorithm =
        pick(choices, std::vector<std::string>{"PHILOX", "THREE_FRY", "DEFAULT"});
    const int64_t words = algorithm == "THREE_FRY" ? 2 : choices.in(2, 3);
    Dims shape = random_shape(choices, choices.in(0, 3), 7);
    if (!shape.empty() && choices.in(0, 9) == 9) shape[0] = 5000;  // more than one thread's share
    const Literal state = random_literal(choices, {ElementType::kUI64, {words}}, Values::kAnything);
    OpCase op{OpKind::kRngBitGenerator, {state}, {{"rng_algorithm", hlo::EnumValue{algorithm}}}};
    op.result_types = {state.type(), {pick(choices, types), shape}};
    return difference_from_evaluator(choices, op);
  });
}

}  // namespace
}  // namespace tpu::compiler::kernels
