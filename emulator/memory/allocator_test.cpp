#include "emulator/memory/allocator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "emulator/base/error.h"
#include "emulator/memory/size_classes.h"
#include "emulator/memory/tiled_layout.h"

namespace tpu::memory {
namespace {

using hlo::Dims;
using hlo::ElementType;

constexpr int64_t kMiB = 1 << 20;

uint64_t test_seed() {
  if (const char* text = std::getenv("TPU_TEST_SEED")) return std::strtoull(text, nullptr, 10);
  return std::random_device{}();
}

std::byte* plain(HbmAllocator& hbm, int64_t bytes, QueueId queue = 0) {
  return hbm.allocate(static_cast<size_t>(bytes), {}, queue);
}

// Queues whose progress the test sets by hand.
class FakeQueues : public QueueProgress {
 public:
  uint64_t submitted(QueueId) const override { return submitted_; }
  bool has_passed(QueueId, uint64_t count) const override { return completed_ >= count; }
  void wait(QueueId, uint64_t count) const override {
    ++waits_;
    if (completed_ < count) completed_ = count;
  }

  std::atomic<uint64_t> submitted_{0};
  mutable std::atomic<uint64_t> completed_{0};
  mutable std::atomic<int> waits_{0};
};

TEST(SizeClasses, RoundUpAndRoundTrip) {
  for (int64_t bytes = 1; bytes <= SizeClasses::kLargest; ++bytes) {
    const int c = SizeClasses::of(bytes);
    ASSERT_LT(c, SizeClasses::kCount);
    ASSERT_GE(SizeClasses::bytes(c), bytes);
    ASSERT_EQ(SizeClasses::of(SizeClasses::bytes(c)), c);
    if (c > 0) {
      ASSERT_LT(SizeClasses::bytes(c - 1), bytes);
    }
  }
  EXPECT_EQ(SizeClasses::bytes(SizeClasses::kCount - 1), SizeClasses::kLargest);
}

TEST(HbmAllocator, MemoryIsUsableAlignedAndKnown) {
  HbmAllocator hbm(64 * kMiB);
  EXPECT_EQ(plain(hbm, 0), nullptr);
  for (int64_t bytes : {1, 513, 5000, 300000, 5000000}) {
    std::byte* p = plain(hbm, bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    EXPECT_TRUE(hbm.contains(p));
    std::memset(p, 0x5a, static_cast<size_t>(bytes));
    EXPECT_EQ(p[bytes - 1], std::byte{0x5a});
    hbm.deallocate(p);
  }
  int local = 0;
  EXPECT_FALSE(hbm.contains(&local));
  EXPECT_FALSE(hbm.contains(nullptr));
}

TEST(HbmAllocator, CountsPaddedAndRequestedBytes) {
  HbmAllocator hbm(64 * kMiB);
  const AllocationShape column{ElementType::kF32, {1000, 1}};
  std::byte* p = hbm.allocate(4000, column, 0);
  AllocatorStats stats = hbm.stats();
  EXPECT_EQ(stats.requested, 4000);
  EXPECT_EQ(stats.allocated, 1000 * 128 * 4);
  EXPECT_EQ(stats.active_blocks, 1);
  hbm.deallocate(p);
  stats = hbm.stats();
  EXPECT_EQ(stats.requested, 0);
  EXPECT_EQ(stats.allocated, 0);
  EXPECT_EQ(stats.active_blocks, 0);
  EXPECT_EQ(stats.allocated_peak, 1000 * 128 * 4);
  EXPECT_GT(stats.reserved, 0) << "the freed block stays cached";
  EXPECT_EQ(stats.active_blocks_peak, 1);
  hbm.reset_peak_stats();
  EXPECT_EQ(hbm.stats().allocated_peak, 0);
  EXPECT_EQ(hbm.stats().active_blocks_peak, 0);
  EXPECT_EQ(hbm.stats().requested_total, 4000);
  hbm.reset_accumulated_stats();
  EXPECT_EQ(hbm.stats().requested_total, 0);
  EXPECT_EQ(hbm.stats().num_allocations, 0);
}

TEST(HbmAllocator, FreedMemoryServesTheNextRequestOfTheSameQueue) {
  HbmAllocator hbm(64 * kMiB);
  for (int64_t bytes : {100, 200000, 3000000}) {
    std::byte* first = plain(hbm, bytes, 0);
    hbm.deallocate(first);
    std::byte* other = plain(hbm, bytes, 1);
    EXPECT_NE(other, first) << "queue 0 may still use it";
    EXPECT_EQ(plain(hbm, bytes, 0), first);
  }
  EXPECT_EQ(hbm.stats().num_cache_hits, 3);
}

TEST(HbmAllocator, LargeBlocksSplitAndCoalesce) {
  HbmAllocator hbm(64 * kMiB);
  std::byte* whole = plain(hbm, 12 * kMiB);
  hbm.deallocate(whole);
  std::byte* a = plain(hbm, 4 * kMiB);
  std::byte* b = plain(hbm, 4 * kMiB);
  std::byte* c = plain(hbm, 4 * kMiB);
  EXPECT_EQ(a, whole);
  EXPECT_EQ(b, whole + 4 * kMiB);
  EXPECT_EQ(c, whole + 8 * kMiB);
  hbm.deallocate(a);
  hbm.deallocate(c);
  hbm.deallocate(b);
  EXPECT_EQ(plain(hbm, 12 * kMiB), whole);
}

TEST(HbmAllocator, BestFitTakesTheSmallestHole) {
  HbmAllocator hbm(256 * kMiB);
  std::byte* big = plain(hbm, 9 * kMiB);
  std::byte* wall1 = plain(hbm, kMiB);
  std::byte* small = plain(hbm, 5 * kMiB);
  std::byte* wall2 = plain(hbm, kMiB);
  hbm.deallocate(small);
  hbm.deallocate(big);
  EXPECT_EQ(plain(hbm, 4 * kMiB), small);
  hbm.deallocate(wall1);
  hbm.deallocate(wall2);
}

TEST(HbmAllocator, CapacityIsCountedInPaddedBytes) {
  HbmAllocator hbm(4 * kMiB);
  const AllocationShape column{ElementType::kF32, {4096, 1}};  // 16 KiB, padded to 2 MiB
  std::byte* a = hbm.allocate(16384, column, 0);
  std::byte* b = hbm.allocate(16384, column, 0);
  try {
    hbm.allocate(16384, column, 0);
    FAIL() << "expected OutOfMemory";
  } catch (const OutOfMemory& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("tried to allocate 2.00 MiB for f32[4096,1]"), std::string::npos) << text;
    EXPECT_NE(text.find("capacity 4.00 MiB"), std::string::npos) << text;
    EXPECT_NE(text.find("4.00 MiB padded (32.00 KiB of data): 2 x f32[4096,1]"), std::string::npos)
        << text;
    EXPECT_NE(text.find("multiple of 128"), std::string::npos) << text;
  }
  EXPECT_EQ(hbm.stats().num_ooms, 1);
  hbm.deallocate(a);
  EXPECT_NE(hbm.allocate(16384, column, 0), nullptr) << "out of memory is not final";
  hbm.deallocate(b);
}

TEST(HbmAllocator, HugeRequestIsOutOfMemoryNotOverflow) {
  HbmAllocator hbm(4 * kMiB);
  EXPECT_THROW(hbm.allocate(~size_t{0}, {}, 0), OutOfMemory);
}

TEST(HbmAllocator, CacheIsEmptiedBeforeGivingUp) {
  HbmAllocator hbm(16 * kMiB);
  FakeQueues queues;
  hbm.set_queue_progress(&queues);
  queues.submitted_ = 7;
  hbm.deallocate(plain(hbm, 12 * kMiB, 0));
  std::byte* p = plain(hbm, 14 * kMiB, 1);
  EXPECT_NE(p, nullptr);
  EXPECT_EQ(queues.completed_, 7u) << "memory of queue 0 moved before its work was done";
}

TEST(HbmAllocator, FragmentedCacheDoesNotCauseOutOfMemory) {
  HbmAllocator hbm(64 * kMiB);
  std::vector<std::byte*> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(plain(hbm, kMiB));
  for (size_t i = 0; i < blocks.size(); i += 2) hbm.deallocate(blocks[i]);
  EXPECT_NE(plain(hbm, 32 * kMiB), nullptr);
}

TEST(HbmAllocator, EmptyCacheReturnsPagesAndZeroesThem) {
  HbmAllocator hbm(64 * kMiB);
  std::byte* p = plain(hbm, 8 * kMiB);
  std::byte* s = plain(hbm, 100);
  std::memset(p, 1, 8 * kMiB);
  hbm.deallocate(p);
  std::memset(s, 1, 100);
  hbm.deallocate(s);
  EXPECT_GT(hbm.stats().reserved, 8 * kMiB);
  hbm.empty_cache();
  EXPECT_EQ(hbm.stats().reserved, 0);
  EXPECT_EQ(*p, std::byte{0});
  EXPECT_EQ(*s, std::byte{0});
}

TEST(HbmAllocator, EmptyCacheKeepsSlabsInUse) {
  HbmAllocator hbm(64 * kMiB);
  std::byte* kept = plain(hbm, 100);
  std::byte* freed = plain(hbm, 100);
  std::memset(kept, 7, 100);
  hbm.deallocate(freed);
  hbm.empty_cache();
  EXPECT_EQ(kept[99], std::byte{7});
  EXPECT_EQ(plain(hbm, 100), freed);
  hbm.deallocate(kept);
}

TEST(HbmAllocator, RecordedQueueHoldsMemoryUntilItHasPassed) {
  HbmAllocator hbm(64 * kMiB);
  FakeQueues queues;
  hbm.set_queue_progress(&queues);
  for (int64_t bytes : {1000, 2000000}) {
    queues.submitted_ = queues.submitted_ + 5;
    std::byte* p = plain(hbm, bytes, 0);
    hbm.record_queue(p, 3);
    hbm.deallocate(p);
    EXPECT_EQ(hbm.stats().allocated, 0);
    std::byte* other = plain(hbm, bytes, 0);
    EXPECT_NE(other, p);
    queues.completed_ = queues.submitted_.load();
    EXPECT_EQ(plain(hbm, bytes, 0), p);
    hbm.deallocate(p);
    hbm.deallocate(other);
  }
}

TEST(HbmAllocator, RecordingTheOwnQueueChangesNothing) {
  HbmAllocator hbm(64 * kMiB);
  FakeQueues queues;
  hbm.set_queue_progress(&queues);
  queues.submitted_ = 5;
  std::byte* p = plain(hbm, 1000, 0);
  hbm.record_queue(p, 0);
  hbm.deallocate(p);
  EXPECT_EQ(plain(hbm, 1000, 0), p);
}

TEST(HbmAllocator, PendingMemoryIsWaitedForBeforeGivingUp) {
  HbmAllocator hbm(16 * kMiB);
  FakeQueues queues;
  hbm.set_queue_progress(&queues);
  std::byte* p = plain(hbm, 12 * kMiB, 0);
  queues.submitted_ = 9;
  hbm.record_queue(p, 1);
  hbm.deallocate(p);
  EXPECT_NE(plain(hbm, 12 * kMiB, 0), nullptr);
  EXPECT_EQ(queues.completed_, 9u);
}

TEST(HbmAllocator, MisuseIsFound) {
  HbmAllocator hbm(64 * kMiB);
  for (int64_t bytes : {1000, 2000000}) {
    std::byte* p = plain(hbm, bytes);
    EXPECT_NO_THROW(hbm.check_live(p, static_cast<size_t>(bytes)));
    EXPECT_NO_THROW(hbm.check_live(p + bytes - 1, 1));
    EXPECT_THROW(hbm.check_live(p + 1, static_cast<size_t>(bytes)), InvalidArgument) << "overrun";
    EXPECT_THROW(hbm.deallocate(p + 64), InvalidArgument) << "inside";
    EXPECT_THROW(hbm.deallocate(p + 512), InvalidArgument) << "inside, on a granule";
    hbm.deallocate(p);
    EXPECT_THROW(hbm.deallocate(p), InvalidArgument) << "twice";
    EXPECT_THROW(hbm.check_live(p, 1), InvalidArgument) << "after free";
    EXPECT_THROW(hbm.record_queue(p, 1), InvalidArgument);
  }
  std::byte local{};
  EXPECT_THROW(hbm.deallocate(&local), InvalidArgument);
  EXPECT_NO_THROW(hbm.deallocate(nullptr));
}

TEST(HbmAllocator, CapacityCanBeLowered) {
  HbmAllocator hbm(64 * kMiB);
  std::byte* p = plain(hbm, 4 * kMiB);
  EXPECT_THROW(hbm.set_capacity(2 * kMiB), InvalidArgument);
  EXPECT_THROW(hbm.set_capacity(65 * kMiB), InvalidArgument);
  hbm.set_capacity(6 * kMiB);
  EXPECT_EQ(hbm.capacity(), 6 * kMiB);
  EXPECT_THROW(plain(hbm, 4 * kMiB), OutOfMemory);
  hbm.set_capacity(64 * kMiB);
  EXPECT_NE(plain(hbm, 4 * kMiB), nullptr);
  hbm.deallocate(p);
}

// Random operations against a model: live blocks never overlap, contents survive, the statistics
// are the sums over what is live.
class RandomOperations : public ::testing::Test {
 protected:
  struct Live {
    int64_t bytes, padded;
    unsigned char fill;
  };

