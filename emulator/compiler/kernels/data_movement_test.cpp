// slice, pad, concatenate and their kin against the evaluator.
#include <gtest/gtest.h>

#include <numeric>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using tpu::testing::check_property;

const std::vector<ElementType> kTypes = {ElementType::kI1, ElementType::kBF16, ElementType::kSI32,
                                         ElementType::kF64, ElementType::kComplexF64};

Literal random_array(Choices& choices, int64_t least_rank = 0) {
  const TensorType type{pick(choices, kTypes), random_shape(choices, choices.in(least_rank, 4), 5)};
  return random_literal(choices, type, Values::kAnything);
}

TEST(DataMovement, Transpose) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims permutation(x.type().shape.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    for (size_t i = permutation.size(); i > 1; --i) {
      std::swap(permutation[i - 1],
                permutation[static_cast<size_t>(choices.in(0, static_cast<int64_t>(i) - 1))]);
    }
    return difference_from_evaluator(choices,
                                     {OpKind::kTranspose, {x}, {{"permutation", permutation}}});
  });
}

TEST(DataMovement, BroadcastInDim) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims dimensions, shape;
    for (int64_t size : x.type().shape) {
      if (choices.coin()) shape.push_back(choices.in(1, 3));
      dimensions.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(size == 1 ? choices.in(1, 4) : size);
    }
    OpCase op{OpKind::kBroadcastInDim, {x}, {{"broadcast_dimensions", dimensions}}};
    op.result_types = {{x.type().element, shape}};
    return difference_from_evaluator(choices, op);
  });
}

TEST(DataMovement, Slice) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims starts, limits, strides;
    for (int64_t size : x.type().shape) {
      starts.push_back(choices.in(0, size));
      limits.push_back(choices.in(starts.back(), size));
      strides.push_back(choices.in(1, 3));
    }
    return difference_from_evaluator(
        choices, {OpKind::kSlice,
                  {x},
                  {{"start_indices", starts}, {"limit_indices", limits}, {"strides", strides}}});
  });
}

TEST(DataMovement, Reverse) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims dimensions;
    for (size_t d = 0; d < x.type().shape.size(); ++d) {
      if (choices.coin()) dimensions.push_back(static_cast<int64_t>(d));
    }
    return difference_from_evaluator(choices,
                                     {OpKind::kReverse, {x}, {{"dimensions", dimensions}}});
  });
}

TEST(DataMovement, Concatenate) {
  check_property(100, [](Choices& choices) {
    const Literal first = random_array(choices, 1);
    TensorType type = first.type();
    const int64_t dimension = choices.in(0, type.rank() - 1);
    std::vector<Literal> inputs = {first};
    for (int64_t more = choices.in(0, 3); more > 0; --more) {
      type.shape[static_cast<size_t>(dimension)] = choices.in(0, 4);
      inputs.push_back(random_literal(choices, type, Values::kAnything));
    }
    return difference_from_evaluator(choices,
                                     {OpKind::kConcatenate, inputs, {{"dimension", dimension}}});
  });
}

TEST(DataMovement, PadAlsoCutsWithNegativePadding) {
  check_property(300, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims low, high, interior;
    for (int64_t size : x.type().shape) {
      interior.push_back(choices.in(0, 2));
      const int64_t spread = size + std::max<int64_t>(size - 1, 0) * interior.back();
      low.push_back(choices.in(0, 6) - 3);
      high.push_back(choices.in(0, 6) - 3);
      if (low.back() + spread + high.back() < 0) high.back() = -low.back() - spread;
    }
    const Literal value = random_literal(choices, {x.type().element, {}}, Values::kSmall);
    return difference_from_evaluator(
        choices,
        {OpKind::kPad,
         {x, value},
         {{"edge_padding_low", low}, {"edge_padding_high", high}, {"interior_padding", interior}}});
  });
}

// Starts anywhere, also far out of bounds: they are clamped.
void append_starts(Choices& choices, int64_t rank, std::vector<Literal>& operands) {
  const ElementType index = choices.coin() ? ElementType::kSI32 : ElementType::kUI64;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t start = choices.in(0, 9) == 9 ? -7 : choices.in(0, 6);
    operands.push_back(hlo::scalar(index, start));
  }
}

TEST(DataMovement, DynamicSlice) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    Dims sizes;
    for (int64_t size : x.type().shape) sizes.push_back(choices.in(0, size));
    OpCase op{OpKind::kDynamicSlice, {x}, {{"slice_sizes", sizes}}};
    append_starts(choices, x.type().rank(), op.operands);
    return difference_from_evaluator(choices, op);
  });
}

TEST(DataMovement, DynamicUpdateSlice) {
  check_property(100, [](Choices& choices) {
    const Literal x = random_array(choices);
    TensorType update = x.type();
    for (int64_t& size : update.shape) size = choices.in(0, size);
    OpCase op{OpKind::kDynamicUpdateSlice, {x, random_literal(choices, update, Values::kAnything)}};
    op.may_alias = true;
    append_starts(choices, x.type().rank(), op.operands);
    return difference_from_evaluator(choices, op);
  });
}

}  // namespace
}  // namespace tpu::compiler::kernels
