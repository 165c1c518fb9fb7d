#include "emulator/tensorcore/mxu/scratch.h"

#include <algorithm>
#include <new>

namespace tpu::tensorcore {
namespace {

constexpr std::align_val_t kAlignment{64};
/// What a thread keeps; a larger block, or one more, is given back to the system.
constexpr size_t kMaxKeptBlocks = 8;
constexpr size_t kMaxKeptBytes = size_t{64} << 20;

std::vector<ScratchBytes::Block>& free_blocks() {
  thread_local std::vector<ScratchBytes::Block> blocks;
  return blocks;
}

ScratchBytes::Block allocate(size_t bytes) {
  bytes = (bytes + 4095) / 4096 * 4096;
  auto* data = static_cast<std::byte*>(::operator new(bytes, kAlignment));
  return {std::unique_ptr<std::byte, ScratchBytes::Free>(data), bytes};
}

}  // namespace

void ScratchBytes::Free::operator()(std::byte* data) const {
  ::operator delete(data, kAlignment);
}

ScratchBytes::ScratchBytes(size_t bytes) {
  std::vector<Block>& blocks = free_blocks();
  auto best = blocks.end();
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    if (it->bytes >= bytes && (best == blocks.end() || it->bytes < best->bytes)) best = it;
  }
  if (best == blocks.end()) {
    block_ = allocate(bytes);
  } else {
    block_ = std::move(*best);
    blocks.erase(best);
  }
}

ScratchBytes::~ScratchBytes() {
  std::vector<Block>& blocks = free_blocks();
  if (block_.bytes > kMaxKeptBytes) return;
  blocks.push_back(std::move(block_));
  size_t total = 0;
  for (const Block& block : blocks) total += block.bytes;
  while (blocks.size() > kMaxKeptBlocks || total > kMaxKeptBytes) {
    const auto smallest = std::ranges::min_element(blocks, {}, &Block::bytes);
    total -= smallest->bytes;
    blocks.erase(smallest);
  }
}

}  // namespace tpu::tensorcore
