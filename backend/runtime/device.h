// The process's one emulated chip, as the PyTorch side reaches it.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/Allocator.h>
#include <c10/core/Device.h>

#include <cstddef>
#include <optional>
#include <string>

#include "emulator/memory/allocator.h"
#include "emulator/runtime/chip.h"

namespace torch_tpu::runtime {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;
inline c10::Device device() {
  return {kDeviceType, 0};
}
/// Raises ValueError for an index other than 0: a process has one device.
void check_device(std::optional<c10::Device> device);

/// The chip, created on first use as TORCH_TPU_EMULATOR_CHIP says (default v6e). Throws
/// RuntimeError after a fork.
tpu::runtime::Chip& chip();
/// True once the chip exists.
bool is_initialized();
/// True in a forked child of a process that had used the chip.
bool in_bad_fork();

/// The queue of the calling thread's current stream.
tpu::runtime::Queue& current_queue();

/// Device memory for a tensor of this shape, for work of the current queue. 0 bytes give null
/// data. Throws torch.OutOfMemoryError.
c10::DataPtr allocate(size_t bytes, const tpu::memory::AllocationShape& shape);

/// Waits for the current queue and raises what its work left behind, as PyTorch's exceptions.
void synchronize_current_queue();
/// The same for all queues.
void synchronize_device();

/// The Python line that is running, `train.py:12 in step`; empty without Python. The provider is
/// set by the Python module; it takes the GIL, so ask only for work that can fail.
std::string source_location();
void set_source_location_provider(std::string (*provider)());

/// Rethrows the exception in flight as PyTorch's type: InvalidArgument and Error as RuntimeError,
/// Unimplemented as NotImplementedError, OutOfMemory as OutOfMemoryError, DeviceError as
/// RuntimeError or, if it is an IndexFault or its text starts with "IndexError: ", as IndexError.
/// Other exceptions pass.
[[noreturn]] void rethrow_as_torch();

/// Calls `fn`, translating the emulator's exceptions.
template <class F>
auto translating(F&& fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (...) {
    rethrow_as_torch();
  }
}

/// Philox key and counter (in 128-bit blocks) for one operator's draws.
struct PhiloxState {
  uint64_t seed;
  uint64_t offset;
};
/// Reserves `blocks` 128-bit blocks of `generator`'s stream (the default generator's if it is not
/// defined); the generator's offset moves on by as many.
PhiloxState reserve_philox(const std::optional<at::Generator>& generator, int64_t blocks);

}  // namespace torch_tpu::runtime
