#include "emulator/runtime/launch.h"

#include <gtest/gtest.h>

#include <array>

#include "emulator/base/error.h"
#include "emulator/runtime/chip.h"

namespace tpu::runtime {
namespace {

// Copies its parameter, on two kernels by name.
class CopyProgram : public compiler::Executable {
 public:
  explicit CopyProgram(bool faults) : faults_(faults) {
    kernels_[0].name = "first";
    kernels_[0].bytes_read = 100;
    kernels_[1].name = "second";
    kernels_[1].bytes_read = 23;
  }
  void run(std::span<const std::byte* const> parameters, std::span<std::byte* const> results,
           compiler::Scratch&) const override {
    if (faults_) throw DeviceError("fault");
    *results[0] = *parameters[0];
  }
  std::span<const hlo::TensorType> parameter_types() const override { return {}; }
  std::span<const hlo::TensorType> result_types() const override { return {}; }
  size_t scratch_bytes() const override { return 0; }
  std::span<const compiler::KernelDescription> kernels() const override { return kernels_; }
  bool may_fault() const override { return faults_; }
  std::vector<std::byte> serialize() const override { return {}; }

 private:
  bool faults_;
  std::array<compiler::KernelDescription, 2> kernels_;
};

class PicosecondAByte : public CostModel {
 public:
  int64_t duration(const compiler::KernelDescription& kernel) const override {
    return kernel.bytes_read;
  }
};

TEST(Launch, RunsAndAdvancesTheClock) {
  Queue queue(0, "q");
  PicosecondAByte model;
  const CopyProgram program(false);
  std::byte from{7}, to{0};
  for (int i = 0; i < 3; ++i) {
    queue.enqueue([&] {
      run_on_queue(program, std::array{static_cast<const std::byte*>(&from)}, std::array{&to},
                   queue, &model);
    });
  }
  queue.synchronize();
  EXPECT_EQ(to, from);
  EXPECT_EQ(queue.simulated_time(), 3 * 123);
}

TEST(Launch, WithoutACostModelTimeStandsStill) {
  const CopyProgram program(false);
  EXPECT_EQ(simulated_duration(program, nullptr), 0);
}

TEST(Launch, AFaultReachesTheSynchronisation) {
  Queue queue(0, "q");
  PicosecondAByte model;
  const CopyProgram program(true);
  queue.enqueue([&] { run_on_queue(program, {}, {}, queue, &model); }, {"x.py:1"});
  EXPECT_THROW(queue.synchronize(), DeviceError);
  EXPECT_EQ(queue.simulated_time(), 123);
}

TEST(Launch, ChipKeepsReplacedCostModelsAlive) {
  ChipSpec spec = chip_spec("v6e");
  spec.hbm_bytes = 1 << 20;
  Chip chip(spec);
  EXPECT_EQ(chip.cost_model(), nullptr);
  chip.set_cost_model(std::make_shared<PicosecondAByte>());
  const CostModel* first = chip.cost_model();
  chip.set_cost_model(std::make_shared<PicosecondAByte>());
  EXPECT_NE(chip.cost_model(), first);
  EXPECT_EQ(simulated_duration(CopyProgram(false), first), 123);
}

}  // namespace
}  // namespace tpu::runtime
