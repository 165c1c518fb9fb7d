#include "emulator/compiler/kernels/linear_algebra.h"

#include <gtest/gtest.h>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using tpu::testing::check_property;

const std::vector<ElementType> kTypes = {ElementType::kF32, ElementType::kF64,
                                         ElementType::kComplexF32, ElementType::kComplexF64};

// Mostly small, sometimes past a panel of the blocked algorithm.
int64_t random_size(Choices& choices) {
  return choices.in(0, 7) == 7 ? choices.in(30, 70) : choices.in(0, 6);
}

// A batch of matrices with a heavy diagonal, so that most pivots are positive.
Literal random_matrices(Choices& choices, ElementType element, Dims batch, int64_t n) {
  batch.insert(batch.end(), {n, n});
  Literal matrices = random_literal(choices, {element, batch}, Values::kSmall);
  const std::vector<std::byte> heavy = hlo::encode(element, 3.7 * static_cast<double>(n) + 1.3);
  if (choices.in(0, 5) == 5) return matrices;
  const auto width = static_cast<size_t>(hlo::byte_width(element));
  for (int64_t i = 0; i < matrices.type().num_elements(); ++i) {
    if (i % (n * n) % (n + 1) != 0) continue;
    std::copy(heavy.begin(), heavy.end(),
              matrices.mutable_bytes().data() + static_cast<size_t>(i) * width);
  }
  return matrices;
}

TEST(Cholesky, GivesTheEvaluatorsBits) {
  check_property(80, [](Choices& choices) {
    const Dims batch = random_shape(choices, choices.in(0, 2), 2);
    const Literal a = random_matrices(choices, pick(choices, kTypes), batch, random_size(choices));
    return difference_from_evaluator(choices,
                                     {OpKind::kCholesky, {a}, {{"lower", choices.coin()}}});
  });
}

TEST(TriangularSolve, GivesTheEvaluatorsBits) {
  check_property(120, [](Choices& choices) {
    const Dims batch = random_shape(choices, choices.in(0, 2), 2);
    const ElementType element = pick(choices, kTypes);
    const int64_t n = random_size(choices);
    const Literal a = random_matrices(choices, element, batch, n);
    const bool left = choices.coin();
    const int64_t systems = choices.in(0, 9) == 9 ? 70 : choices.in(0, 4);
    Dims shape = batch;
    shape.insert(shape.end(), {left ? n : systems, left ? systems : n});
    const std::string transpose =
        pick(choices, std::vector<std::string>{"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"});
    const hlo::Attributes attributes = {{"left_side", left},
                                        {"lower", choices.coin()},
                                        {"unit_diagonal", choices.coin()},
                                        {"transpose_a", hlo::EnumValue{transpose}}};
    const Literal b = random_literal(choices, {element, shape}, Values::kSmall);
    return difference_from_evaluator(choices, {OpKind::kTriangularSolve, {a, b}, attributes});
  });
}

}  // namespace
}  // namespace tpu::compiler::kernels
