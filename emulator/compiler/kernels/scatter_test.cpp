#include "emulator/compiler/kernels/scatter.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Builder;
using hlo::ScatterDimensionNumbers;
using hlo::Value;
using tpu::testing::check_property;

Builder::Body assign(size_t inputs) {
  return [inputs](Builder& b, std::span<Value* const> arguments) {
    b.ret({arguments.begin() + static_cast<ptrdiff_t>(inputs), arguments.end()});
  };
}

// A region that no pattern knows: accumulator * 2 + update, of each input.
Builder::Body mix(size_t inputs) {
  return [inputs](Builder& b, std::span<Value* const> arguments) {
    std::vector<Value*> results;
    for (size_t i = 0; i < inputs; ++i) {
      results.push_back(b.add(b.add(arguments[i], arguments[i]), arguments[inputs + i]));
    }
    b.ret(results);
  };
}

Builder::Body keep(size_t inputs) {
  return [inputs](Builder& b, std::span<Value* const> arguments) {
    b.ret({arguments.begin(), arguments.begin() + static_cast<ptrdiff_t>(inputs)});
  };
}

Builder::Body random_body(Choices& choices, size_t inputs, ElementType element) {
  const int64_t which = choices.in(0, inputs == 1 ? 7 : 2);
  const bool complex = hlo::is_complex(element);
  switch (which) {
    case 0:
      return assign(inputs);
    case 1:
      return mix(inputs);
    case 2:
      return keep(inputs);
    case 3:
      return Builder::combiner(OpKind::kMultiply);
    case 4:
      return Builder::combiner(complex ? OpKind::kSubtract : OpKind::kMaximum);
    case 5:
      return Builder::combiner(complex ? OpKind::kAdd : OpKind::kMinimum);
    default:
      return Builder::combiner(OpKind::kAdd);
  }
}

std::vector<TensorType> scalars(const std::vector<Literal>& inputs) {
  std::vector<TensorType> types;
  for (int side = 0; side < 2; ++side) {
    for (const Literal& input : inputs) types.push_back({input.type().element, {}});
  }
  return types;
}

Literal random_indices(Choices& choices, const Dims& shape, int64_t bound) {
  std::vector<int64_t> values(static_cast<size_t>(hlo::num_elements(shape)));
  for (int64_t& value : values) {
    value = choices.in(0, 9) == 9 ? choices.in(0, 1) * 100 - 2 : choices.in(0, bound);
  }
  return hlo::from_ints(choices.coin() ? ElementType::kSI32 : ElementType::kSI64, shape, values);
}

// Any scatter: like a random gather, the other way round. Indices of -2 .. bound make windows
// that straddle the bounds, collide and overlap.
OpCase random_scatter(Choices& choices) {
  const Dims shape = random_shape(choices, choices.in(1, 3), 5);
  ScatterDimensionNumbers numbers;
  Dims batch, window;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    const int64_t role = choices.in(0, 4);
    if (role == 4) {
      numbers.input_batching_dims.push_back(dimension);
      numbers.scatter_indices_batching_dims.push_back(static_cast<int64_t>(batch.size()));
      batch.push_back(shape[d]);
    } else if (role == 3) {
      numbers.inserted_window_dims.push_back(dimension);
    } else {
      window.push_back(choices.in(0, shape[d]));
    }
    if (role < 4 && choices.coin()) {
      const int64_t at =
          choices.in(0, static_cast<int64_t>(numbers.scatter_dims_to_operand_dims.size()));
      numbers.scatter_dims_to_operand_dims.insert(numbers.scatter_dims_to_operand_dims.begin() + at,
                                                  dimension);
    }
  }
  for (int64_t more = choices.in(0, 2); more > 0; --more) batch.push_back(choices.in(1, 5));
  Dims index_shape = batch, update_shape = batch;
  const auto components = static_cast<int64_t>(numbers.scatter_dims_to_operand_dims.size());
  numbers.index_vector_dim = static_cast<int64_t>(batch.size());
  if (components != 1 || choices.coin()) {
    numbers.index_vector_dim = choices.in(0, static_cast<int64_t>(batch.size()));
    index_shape.insert(index_shape.begin() + numbers.index_vector_dim, components);
    for (int64_t& d : numbers.scatter_indices_batching_dims) d += d >= numbers.index_vector_dim;
  }
  int64_t free_before = static_cast<int64_t>(batch.size()), at = 0;
  for (int64_t size : window) {
    const int64_t skip = choices.in(0, free_before);
    free_before -= skip;
    at += skip;
    update_shape.insert(update_shape.begin() + at, size);
    numbers.update_window_dims.push_back(at++);
  }

  const std::vector<ElementType> types = {
      ElementType::kI1,   ElementType::kUI8,        ElementType::kSI64,
      ElementType::kBF16, ElementType::kF16,        ElementType::kF32,
      ElementType::kF64,  ElementType::kComplexF32, ElementType::kF8E4M3FN};
  const int64_t count = choices.in(0, 3) == 3 ? 2 : 1;
  OpCase op{OpKind::kScatter, {}, {{"scatter_dimension_numbers", numbers}}};
  std::vector<Literal> updates;
  for (int64_t i = 0; i < count; ++i) {
    const ElementType element = pick(choices, types);
    op.operands.push_back(random_literal(choices, {element, shape}, Values::kAnything));
    updates.push_back(random_literal(choices, {element, update_shape}, Values::kAnything));
  }
  const std::vector<TensorType> arguments = scalars(op.operands);
  op.regions = {
      {arguments, random_body(choices, static_cast<size_t>(count), arguments[0].element)}};
  op.operands.push_back(random_indices(choices, index_shape, 4));
  op.operands.insert(op.operands.end(), updates.begin(), updates.end());
  op.may_alias = true;
  return op;
}

