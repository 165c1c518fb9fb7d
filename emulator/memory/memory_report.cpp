#include "emulator/memory/memory_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <vector>

namespace tpu::memory {
namespace {

constexpr size_t kHoldersShown = 8;

std::string format_shape(hlo::ElementType element, std::span<const int64_t> shape) {
  std::string text(hlo::name(element));
  text += '[';
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape[i]);
  }
  return text + ']';
}

bool is_plain(const Block& block) {
  return block.rank == 0 && block.element == hlo::ElementType::kUI8;
}

std::string format_shape(const Block& block) {
  if (is_plain(block)) return "plain bytes";
  return format_shape(block.element, std::span(block.dims.data(), block.rank));
}

struct Holder {
  int64_t count = 0, padded = 0, requested = 0;
};

std::vector<std::pair<std::string, Holder>> holders_by_size(const BlockPool& blocks) {
  std::map<std::string, Holder> by_shape;
  for (BlockId id = 1; id < blocks.end(); ++id) {
    const Block& block = blocks[id];
    if (block.state != Block::State::kAllocated && block.state != Block::State::kPending) continue;
    Holder& holder = by_shape[format_shape(block)];
    ++holder.count;
    holder.padded += block.padded;
    holder.requested += block.requested;
  }
  std::vector<std::pair<std::string, Holder>> sorted(by_shape.begin(), by_shape.end());
  // By size; what is alike, by name, so that a report does not vary.
  std::ranges::sort(sorted, [](const auto& a, const auto& b) {
    if (a.second.padded != b.second.padded) return a.second.padded > b.second.padded;
    return a.first < b.first;
  });
  return sorted;
}

}  // namespace

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f %s", value, kUnits[unit]);
  return text.data();
}

std::string out_of_memory_text(const BlockPool& blocks, const AllocatorStats& stats,
                               int64_t capacity, const FailedRequest& request) {
  std::string text = "TPU out of memory: tried to allocate " + format_bytes(request.padded);
  if (!request.plain) text += " for " + format_shape(request.element, request.shape);
  if (request.padded > request.bytes) {
    text += " (" + format_bytes(request.bytes) + " of data, the rest is padding to tiles)";
  }
  text += ". HBM capacity " + format_bytes(capacity) + "; allocated " +
          format_bytes(stats.allocated) + " padded (" + format_bytes(stats.requested) +
          " of data) in " + std::to_string(stats.active_blocks) + " blocks; free " +
          format_bytes(capacity - stats.allocated) + ".";
  const auto holders = holders_by_size(blocks);
  if (!holders.empty()) text += "\nLargest holders:";
  for (size_t i = 0; i < std::min(kHoldersShown, holders.size()); ++i) {
    const auto& [shape, holder] = holders[i];
    text += "\n  " + format_bytes(holder.padded) + " padded (" + format_bytes(holder.requested) +
            " of data): " + std::to_string(holder.count) + " x " + shape;
  }
  if (holders.size() > kHoldersShown) {
    text += "\n  and " + std::to_string(holders.size() - kHoldersShown) + " other shapes";
  }
  text +=
      "\nWhat to do: drop references to tensors that are no longer needed, use a smaller batch or "
      "a narrower dtype, or recompute activations (torch.utils.checkpoint).";
  if (stats.allocated + request.padded > 2 * (stats.requested + request.bytes)) {
    text +=
        " More than half of this is padding: the last two dimensions are padded to tiles of 8 x "
        "128 words, so make the last one a multiple of 128 and the one before it of 8.";
  }
  return text;
}

std::string describe_address(const BlockPool& blocks, BlockId id) {
  if (id == kNoBlock) return "an address that is not in a live allocation (freed already?)";
  const Block& block = blocks[id];
  const std::string what = format_shape(block) + ", " + format_bytes(block.requested);
  switch (block.state) {
    case Block::State::kAllocated:
      return "an allocation of " + what;
    case Block::State::kFree:
    case Block::State::kPending:
      return "memory that was freed already (" + what + ")";
    case Block::State::kSlab:
    case Block::State::kUnused:
      break;
  }
  return "an address that is not in a live allocation";
}

}  // namespace tpu::memory