  int64_t pick_bytes() {
    switch (random_() % 4) {
      case 0:
        return 1 + static_cast<int64_t>(random_() % 2000);
      case 1:
        return 1 + static_cast<int64_t>(random_() % 300000);
      case 2:
        return 512 * (1 + static_cast<int64_t>(random_() % 8));  // sizes that repeat
      default:
        return 1 + static_cast<int64_t>(random_() % 3000000);
    }
  }

  void allocate_one() {
    const int64_t bytes = pick_bytes();
    const auto queue = static_cast<QueueId>(random_() % 3);
    const int64_t columns = 1 + static_cast<int64_t>(random_() % 64);
    const bool shaped = random_() % 2 == 0 && bytes % columns == 0;
    AllocationShape shape;
    if (shaped) shape = {ElementType::kSI8, {bytes / columns, columns}};
    const int64_t padded =
        shaped ? padded_bytes(shape.element, shape.shape) : padded_plain_bytes(bytes);
    std::byte* p;
    try {
      p = hbm_.allocate(static_cast<size_t>(bytes), shape, queue);
    } catch (const OutOfMemory&) {
      ASSERT_GT(sum_padded_ + padded, hbm_.capacity()) << "there was room";
      return;
    }
    ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % 64, 0u);
    auto after = live_.upper_bound(p);
    if (after != live_.end()) {
      ASSERT_LE(p + bytes, after->first);
    }
    if (after != live_.begin()) {
      auto before = std::prev(after);
      ASSERT_LE(before->first + before->second.bytes, p);
    }
    const auto fill = static_cast<unsigned char>(random_());
    std::memset(p, fill, static_cast<size_t>(bytes));
    live_[p] = {bytes, padded, fill};
    sum_padded_ += padded;
    sum_requested_ += bytes;
    if (random_() % 8 == 0) hbm_.record_queue(p, static_cast<QueueId>(random_() % 3));
  }

