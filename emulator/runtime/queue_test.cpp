#include "emulator/runtime/queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "emulator/base/error.h"

namespace tpu::runtime {
namespace {

// Holds a queue's worker until the test lets go, so that what is asserted does not depend on time.
class Gate {
 public:
  void hold(Queue& queue) {
    queue.enqueue([this] { opened_.wait(); });
  }
  void open() { open_.set_value(); }

 private:
  std::promise<void> open_;
  std::shared_future<void> opened_ = open_.get_future().share();
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(Queue, RunsTasksInOrder) {
  Queue queue(0, "q");
  std::vector<int> seen;
  for (int i = 0; i < 5000; ++i) queue.enqueue([&seen, i] { seen.push_back(i); });
  queue.synchronize();
  ASSERT_EQ(seen.size(), 5000u);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(seen[static_cast<size_t>(i)], i);
  EXPECT_EQ(queue.submitted(), 5000u);
  EXPECT_EQ(queue.completed(), 5000u);
  EXPECT_TRUE(queue.idle());
}

TEST(Queue, IsAsynchronous) {
  Queue queue(0, "q");
  Gate gate;
  gate.hold(queue);
  bool ran = false;
  queue.enqueue([&] { ran = true; });
  EXPECT_FALSE(queue.idle());
  EXPECT_EQ(queue.submitted(), 2u);
  EXPECT_EQ(queue.completed(), 0u);
  gate.open();
  queue.synchronize();
  EXPECT_TRUE(ran);
}

TEST(Queue, KeepsTheFirstErrorWithItsLocation) {
  Queue queue(0, "q");
  int later = 0;
  queue.enqueue([] { throw DeviceError("bad index 7"); }, {"train.py:12 in step"});
  queue.enqueue([] { throw DeviceError("another"); }, {"train.py:13 in step"});
  queue.enqueue([&] { ++later; });
  const std::string text = message_of([&] { queue.synchronize(); });
  EXPECT_EQ(text, "bad index 7\n  at train.py:12 in step");
  EXPECT_EQ(later, 1) << "later tasks still run";
  EXPECT_NO_THROW(queue.synchronize()) << "an error is reported once";
}

TEST(Queue, ErrorsKeepTheirType) {
  Queue queue(0, "q");
  queue.enqueue([] { throw IndexFault("index"); });
  EXPECT_THROW(queue.synchronize(), IndexFault);
  queue.enqueue([] { throw OutOfMemory("memory"); });
  EXPECT_THROW(queue.synchronize(), OutOfMemory);
  queue.enqueue([] { throw Unimplemented("op"); });
  EXPECT_THROW(queue.synchronize(), Unimplemented);
  queue.enqueue([] { throw InvalidArgument("shape"); });
  EXPECT_THROW(queue.synchronize(), InvalidArgument);
  queue.enqueue([] { throw std::logic_error("foreign"); });
  EXPECT_THROW(queue.synchronize(), DeviceError);
  queue.enqueue([] { throw 3; }, {"here"});
  EXPECT_EQ(message_of([&] { queue.synchronize(); }), "a task failed\n  at here");
}

TEST(Queue, WaitIdleLeavesErrors) {
  Queue queue(0, "q");
  queue.enqueue([] { throw DeviceError("x"); });
  queue.wait_idle();
  EXPECT_TRUE(queue.idle());
  EXPECT_THROW(queue.synchronize(), DeviceError);
}

TEST(Queue, CapturesAreDestroyedBeforeTheTaskCountsAsDone) {
  Queue queue(0, "q");
  auto token = std::make_shared<int>(1);
  std::weak_ptr<int> watch = token;
  queue.enqueue([token = std::move(token)] { (void)*token; });
  queue.wait_for(1);
  EXPECT_TRUE(watch.expired());
}

TEST(Queue, DestructorRunsWhatIsLeft) {
  int ran = 0;
  {
    Queue queue(0, "q");
    for (int i = 0; i < 100; ++i) queue.enqueue([&] { ++ran; });
    queue.enqueue([] { throw DeviceError("dropped"); });
  }
  EXPECT_EQ(ran, 101 - 1);
}

TEST(Queue, TasksMayEnqueue) {
  Queue queue(0, "q");
  int ran = 0;
  queue.enqueue([&] { queue.enqueue([&] { ++ran; }); });
  queue.wait_for(1);
  queue.synchronize();
  EXPECT_EQ(ran, 1);
}

TEST(Queue, SelfDeadlocksAreErrors) {
  Queue queue(0, "q");
  queue.enqueue([&] { queue.synchronize(); });
  EXPECT_NE(message_of([&] { queue.synchronize(); }).find("waits for its own queue"),
            std::string::npos);
  queue.enqueue([&] {
    for (int i = 0; i < 100000; ++i) queue.enqueue([] {});
  });
  EXPECT_NE(message_of([&] { queue.synchronize(); }).find("room for"), std::string::npos);
}

TEST(Queue, FullRingBlocksTheCallerUntilThereIsRoom) {
  Queue queue(0, "q");
  Gate gate;
  gate.hold(queue);
  std::atomic<int> enqueued{0};
  int ran = 0;
  std::thread producer([&] {
    for (int i = 0; i < 3000; ++i) {
      queue.enqueue([&] { ++ran; });
      ++enqueued;
    }
  });
  while (enqueued < 1000) std::this_thread::yield();
  gate.open();
  producer.join();
  queue.synchronize();
  EXPECT_EQ(ran, 3000);
}

TEST(Queue, ManyProducersEachKeepTheirOrder) {
  Queue queue(0, "q");
  constexpr int kThreads = 4, kEach = 5000;
  std::vector<std::vector<int>> seen(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        queue.enqueue([&seen, t, i] { seen[t].push_back(i); });
        if (i % 1000 == 0) queue.wait_idle();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  queue.synchronize();
  for (const auto& numbers : seen) {
    ASSERT_EQ(numbers.size(), static_cast<size_t>(kEach));
    for (int i = 0; i < kEach; ++i) ASSERT_EQ(numbers[static_cast<size_t>(i)], i);
  }
}

// The worker falls asleep between bursts; no wake-up may get lost.
TEST(Queue, SleepingWorkerIsWoken) {
  Queue queue(0, "q");
  int ran = 0;
  for (int i = 0; i < 200; ++i) {
    if (i % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(60));
    queue.enqueue([&] { ++ran; });
    queue.synchronize();
    ASSERT_EQ(ran, i + 1);
  }
}

TEST(Event, FollowsTheWorkBeforeIt) {
  Queue queue(0, "q");
  Gate gate;
  Event event;
  EXPECT_TRUE(event.query()) << "never recorded";
  EXPECT_FALSE(event.was_recorded());
  EXPECT_THROW(event.host_time(), InvalidArgument);
  gate.hold(queue);
  queue.record(event);
  EXPECT_FALSE(event.query());
  EXPECT_THROW(event.simulated_time(), InvalidArgument);
  gate.open();
  event.synchronize();
  EXPECT_TRUE(event.query());
  EXPECT_GT(event.host_time(), 0);
}

TEST(Event, OrdersQueuesAndTheirClocks) {
  Queue producer(0, "p"), consumer(1, "c");
  Gate gate;
  Event ready;
  int value = 0, read = 0;
  gate.hold(producer);
  producer.enqueue([&] {
    value = 42;
    producer.advance_simulated_time(1000);
  });
  producer.record(ready);
  consumer.enqueue([&] { consumer.advance_simulated_time(300); });
  consumer.wait(ready);
  consumer.enqueue([&] {
    read = value;
    consumer.advance_simulated_time(5);
  });
  gate.open();
  consumer.synchronize();
  EXPECT_EQ(read, 42);
  EXPECT_EQ(ready.simulated_time(), 1000);
  EXPECT_EQ(consumer.simulated_time(), 1005) << "the later of both, then its own work";
  EXPECT_EQ(producer.simulated_time(), 1000);
}

TEST(Event, WaitersSeeTheRecordingOfTheirTime) {
  Queue producer(0, "p"), consumer(1, "c");
  Gate gate;
  Event event;
  producer.enqueue([&] { producer.advance_simulated_time(10); });
  producer.record(event);
  gate.hold(consumer);
  consumer.wait(event);
  producer.enqueue([&] { producer.advance_simulated_time(990); });
  producer.record(event);
  producer.synchronize();
  gate.open();
  consumer.synchronize();
  EXPECT_EQ(consumer.simulated_time(), 10);
  EXPECT_EQ(event.simulated_time(), 1000);
}

TEST(Event, MayOutliveTheQueue) {
  Event event;
  {
    Queue queue(0, "q");
    queue.record(event);
  }
  EXPECT_TRUE(event.query());
}

// Random events between queues: a wait only ever refers to work enqueued before, so nothing can
// hang, and a value written before a recording is seen after the wait.
TEST(Event, RandomDependenciesHold) {
  const char* text = std::getenv("TPU_TEST_SEED");
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::vector<std::unique_ptr<Queue>> queues;
  for (uint32_t i = 0; i < 4; ++i) queues.push_back(std::make_unique<Queue>(i, "q"));
  struct Point {
    Event event;
    int value = 0;
  };
  std::vector<std::unique_ptr<Point>> points;
  std::vector<std::unique_ptr<int>> copies;
  std::vector<std::pair<int*, int>> expected;
  for (int i = 0; i < 1500; ++i) {
    Queue& queue = *queues[random() % queues.size()];
    if (points.empty() || random() % 2 == 0) {
      points.push_back(std::make_unique<Point>());
      Point& point = *points.back();
      queue.enqueue([&point, i] { point.value = i + 1; });
      queue.record(point.event);
      expected.emplace_back(&point.value, i + 1);
    } else {
      Point& point = *points[random() % points.size()];
      queue.wait(point.event);
      copies.push_back(std::make_unique<int>(0));
      int* copy = copies.back().get();
      queue.enqueue([&point, copy] { *copy = point.value; });
      const int* original = &point.value;
      for (const auto& [address, value] : expected) {
        if (address == original) {
          expected.emplace_back(copy, value);
          break;
        }
      }
    }
  }
  for (auto& queue : queues) queue->synchronize();
  for (const auto& [address, value] : expected) ASSERT_EQ(*address, value);
}

}  // namespace
}  // namespace tpu::runtime
