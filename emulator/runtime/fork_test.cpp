// After fork a child has none of the queues' threads: it must get errors, never hang.
#include "emulator/base/fork.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "emulator/base/error.h"
#include "emulator/runtime/chip.h"

namespace tpu::runtime {
namespace {

// Runs `body` in a forked child; true if it returned true.
bool in_child(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a hang becomes a failure
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool throws_fork_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return std::string(error.what()).find("spawn") != std::string::npos;
  }
  return false;
}

ChipSpec small_chip() {
  ChipSpec spec = chip_spec("v6e");
  spec.hbm_bytes = 1 << 24;
  return spec;
}

TEST(Fork, ChildGetsErrors) {
  Chip chip(small_chip());
  chip.default_queue().enqueue([] {});
  chip.synchronize();
  EXPECT_FALSE(in_bad_fork());
  EXPECT_TRUE(in_child([&] {
    return in_bad_fork() && throws_fork_error([&] { chip.default_queue().enqueue([] {}); }) &&
           throws_fork_error([&] { chip.synchronize(); }) &&
           throws_fork_error([&] { chip.hbm().allocate(100, {}, 0); }) &&
           throws_fork_error([] { Queue(0, "new"); });
  }));
  EXPECT_FALSE(in_bad_fork());
}

TEST(Fork, ChildMayDestroyWhatItInherited) {
  auto chip = std::make_unique<Chip>(small_chip());
  std::byte* p = chip->hbm().allocate(100, {}, 0);
  EXPECT_TRUE(in_child([&] {
    chip->hbm().deallocate(p);
    chip.reset();
    return true;
  }));
  chip->hbm().deallocate(p);
}

}  // namespace
}  // namespace tpu::runtime
