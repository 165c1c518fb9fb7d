#include "emulator/compiler/kernels/gather.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::GatherDimensionNumbers;
using tpu::testing::check_property;

// Indices mostly within `bound`, some out of it on either side.
Literal random_indices(Choices& choices, const Dims& shape, int64_t bound) {
  const ElementType element = pick(
      choices, std::vector<ElementType>{ElementType::kSI32, ElementType::kSI64, ElementType::kUI8});
  std::vector<int64_t> values(static_cast<size_t>(hlo::num_elements(shape)));
  for (int64_t& value : values) {
    value = choices.in(0, 9) == 9 ? choices.in(0, 1) * 200 - 5 : choices.in(0, bound);
  }
  return hlo::from_ints(element, shape, values);
}

// Any gather: dimensions become batching, collapsed or window ones by chance, index vectors
// address a subset in any order, window dimensions land anywhere in the result.
OpCase random_gather(Choices& choices) {
  const Dims shape = random_shape(choices, choices.in(1, 4), 6);
  const std::vector<ElementType> types = {ElementType::kUI8, ElementType::kF16, ElementType::kF32,
                                          ElementType::kComplexF32, ElementType::kComplexF64};
  const Literal operand = random_literal(choices, {pick(choices, types), shape}, Values::kAnything);
  GatherDimensionNumbers numbers;
  Dims slice_sizes, batch;
  for (size_t d = 0; d < shape.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    const int64_t role = choices.in(0, 4);
    int64_t size = shape[d] == 0 ? 0 : choices.in(1, shape[d]);
    if (role == 4) {
      numbers.operand_batching_dims.push_back(dimension);
      numbers.start_indices_batching_dims.push_back(static_cast<int64_t>(batch.size()));
      batch.push_back(shape[d]);
      size = std::min<int64_t>(1, shape[d]);
    } else if (role == 3 && shape[d] > 0) {
      numbers.collapsed_slice_dims.push_back(dimension);
      size = 1;
    }
    slice_sizes.push_back(size);
    if (role < 4 && choices.coin()) {
      const int64_t at = choices.in(0, static_cast<int64_t>(numbers.start_index_map.size()));
      numbers.start_index_map.insert(numbers.start_index_map.begin() + at, dimension);
    }
  }
  for (int64_t more = choices.in(0, 2); more > 0; --more) batch.push_back(choices.in(1, 4));
  Dims index_shape = batch;
  const auto components = static_cast<int64_t>(numbers.start_index_map.size());
  numbers.index_vector_dim = static_cast<int64_t>(batch.size());
  if (components != 1 || choices.coin()) {
    numbers.index_vector_dim = choices.in(0, static_cast<int64_t>(batch.size()));
    index_shape.insert(index_shape.begin() + numbers.index_vector_dim, components);
    for (int64_t& d : numbers.start_indices_batching_dims) d += d >= numbers.index_vector_dim;
  }
  const int64_t windows = static_cast<int64_t>(shape.size() - numbers.collapsed_slice_dims.size() -
                                               numbers.operand_batching_dims.size());
  int64_t free_before = static_cast<int64_t>(batch.size());
  for (int64_t w = 0, at = 0; w < windows; ++w) {
    const int64_t skip = choices.in(0, free_before);
    free_before -= skip;
    at += skip;
    numbers.offset_dims.push_back(at++);
  }
  return {OpKind::kGather,
          {operand, random_indices(choices, index_shape, 6)},
          {{"dimension_numbers", numbers}, {"slice_sizes", slice_sizes}}};
}

TEST(Gather, AnyDimensionNumbers) {
  check_property(500, [](Choices& choices) {
    return difference_from_evaluator(choices, random_gather(choices));
  });
}

TEST(Gather, RowsOfATable) {
  check_property(30, [](Choices& choices) {
    const int64_t rows = choices.in(1, 40), width = choices.in(1, 300);
    const Literal table =
        random_literal(choices, {ElementType::kF32, {rows, width}}, Values::kSmall);
    GatherDimensionNumbers numbers;
    numbers.offset_dims = {1};
    numbers.collapsed_slice_dims = {0};
    numbers.start_index_map = {0};
    numbers.index_vector_dim = 1;
    return difference_from_evaluator(
        choices, {OpKind::kGather,
                  {table, random_indices(choices, {choices.in(1, 50)}, rows)},
                  {{"dimension_numbers", numbers}, {"slice_sizes", Dims{1, width}}}});
  });
}

TEST(Gather, FewLargeWindows) {
  // Windows large enough to be shared among threads: the result is the operand's two halves.
  const int64_t n = 1 << 17;
  Literal operand({ElementType::kF32, {2 * n}});
  for (int64_t i = 0; i < 2 * n; ++i) {
    operand.mutable_as<float>()[static_cast<size_t>(i)] = static_cast<float>(i);
  }
  GatherDimensionNumbers numbers;
  numbers.offset_dims = {1};
  numbers.start_index_map = {0};
  numbers.index_vector_dim = 1;
  Choices choices(tpu::testing::seed());
  const Literal result = run_kernel(
      choices, gather,
      std::vector{operand, hlo::from_ints(ElementType::kSI32, {2}, Dims{n + 5, -3})},
      {{ElementType::kF32, {2, n}}}, {{"dimension_numbers", numbers}, {"slice_sizes", Dims{n}}})[0];
  EXPECT_EQ(result.as<float>()[0], static_cast<float>(n));
  EXPECT_EQ(result.as<float>()[static_cast<size_t>(n)], 0.0f);
  EXPECT_EQ(result.as<float>()[static_cast<size_t>(2 * n - 1)], static_cast<float>(n - 1));
}

}  // namespace
}  // namespace tpu::compiler::kernels
