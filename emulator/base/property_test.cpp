#include "emulator/base/property.h"

namespace tpu::testing {
namespace {

TEST(Property, FailingCasesShrinkToTheSmallest) {
  const Property sum_is_small = [](Choices& choices) -> std::string {
    const int64_t a = choices.in(0, 1000), b = choices.in(5, 1000);
    return a + b < 300 ? "" : "too large";
  };
  const std::vector<int64_t> small = shrink({900, 800}, sum_is_small);
  EXPECT_EQ(small[0] + (small[1] + 5), 300);
}

TEST(Property, ReplayGivesTheSameCase) {
  Choices first(7);
  std::vector<int64_t> values;
  for (int i = 0; i < 20; ++i) values.push_back(first.in(-50, 50));
  Choices again(first.drawn());
  for (int64_t value : values) EXPECT_EQ(again.in(-50, 50), value);
}

TEST(Property, DrawsStayInRange) {
  Choices choices(3);
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = choices.in(-3, 4);
    ASSERT_GE(value, -3);
    ASSERT_LE(value, 4);
  }
}

}  // namespace
}  // namespace tpu::testing
