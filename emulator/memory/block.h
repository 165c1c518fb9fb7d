// Blocks: the allocator's book-keeping for pieces of the address range.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "emulator/hlo/types.h"
#include "emulator/memory/queue_progress.h"

namespace tpu::memory {

/// Index into a BlockPool. 0 is no block.
using BlockId = uint32_t;
inline constexpr BlockId kNoBlock = 0;

/// Owner of free memory that no queue's pending work can touch.
inline constexpr QueueId kAnyQueue = ~QueueId{0};

struct Block {
  enum class State : uint8_t {
    kUnused,     ///< the record stands for nothing
    kFree,       ///< in a free list, or on its way between two
    kAllocated,  ///< held by a caller
    kPending,    ///< freed, but a recorded queue may still touch it
    kSlab,       ///< cut into small blocks
  };
  static constexpr int kMaxDims = 6;

  int64_t offset = 0, size = 0;  ///< in the address range
  int64_t padded = 0, requested = 0;
  BlockId previous = kNoBlock, next = kNoBlock;            ///< neighbours by address; not in slabs
  BlockId list_previous = kNoBlock, list_next = kNoBlock;  ///< in a free list
  QueueId queue = kAnyQueue;
  BlockId slab = kNoBlock;  ///< a small block's slab
  int32_t live = 0, carved = 0,
          detached = 0;  ///< a slab's small blocks: in use, cut, see allocator
  State state = State::kUnused;
  bool recorded = false;  ///< other queues were recorded
  bool dirty = false;     ///< a free block whose pages may hold memory of the host
  hlo::ElementType element = hlo::ElementType::kUI8;
  uint8_t rank = 0;
  std::array<int64_t, kMaxDims>
      dims{};  ///< of ranks above 6, the product of the leading ones first

  void set_shape(hlo::ElementType type, std::span<const int64_t> shape) {
    element = type;
    rank = static_cast<uint8_t>(std::min<size_t>(shape.size(), kMaxDims));
    const size_t folded = shape.size() - rank;
    for (size_t i = 0; i < rank; ++i) dims[i] = shape[folded + i];
    for (size_t i = 0; i < folded; ++i) dims[0] *= shape[i];
  }
};

/// Records with stable addresses and small indices.
class BlockPool {
 public:
  Block& operator[](BlockId id) { return chunks_[id / kChunk][id % kChunk]; }
  const Block& operator[](BlockId id) const { return chunks_[id / kChunk][id % kChunk]; }

  BlockId create() {
    if (!spare_.empty()) {
      const BlockId id = spare_.back();
      spare_.pop_back();
      return id;
    }
    if (end_ % kChunk == 0 || chunks_.empty()) chunks_.push_back(std::make_unique<Block[]>(kChunk));
    return end_++;
  }
  void destroy(BlockId id) {
    (*this)[id] = Block{};
    spare_.push_back(id);
  }
  /// One past the largest index in use.
  BlockId end() const { return end_; }

 private:
  static constexpr BlockId kChunk = 4096;
  std::vector<std::unique_ptr<Block[]>> chunks_;
  std::vector<BlockId> spare_;
  BlockId end_ = 1;
};

}  // namespace tpu::memory
