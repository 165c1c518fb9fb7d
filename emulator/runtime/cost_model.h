// The interface through which the machine learns how long work takes on the real chip.
#pragma once

#include <cstdint>

#include "emulator/compiler/executable.h"

namespace tpu::runtime {

/// Implemented by perf/. The emulator never waits for these durations; it only adds them up.
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Picoseconds the kernel takes on its unit.
  virtual int64_t duration(const compiler::KernelDescription& kernel) const = 0;
};

}  // namespace tpu::runtime
