#include "backend/runtime/device.h"

#include <c10/util/Exception.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "backend/runtime/stream.h"
#include "emulator/base/fork.h"

namespace torch_tpu::runtime {
namespace {

std::mutex creation;
// Never destroyed: tensors may die after static destructors, on threads of PyTorch's.
std::atomic<tpu::runtime::Chip*> the_chip{nullptr};

tpu::runtime::Chip& create_chip() {
  std::lock_guard lock(creation);
  if (auto* existing = the_chip.load()) return *existing;
  const char* name = std::getenv("TORCH_TPU_EMULATOR_CHIP");
  auto* chip = new tpu::runtime::Chip(
      tpu::runtime::chip_spec(name != nullptr && *name != '\0' ? name : "v6e"));
  the_chip.store(chip, std::memory_order_release);
  return *chip;
}

std::atomic<std::string (*)()> location_provider{nullptr};

}  // namespace

tpu::runtime::Chip& chip() {
  if (in_bad_fork()) {
    TORCH_CHECK(false,
                "Cannot use the TPU in a forked subprocess: its threads stayed in the parent. Use "
                "the 'spawn' start method of multiprocessing.");
  }
  if (auto* chip = the_chip.load(std::memory_order_acquire)) return *chip;
  return translating(create_chip);
}

bool is_initialized() {
  return the_chip.load(std::memory_order_acquire) != nullptr;
}
bool in_bad_fork() {
  return tpu::in_bad_fork();
}

void synchronize_current_queue() {
  translating([] { current_queue().synchronize(); });
}

void synchronize_device() {
  translating([] { chip().synchronize(); });
}

std::string source_location() {
  auto* provider = location_provider.load(std::memory_order_acquire);
  return provider != nullptr ? provider() : std::string();
}

void set_source_location_provider(std::string (*provider)()) {
  location_provider.store(provider, std::memory_order_release);
}

void check_device(std::optional<c10::Device> device) {
  TORCH_CHECK_VALUE(!device || device->index() <= 0, "this process has one TPU, tpu:0; got ",
                    *device,
                    ". Use one process for each device (torchrun, or the spawn start method)");
}

}  // namespace torch_tpu::runtime