  void free_one() {
    if (live_.empty()) return;
    auto victim = std::next(live_.begin(), static_cast<int64_t>(random_() % live_.size()));
    const auto [p, info] = *victim;
    for (int64_t at : {int64_t{0}, info.bytes / 2, info.bytes - 1}) {
      ASSERT_EQ(p[at], std::byte{info.fill});
    }
    hbm_.check_live(p, static_cast<size_t>(info.bytes));
    hbm_.deallocate(p);
    live_.erase(victim);
    sum_padded_ -= info.padded;
    sum_requested_ -= info.bytes;
  }

  std::mt19937_64 random_;
  HbmAllocator hbm_{48 * kMiB};
  std::map<std::byte*, Live> live_;
  int64_t sum_padded_ = 0, sum_requested_ = 0;
};

TEST_F(RandomOperations, AgreeWithTheModel) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  random_.seed(seed);
  for (int step = 0; step < 20000; ++step) {
    const auto action = random_() % 100;
    if (action == 0) {
      hbm_.empty_cache();
    } else if (action < 55) {
      allocate_one();
    } else {
      free_one();
    }
    if (HasFatalFailure()) return;
    if (step % 16 == 0) {
      const AllocatorStats stats = hbm_.stats();
      ASSERT_EQ(stats.allocated, sum_padded_);
      ASSERT_EQ(stats.requested, sum_requested_);
      ASSERT_EQ(stats.active_blocks, static_cast<int64_t>(live_.size()));
      ASSERT_EQ(stats.num_allocations - stats.num_frees, stats.active_blocks);
      ASSERT_GE(stats.reserved, stats.allocated);
      ASSERT_GE(stats.allocated_peak, stats.allocated);
      ASSERT_GE(stats.reserved_peak, stats.reserved);
    }
  }
  while (!live_.empty()) free_one();
  hbm_.empty_cache();
  const AllocatorStats stats = hbm_.stats();
  EXPECT_EQ(stats.allocated, 0);
  EXPECT_EQ(stats.reserved, 0);
  EXPECT_NE(plain(hbm_, 48 * kMiB), nullptr) << "all of the range coalesced again";
}

TEST(HbmAllocator, ThreadsShareIt) {
  HbmAllocator hbm(256 * kMiB);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&hbm, t] {
      std::mt19937 random(t);
      std::vector<std::pair<std::byte*, int64_t>> mine;
      for (int i = 0; i < 3000; ++i) {
        if (mine.size() < 20 && random() % 2 == 0) {
          const int64_t bytes = 1 + static_cast<int64_t>(random() % (i % 10 == 0 ? 900000 : 9000));
          std::byte* p = plain(hbm, bytes, t % 2);
          *p = std::byte(t);
          p[bytes - 1] = std::byte(t);
          mine.emplace_back(p, bytes);
        } else if (!mine.empty()) {
          const auto [p, bytes] = mine.back();
          EXPECT_EQ(p[bytes - 1], std::byte(t));
          hbm.deallocate(p);
          mine.pop_back();
        }
        if (t == 0 && i % 100 == 0) hbm.empty_cache();
      }
      for (auto& [p, bytes] : mine) hbm.deallocate(p);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(hbm.stats().allocated, 0);
  EXPECT_EQ(hbm.stats().active_blocks, 0);
}

}  // namespace
}  // namespace tpu::memory