TEST(Scatter, AnyDimensionNumbers) {
  check_property(600, [](Choices& choices) {
    return difference_from_evaluator(choices, random_scatter(choices));
  });
}

// Many updates of few rows: more than one block of columns, target rows shared among threads.
TEST(Scatter, RowsAddedInAscendingOrder) {
  check_property(6, [](Choices& choices) {
    const int64_t rows = choices.in(1, 6), width = choices.in(1, 400), count = choices.in(1, 120);
    ScatterDimensionNumbers numbers;
    numbers.update_window_dims = {1};
    numbers.inserted_window_dims = {0};
    numbers.scatter_dims_to_operand_dims = {0};
    numbers.index_vector_dim = 1;
    const TensorType scalar{ElementType::kF32, {}};
    Literal updates({ElementType::kF32, {count, width}});
    float value = 1.0f;
    for (float& x : updates.mutable_as<float>())
      x = value = value * 1.1f > 1e6f ? 0.1f : value * 1.1f;
    OpCase op{OpKind::kScatter,
              {Literal({ElementType::kF32, {rows, width}}),
               random_indices(choices, {count, 1}, rows), updates},
              {{"scatter_dimension_numbers", numbers}}};
    op.regions = {{{scalar, scalar}, Builder::combiner(OpKind::kAdd)}};
    op.may_alias = true;
    return difference_from_evaluator(choices, op);
  });
}

TEST(Scatter, ElementsAddedInAscendingOrder) {
  // 2^15 updates of 100 elements: enough for the threads to share the targets.
  const int64_t count = 1 << 15;
  std::vector<int64_t> indices(static_cast<size_t>(count));
  Literal updates({ElementType::kF32, {count}});
  std::vector<float> expected(100, 0.5f);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    indices[at] = i * 7919 % 103 - 1;  // some out of bounds on both sides
    const float update = static_cast<float>(i % 1000) * 1.37f;
    updates.mutable_as<float>()[at] = update;
    if (indices[at] >= 0 && indices[at] < 100) expected[static_cast<size_t>(indices[at])] += update;
  }
  Literal input({ElementType::kF32, {100}});
  std::ranges::fill(input.mutable_as<float>(), 0.5f);
  ScatterDimensionNumbers numbers;
  numbers.inserted_window_dims = {0};
  numbers.scatter_dims_to_operand_dims = {0};
  numbers.index_vector_dim = 1;
  const hlo::Attributes attributes = {{"scatter_dimension_numbers", numbers}};
  Choices choices(tpu::testing::seed());
  const LaidOut operand(choices, input);
  const LaidOut index(choices, hlo::from_ints(ElementType::kSI64, {count}, indices));
  const LaidOut update(choices, updates);
  LaidOut result(choices, Literal({ElementType::kF32, {100}}));
  const std::vector<ConstView> operands = {operand.const_view(), index.const_view(),
                                           update.const_view()};
  const std::vector<View> results = {result.view()};
  const std::vector<OpKind> ops = {OpKind::kAdd};
  scatter({OpKind::kScatter, attributes, operands, results, {}, ops});
  const Literal sums = result.literal();
  EXPECT_TRUE(std::ranges::equal(sums.as<float>(), expected));
}

}  // namespace
}  // namespace tpu::compiler::kernels
