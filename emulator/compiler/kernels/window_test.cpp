// reduce_window and select_and_scatter against the evaluator.
#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Builder;
using hlo::IntMatrix;
using hlo::Value;
using tpu::testing::check_property;

const std::vector<ElementType> kTypes = {
    ElementType::kI1,  ElementType::kSI8, ElementType::kUI32, ElementType::kBF16,
    ElementType::kF16, ElementType::kF32, ElementType::kF64,  ElementType::kF8E4M3FN};
const std::vector<OpKind> kCombiners = {OpKind::kAdd, OpKind::kMaximum, OpKind::kMinimum,
                                        OpKind::kMultiply};

// A window that fits an operand of `shape` at least once along each dimension.
hlo::Attributes random_window(Choices& choices, const Dims& shape, bool dilated) {
  Dims size, stride, base, window_dilation;
  IntMatrix padding{static_cast<int64_t>(shape.size()), 2, {}};
  for (int64_t n : shape) {
    size.push_back(choices.in(1, 3));
    stride.push_back(choices.in(1, 3));
    base.push_back(dilated ? choices.in(1, 3) : 1);
    window_dilation.push_back(dilated ? choices.in(1, 2) : 1);
    const int64_t span = n == 0 ? 0 : (n - 1) * base.back() + 1;
    const int64_t needed = (size.back() - 1) * window_dilation.back() + 1;
    padding.values.push_back(choices.in(0, 3) == 3 ? -1 : choices.in(0, 2));
    padding.values.push_back(choices.in(0, 3) == 3 ? -1 : choices.in(0, 2));
    int64_t& high = padding.values.back();
    const int64_t low = padding.values[padding.values.size() - 2];
    high = std::max(high, needed - span - low);
  }
  hlo::Attributes attributes = {
      {"window_dimensions", size}, {"window_strides", stride}, {"padding", padding}};
  if (dilated) {
    attributes.set("base_dilations", base);
    attributes.set("window_dilations", window_dilation);
  }
  return attributes;
}

// init: what the combiner leaves alone, or anything.
Literal random_init(Choices& choices, ElementType element, OpKind combiner) {
  const int64_t which = choices.in(0, 2);
  if (which == 0 && combiner == OpKind::kMultiply) return hlo::scalar(element, int64_t{1});
  if (which == 0) return hlo::scalar(element, int64_t{0});
  if (which == 1 && hlo::is_float(element)) return hlo::scalar(element, -0.0);
  return random_literal(choices, {element, {}}, Values::kSmall);
}

TEST(ReduceWindow, AnyWindow) {
  check_property(300, [](Choices& choices) {
    const TensorType type{pick(choices, kTypes), random_shape(choices, choices.in(0, 4), 6)};
    const OpKind combiner = pick(choices, kCombiners);
    const TensorType scalar{type.element, {}};
    OpCase op{OpKind::kReduceWindow,
              {random_literal(choices, type, Values::kAnything),
               random_init(choices, type.element, combiner)},
              random_window(choices, type.shape, choices.coin())};
    op.regions = {{{scalar, scalar}, Builder::combiner(combiner)}};
    return difference_from_evaluator(choices, op);
  });
}

TEST(ReduceWindow, Cumulative) {
  check_property(150, [](Choices& choices) {
    const TensorType type{pick(choices, kTypes), random_shape(choices, choices.in(1, 3), 20)};
    const OpKind combiner = pick(choices, kCombiners);
    const TensorType scalar{type.element, {}};
    const size_t along = static_cast<size_t>(choices.in(0, type.rank() - 1));
    if (type.shape[along] == 0) return std::string();
    Dims size(type.shape.size(), 1);
    size[along] = type.shape[along];
    IntMatrix padding{type.rank(), 2, Dims(2 * type.shape.size(), 0)};
    padding.values[2 * along + (choices.coin() ? 1 : 0)] = type.shape[along] - 1;
    OpCase op{OpKind::kReduceWindow,
              {random_literal(choices, type, Values::kAnything),
               random_init(choices, type.element, combiner)},
              {{"window_dimensions", size}, {"padding", padding}}};
    op.regions = {{{scalar, scalar}, Builder::combiner(combiner)}};
    return difference_from_evaluator(choices, op);
  });
}

// Values with their positions, by one of the rules that programs use: max pooling with indices.
Builder::Body take_body(const std::string& direction, bool nan, bool first, bool keeps) {
  return [=](Builder& b, std::span<Value* const> a) {
    if (keeps) {  // not what a pattern knows
      Value* keep = b.compare(a[0], a[2], direction);
      return b.ret({b.select(keep, a[0], a[2]), b.select(keep, a[1], a[3])});
    }
    Value* take = b.compare(a[2], a[0], direction);
    if (first)
      take = b.or_(take, b.compare(a[1], b.constant(ElementType::kSI64, int64_t{0}), "LT"));
    if (nan) take = b.or_(b.compare(a[2], a[2], "NE"), take);
    b.ret({b.select(take, a[2], a[0]), b.select(take, a[3], a[1])});
  };
}

TEST(ReduceWindow, ValuesWithPositions) {
  check_property(150, [](Choices& choices) {
    const Dims shape = random_shape(choices, choices.in(0, 3), 5);
    const TensorType value{pick(choices, kTypes), {}}, i64{ElementType::kSI64, {}};
    OpCase op{OpKind::kReduceWindow,
              {random_literal(choices, {value.element, shape}, Values::kAnything),
               random_literal(choices, {ElementType::kSI64, shape}, Values::kSmall),
               random_literal(choices, value, Values::kAnything),
               hlo::scalar(ElementType::kSI64, int64_t{-1})},
              random_window(choices, shape, choices.coin())};
    const std::string direction = pick(choices, std::vector<std::string>{"GT", "GE", "LT", "LE"});
    op.regions = {{{value, i64, value, i64},
                   take_body(direction, choices.coin(), choices.coin(), choices.coin())}};
    return difference_from_evaluator(choices, op);
  });
}

TEST(SelectAndScatter, AnyWindow) {
  check_property(200, [](Choices& choices) {
    const TensorType type{pick(choices, kTypes), random_shape(choices, choices.in(0, 4), 5)};
    const TensorType scalar{type.element, {}};
    const std::string direction = pick(choices, std::vector<std::string>{"GE", "GT", "LE", "LT"});
    const OpKind combiner = pick(choices, kCombiners);
    OpCase op{OpKind::kSelectAndScatter, {}, random_window(choices, type.shape, false)};
    const auto& size = op.attributes.get<Dims>("window_dimensions");
    const auto& stride = op.attributes.get<Dims>("window_strides");
    const auto& padding = op.attributes.get<IntMatrix>("padding");
    TensorType source = type;
    for (size_t d = 0; d < type.shape.size(); ++d) {
      const int64_t padded = type.shape[d] + padding.values[2 * d] + padding.values[2 * d + 1];
      source.shape[d] = padded < size[d] ? 0 : (padded - size[d]) / stride[d] + 1;
    }
    op.operands = {random_literal(choices, type, Values::kSmall),
                   random_literal(choices, source, Values::kAnything),
                   random_init(choices, type.element, combiner)};
    op.regions = {{{scalar, scalar},
                   [direction](Builder& b, std::span<Value* const> arguments) {
                     b.ret({b.compare(arguments[0], arguments[1], direction)});
                   }},
                  {{scalar, scalar}, Builder::combiner(combiner)}};
    return difference_from_evaluator(choices, op);
  });
}

}  // namespace
}  // namespace tpu::compiler::kernels
