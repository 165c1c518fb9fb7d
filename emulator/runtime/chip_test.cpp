#include "emulator/runtime/chip.h"

#include <gtest/gtest.h>

#include <future>

#include "emulator/base/error.h"

namespace tpu::runtime {
namespace {

ChipSpec small_chip(int64_t bytes) {
  ChipSpec spec = chip_spec("v6e");
  spec.hbm_bytes = bytes;
  return spec;
}

TEST(ChipSpec, KnowsTheGenerations) {
  EXPECT_EQ(known_chips(), (std::vector<std::string>{"v4", "v5e", "v5p", "v6e", "v7"}));
  const ChipSpec& v6e = chip_spec("v6e");
  EXPECT_EQ(v6e.display_name, "TPU v6e");
  EXPECT_EQ(v6e.hbm_bytes, int64_t{32} << 30);
  EXPECT_EQ(v6e.mxu_depth, 256);
  EXPECT_TRUE(v6e.has_fp8);
  EXPECT_DOUBLE_EQ(v6e.bf16_flops, 918e12);
  EXPECT_EQ(chip_spec("v4").mxu_depth, 128);
  EXPECT_FALSE(chip_spec("v4").has_fp8);
}

TEST(ChipSpec, ADeviceOfV7IsHalfAChip) {
  const ChipSpec& v7 = chip_spec("v7");
  EXPECT_EQ(v7.devices_per_chip, 2);
  EXPECT_EQ(v7.hbm_bytes, int64_t{96} << 30);
  EXPECT_DOUBLE_EQ(v7.bf16_flops, 1153.5e12);
  EXPECT_EQ(chip_spec("tpu7x").name, "v7");
}

TEST(ChipSpec, UnknownNameListsTheKnownOnes) {
  try {
    chip_spec("v99");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "no chip is named 'v99'; known are v4 v5e v5p v6e v7");
  }
}

TEST(Chip, HasADefaultQueueAndMakesMore) {
  Chip chip(small_chip(1 << 24));
  EXPECT_EQ(chip.default_queue().id(), 0u);
  Queue& second = chip.create_queue("copies");
  EXPECT_EQ(second.id(), 1u);
  EXPECT_EQ(second.name(), "copies");
  EXPECT_EQ(&chip.queue(1), &second);
  EXPECT_EQ(chip.num_queues(), 2);
  EXPECT_THROW(chip.queue(2), InvalidArgument);
}

TEST(Chip, SynchronizeWaitsForAllQueuesAndThrowsTheFirstError) {
  Chip chip(small_chip(1 << 24));
  Queue& second = chip.create_queue("second");
  int done = 0;
  chip.default_queue().enqueue([&] { ++done; });
  second.enqueue([] { throw IndexFault("index 9 is out of range"); });
  second.enqueue([] {});
  EXPECT_THROW(chip.synchronize(), IndexFault);
  EXPECT_EQ(done, 1);
  EXPECT_NO_THROW(chip.synchronize());
}

TEST(Chip, EmptyingTheCacheWaitsForTheQueues) {
  Chip chip(small_chip(1 << 24));
  std::promise<void> gate;
  std::byte* p = chip.hbm().allocate(8 << 20, {}, 0);
  bool ran = false;
  chip.default_queue().enqueue([&, opened = gate.get_future().share()] {
    opened.wait();
    p[0] = std::byte{1};  // as a kernel still running when its result was dropped
    ran = true;
  });
  chip.hbm().deallocate(p);
  gate.set_value();
  std::byte* other = chip.hbm().allocate(12 << 20, {}, 1);
  EXPECT_TRUE(ran);
  EXPECT_EQ(other[0], std::byte{0}) << "no late write into memory handed to somebody else";
}

TEST(Chip, RecordedMemoryStaysUntilTheQueueHasPassed) {
  Chip chip(small_chip(1 << 24));
  Queue& second = chip.create_queue("second");
  std::promise<void> gate;
  std::byte* p = chip.hbm().allocate(1000, {}, 0);
  second.enqueue([opened = gate.get_future().share()] { opened.wait(); });
  chip.hbm().record_queue(p, second.id());
  chip.hbm().deallocate(p);
  std::byte* q = chip.hbm().allocate(1000, {}, 0);
  EXPECT_NE(q, p);
  gate.set_value();
  second.synchronize();
  EXPECT_EQ(chip.hbm().allocate(1000, {}, 0), p);
}

TEST(Chip, TasksLeftAtTheEndMayFreeMemory) {
  Chip chip(small_chip(1 << 24));
  for (int i = 0; i < 100; ++i) {
    std::byte* p = chip.hbm().allocate(100, {}, 0);
    chip.hbm().record_queue(p, 1);
    chip.default_queue().enqueue([&chip, p] { chip.hbm().deallocate(p); });
  }
}

}  // namespace
}  // namespace tpu::runtime
