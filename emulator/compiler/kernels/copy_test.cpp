#include "emulator/compiler/kernels/copy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

const std::vector<ElementType> kWidths = {ElementType::kUI8, ElementType::kBF16, ElementType::kF32,
                                          ElementType::kF64, ElementType::kComplexF64};

// A shape with a long dimension now and then, so that blocks and threads meet their edges.
Dims copy_shape(Choices& choices) {
  Dims shape = random_shape(choices, choices.in(0, 4), 5);
  for (int64_t& size : shape) {
    if (size > 0 && choices.in(0, 3) == 3) size = choices.in(1, 70);
  }
  return shape;
}

TEST(Copy, MovesEveryElementBetweenAnyTwoLayouts) {
  tpu::testing::check_property(400, [](Choices& choices) {
    const TensorType type{pick(choices, kWidths), copy_shape(choices)};
    if (type.num_elements() > 40000) return std::string();
    Literal literal(type);
    uint8_t next = 1;
    for (std::byte& byte : literal.mutable_bytes()) byte = std::byte{next += 7};
    const LaidOut from(choices, literal);
    LaidOut to(choices, Literal(type));
    copy(from.const_view(), to.view());
    if (!(to.literal() == literal)) return "wrong elements in " + to_string(type);
    return to.guards_hold() ? std::string() : "wrote outside of " + to_string(type);
  });
}

TEST(Copy, LongRowsAreSharedOut) {
  std::vector<uint32_t> from(1 << 20), to(1 << 20);
  std::iota(from.begin(), from.end(), 0u);
  const Dims shape = {1024, 1024}, rows = {1024, 1}, columns = {1, 1024};
  const auto* source = reinterpret_cast<const std::byte*>(from.data());
  auto* target = reinterpret_cast<std::byte*>(to.data());
  copy_strided(4, shape, source, rows, target, rows);
  EXPECT_EQ(from, to);
  copy_strided(4, shape, source, rows, target, columns);
  for (uint32_t i = 0; i < 1024; i += 31) {
    for (uint32_t j = 0; j < 1024; j += 17) ASSERT_EQ(to[j * 1024 + i], from[i * 1024 + j]);
  }
}

TEST(Copy, OntoItselfDoesNothing) {
  std::vector<float> data = {1, 2, 3};
  const Dims shape = {3}, strides = {1};
  auto* bytes = reinterpret_cast<std::byte*>(data.data());
  copy({ElementType::kF32, shape, strides, bytes}, {ElementType::kF32, shape, strides, bytes});
  EXPECT_EQ(data, (std::vector<float>{1, 2, 3}));
}

TEST(Copy, FillsWithOneElement) {
  tpu::testing::check_property(50, [](Choices& choices) {
    const TensorType type{pick(choices, kWidths), copy_shape(choices)};
    if (type.num_elements() > 40000) return std::string();
    const Literal value = random_literal(choices, {type.element, {}}, Values::kSmall);
    LaidOut to(choices, Literal(type));
    fill(value.bytes().data(), to.view());
    const Literal filled = to.literal();
    const size_t width = value.bytes().size();
    for (size_t i = 0; i < filled.bytes().size(); i += width) {
      if (std::memcmp(filled.bytes().data() + i, value.bytes().data(), width) != 0) {
        return "element " + std::to_string(i / width) + " of " + to_string(type) + " differs";
      }
    }
    return to.guards_hold() ? std::string() : "wrote outside of " + to_string(type);
  });
}

}  // namespace
}  // namespace tpu::compiler::kernels
