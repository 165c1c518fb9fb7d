// Texts that say what memory is used for.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "emulator/memory/allocator.h"
#include "emulator/memory/block.h"

namespace tpu::memory {

struct FailedRequest {
  int64_t bytes;
  int64_t padded;
  hlo::ElementType element;
  std::span<const int64_t> shape;
  bool plain;  ///< bytes without a shape
};

/// What was asked for, what there is, the largest holders by shape, and what to do.
std::string out_of_memory_text(const BlockPool& blocks, const AllocatorStats& stats,
                               int64_t capacity, const FailedRequest& request);

/// `memory that was freed already (f32[4,4], 64 B)`, `an address inside no allocation`, ...
std::string describe_address(const BlockPool& blocks, BlockId id);

}  // namespace tpu::memory
