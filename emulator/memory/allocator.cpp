#include "emulator/memory/allocator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "emulator/base/error.h"
#include "emulator/base/fork.h"
#include "emulator/base/seeded_fault.h"
#include "emulator/base/spin_lock.h"
#include "emulator/memory/address_range.h"
#include "emulator/memory/block.h"
#include "emulator/memory/free_bins.h"
#include "emulator/memory/memory_report.h"
#include "emulator/memory/size_classes.h"
#include "emulator/memory/tiled_layout.h"

namespace tpu::memory {
namespace {

constexpr int64_t kGrowth = 64 << 20;
// Address space beyond the capacity, so that fragmentation and slabs do not decide when memory is
// out: the padded total does.
constexpr int64_t kSlack = int64_t{1} << 30;
constexpr int64_t kMaxBytes = std::numeric_limits<int64_t>::max() / 4;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Free memory of one queue, or of none.
struct Pool {
  struct Slab {
    BlockId id = kNoBlock;
    int64_t next = 0;  // offset of the next small block to cut
    int64_t end = 0;
  };
  std::array<BlockId, SizeClasses::kCount> small{};  // heads of singly linked lists
  std::array<Slab, SizeClasses::kCount> slabs{};
  FreeBins large;
};

// A queue and the number of its tasks to wait for.
using Mark = std::pair<QueueId, uint64_t>;

struct PendingBlock {
  BlockId id;
  std::vector<Mark> marks;
};

}  // namespace

struct HbmAllocator::Impl {
  explicit Impl(int64_t capacity_bytes)
      : capacity(capacity_bytes),
        largest_capacity(capacity_bytes),
        range(capacity_bytes * 2 + kSlack),
        table(range.reserved() / SizeClasses::kGranule * static_cast<int64_t>(sizeof(BlockId))) {}

  // --- address -> block -------------------------------------------------------------------------
  // One entry for each granule of the range; only that of a block's first granule is set.
  BlockId& entry(int64_t offset) const {
    return reinterpret_cast<BlockId*>(table.base())[offset / SizeClasses::kGranule];
  }
  BlockId block_at(const void* address) const {
    const int64_t offset = static_cast<const std::byte*>(address) - range.base();
    if (!range.contains(address) || offset >= range.committed()) {
      throw InvalidArgument("the address is not memory of this chip");
    }
    return offset % SizeClasses::kGranule == 0 ? entry(offset) : kNoBlock;
  }

  // --- statistics -------------------------------------------------------------------------------
  int64_t held() const { return stats.allocated + pending_bytes; }
  void update_reserved() {
    stats.reserved = held() + cached_bytes;
    stats.reserved_peak = std::max(stats.reserved_peak, stats.reserved);
  }

  std::byte* hand_out(BlockId id, int64_t bytes, int64_t padded, hlo::ElementType element,
                      std::span<const int64_t> shape, QueueId queue) {
    Block& block = blocks[id];
    block.state = Block::State::kAllocated;
    block.queue = queue;
    block.requested = bytes;
    block.padded = padded;
    block.set_shape(element, shape);
    stats.allocated += padded;
    stats.allocated_peak = std::max(stats.allocated_peak, stats.allocated);
    stats.requested += bytes;
    stats.requested_peak = std::max(stats.requested_peak, stats.requested);
    ++stats.active_blocks;
    stats.active_blocks_peak = std::max(stats.active_blocks_peak, stats.active_blocks);
    ++stats.num_allocations;
    stats.allocated_total += padded;
    stats.requested_total += bytes;
    update_reserved();
    return range.base() + block.offset;
  }

  // --- small blocks -----------------------------------------------------------------------------
  Pool& pool(QueueId queue) {
    if (queue >= pools.size()) pools.resize(queue + 1);
    if (!pools[queue]) pools[queue] = std::make_unique<Pool>();
    return *pools[queue];
  }

  BlockId take_small_cached(Pool& from, int size_class) {
    const BlockId id = from.small[size_class];
    if (id == kNoBlock) return kNoBlock;
    Block& block = blocks[id];
    from.small[size_class] = block.list_next;
    block.list_next = kNoBlock;
    ++blocks[block.slab].live;
    cached_bytes -= block.size;
    return id;
  }

  // Cuts a block from the class's slab, making a new slab if need be; kNoBlock if there is no room.
  BlockId cut_small(Pool& from, int size_class, QueueId queue) {
    const int64_t size = SizeClasses::bytes(size_class);
    Pool::Slab& slab = from.slabs[size_class];
    if (slab.next + size > slab.end) {
      const BlockId id = take_large(from, SizeClasses::slab_bytes(size_class));
      if (id == kNoBlock) return kNoBlock;
      Block& block = blocks[id];
      block.state = Block::State::kSlab;
      block.queue = queue;
      entry(block.offset) = kNoBlock;
      slab = {id, block.offset, block.offset + block.size};
    }
    const BlockId id = blocks.create();
    Block& block = blocks[id];
    block.offset = slab.next;
    block.size = size;
    block.slab = slab.id;
    entry(block.offset) = id;
    slab.next += size;
    ++blocks[slab.id].live;
    ++blocks[slab.id].carved;
    return id;
  }

  void put_small(Block& block, BlockId id) {
    Pool& to = pool(block.queue);
    const int size_class = SizeClasses::of(block.size);
    block.state = Block::State::kFree;
    block.list_next = to.small[size_class];
    to.small[size_class] = id;
    --blocks[block.slab].live;
    cached_bytes += block.size;
  }

  // --- large blocks -----------------------------------------------------------------------------
  FreeBins& bins_of(const Block& block) {
    return block.queue == kAnyQueue ? any_queue : pool(block.queue).large;
  }

  // Takes a free block out of its bins and cuts off what is beyond `size`.
  BlockId claim(BlockId id, int64_t size) {
    Block& block = blocks[id];
    FreeBins& bins = bins_of(block);
    bins.remove(blocks, id);
    if (block.queue != kAnyQueue) cached_bytes -= block.size;
    if (block.size > size) {
      const BlockId rest_id = blocks.create();
      Block& rest = blocks[rest_id];
      rest.offset = block.offset + size;
      rest.size = block.size - size;
      rest.queue = block.queue;
      rest.state = Block::State::kFree;
      rest.dirty = block.dirty;
      rest.previous = id;
      rest.next = block.next;
      if (rest.next != kNoBlock) blocks[rest.next].previous = rest_id;
      if (last == id) last = rest_id;
      block.next = rest_id;
      block.size = size;
      if (rest.queue != kAnyQueue) cached_bytes += rest.size;
      bins.insert(blocks, rest_id);
    }
    entry(block.offset) = id;
    return id;
  }

  // From the queue's free blocks, else from nobody's, else from fresh memory.
  BlockId take_large(Pool& from, int64_t size, bool* from_cache = nullptr) {
    BlockId id = from.large.find(blocks, size);
    if (from_cache) *from_cache = id != kNoBlock;
    if (id == kNoBlock) id = any_queue.find(blocks, size);
    if (id == kNoBlock && extend(size)) id = any_queue.find(blocks, size);
    return id == kNoBlock ? kNoBlock : claim(id, size);
  }

  bool extend(int64_t size) {
    const int64_t offset = range.committed();
    int64_t growth = std::max(size, kGrowth);
    if (!range.grow(growth)) {
      growth = size;
      if (!range.grow(growth)) return false;
    }
    const int64_t entries = range.committed() / SizeClasses::kGranule;
    const int64_t needed = entries * static_cast<int64_t>(sizeof(BlockId)) - table.committed();
    if (needed > 0 && !table.grow(needed)) return false;
    const BlockId id = blocks.create();
    Block& block = blocks[id];
    block.offset = offset;
    block.size = range.committed() - offset;
    block.previous = last;
    if (last != kNoBlock) blocks[last].next = id;
    last = id;
    put_large(id, kAnyQueue);
    return true;
  }

  // Inserts a block into the free list of `queue`, merged with free neighbours of the same list.
  void put_large(BlockId id, QueueId queue) {
    blocks[id].state = Block::State::kFree;
    blocks[id].queue = queue;
    entry(blocks[id].offset) = kNoBlock;
    if (queue != kAnyQueue) cached_bytes += blocks[id].size;
    id = absorb_next(id);
    const BlockId before = blocks[id].previous;
    if (is_free_in(before, queue)) {
      bins_of(blocks[before]).remove(blocks, before);
      id = merge(before, id);
    }
    bins_of(blocks[id]).insert(blocks, id);
  }

  bool is_free_in(BlockId id, QueueId queue) const {
    return id != kNoBlock && blocks[id].state == Block::State::kFree && blocks[id].queue == queue &&
           blocks[id].detached == 0;
  }

  BlockId absorb_next(BlockId id) {
    const BlockId after = blocks[id].next;
    if (!is_free_in(after, blocks[id].queue)) return id;
    bins_of(blocks[after]).remove(blocks, after);
    return merge(id, after);
  }

  // Joins two neighbours that are in no bin; the first one's record remains.
  BlockId merge(BlockId first, BlockId second) {
    Block& a = blocks[first];
    const Block& b = blocks[second];
    a.size += b.size;
    a.dirty |= b.dirty;
    a.next = b.next;
    if (a.next != kNoBlock) blocks[a.next].previous = first;
    if (last == second) last = first;
    blocks.destroy(second);
    return first;
  }

  // --- one allocation ---------------------------------------------------------------------------
  // kNoBlock if the capacity or the range has no room. What is cached counts against the capacity
  // at first, as on the chip; once the cache was emptied, what remains of it (free blocks of slabs
  // that are in use) is the emulator's own affair.
  BlockId take(int64_t bytes, int64_t padded, QueueId queue, bool cache_counts) {
    if (padded > capacity - held()) return kNoBlock;
    Pool& from = pool(queue);
    if (bytes <= SizeClasses::kLargest) {
      const int size_class = SizeClasses::of(bytes);
      if (BlockId id = take_small_cached(from, size_class); id != kNoBlock) {
        ++stats.num_cache_hits;
        return id;
      }
      if (cache_counts && !has_room_beside_cache(padded)) return kNoBlock;
      return cut_small(from, size_class, queue);
    }
    const int64_t size = round_up(bytes, FreeBins::kUnit);
    if (cache_counts && !has_room_beside_cache(padded) &&
        from.large.find(blocks, size) == kNoBlock) {
      return kNoBlock;
    }
    bool from_cache = false;
    const BlockId id = take_large(from, size, &from_cache);
    if (from_cache) ++stats.num_cache_hits;
    return id;
  }
  bool has_room_beside_cache(int64_t padded) const {
    return padded <= capacity - held() - cached_bytes;
  }

  void release(BlockId id) {
    Block& block = blocks[id];
    if (block.slab != kNoBlock) {
      put_small(block, id);
    } else {
      block.dirty = true;
      put_large(id, block.queue);
    }
  }

  // --- blocks that recorded queues may still touch ----------------------------------------------
  void defer(BlockId id) {
    Block& block = blocks[id];
    block.state = Block::State::kPending;
    block.recorded = false;
    PendingBlock pending{id, {}};
    for (QueueId queue : recorded[id]) {
      pending.marks.emplace_back(queue, progress ? progress->submitted(queue) : 0);
    }
    recorded.erase(id);
    pending_bytes += block.padded;
    pending_blocks.push_back(std::move(pending));
  }

  void collect_passed() {
    std::erase_if(pending_blocks, [&](const PendingBlock& pending) {
      for (const auto& [queue, count] : pending.marks) {
        if (progress && !progress->has_passed(queue, count)) return false;
      }
      pending_bytes -= blocks[pending.id].padded;
      release(pending.id);
      return true;
    });
    update_reserved();
  }

  // Marks for all work enqueued so far on queues with memory here.
  std::vector<Mark> marks_now() const {
    std::vector<Mark> marks;
    for (QueueId queue = 0; queue < pools.size(); ++queue) {
      if (pools[queue] && progress) marks.emplace_back(queue, progress->submitted(queue));
    }
    for (const PendingBlock& pending : pending_blocks) {
      marks.insert(marks.end(), pending.marks.begin(), pending.marks.end());
    }
    return marks;
  }

  // --- emptying the cache -----------------------------------------------------------------------
  // Free blocks out of their lists, while the queues that may touch them finish.
  struct Detached {
    std::vector<BlockId> small, large;
  };

  Detached detach_free_blocks() {
    Detached detached;
    for (auto& owner : pools) {
      if (!owner) continue;
      for (BlockId& head : owner->small) {
        while (head != kNoBlock) {
          detached.small.push_back(head);
          ++blocks[blocks[head].slab].detached;
          head = std::exchange(blocks[head].list_next, kNoBlock);
        }
      }
      owner->large.drain(blocks, [&](BlockId id) {
        blocks[id].detached = 1;
        detached.large.push_back(id);
      });
    }
    return detached;
  }

  // Called once the queues have passed; whole slabs are freed, other small blocks go back.
  void free_detached(const Detached& detached) {
    for (BlockId id : detached.large) {
      blocks[id].detached = 0;
      cached_bytes -= blocks[id].size;
      put_large(id, kAnyQueue);
    }
    std::vector<BlockId> slabs;
    for (BlockId id : detached.small) {
      Block& block = blocks[id];
      Block& slab = blocks[block.slab];
      if (slab.detached == slab.carved) {
        cached_bytes -= block.size;
        entry(block.offset) = kNoBlock;
        if (std::ranges::find(slabs, block.slab) == slabs.end()) slabs.push_back(block.slab);
      } else {
        ++slab.live;
        cached_bytes -= block.size;
        put_small(block, id);
      }
    }
    // Only now, as the comparison above needs the slabs' counts.
    for (BlockId id : detached.small) {
      if (blocks[blocks[id].slab].detached == blocks[blocks[id].slab].carved) blocks.destroy(id);
    }
    for (auto& owner : pools) {
      if (!owner) continue;
      for (Pool::Slab& slab : owner->slabs) {
        if (std::ranges::find(slabs, slab.id) != slabs.end()) slab = {};
      }
    }
    for (BlockId id : slabs) {
      blocks[id].live = blocks[id].carved = 0;
      blocks[id].dirty = true;
    }
    for (BlockId id = 1; id < blocks.end(); ++id) {
      if (blocks[id].state == Block::State::kSlab) blocks[id].detached = 0;
    }
    for (BlockId id : slabs) put_large(id, kAnyQueue);
    discard_pages();
    update_reserved();
  }

  void discard_pages() {
    std::vector<BlockId> dirty;
    any_queue.drain(blocks, [&](BlockId id) { dirty.push_back(id); });
    for (BlockId id : dirty) {
      if (std::exchange(blocks[id].dirty, false)) range.discard(blocks[id].offset, blocks[id].size);
      any_queue.insert(blocks, id);
    }
  }

  // --- state ------------------------------------------------------------------------------------
  mutable SpinLock lock;
  std::mutex emptying;  // one at a time; taken before `lock`
  int64_t capacity;
  int64_t largest_capacity;
  AddressRange range;
  AddressRange table;
  BlockPool blocks;
  BlockId last = kNoBlock;  // the block that ends at the end of the committed range
  std::vector<std::unique_ptr<Pool>> pools;  // by queue
  FreeBins any_queue;
  std::unordered_map<BlockId, std::vector<QueueId>> recorded;
  std::vector<PendingBlock> pending_blocks;
  int64_t pending_bytes = 0;  // padded
  int64_t cached_bytes = 0;   // in free lists of queues
  AllocatorStats stats;
  const QueueProgress* progress = nullptr;
};

HbmAllocator::HbmAllocator(int64_t capacity) {
  if (capacity <= 0 || capacity > kMaxBytes) {
    throw InvalidArgument("HBM capacity is " + std::to_string(capacity) +
                          " bytes; expected a positive number of at most " +
                          std::to_string(kMaxBytes));
  }
  impl_ = std::make_unique<Impl>(capacity);
}

HbmAllocator::~HbmAllocator() = default;

std::byte* HbmAllocator::allocate(size_t bytes, hlo::ElementType element,
                                  std::span<const int64_t> shape, QueueId queue) {
  check_not_forked();
  if (bytes == 0) return nullptr;
  const auto size = static_cast<int64_t>(std::min<size_t>(bytes, kMaxBytes));
  const bool plain = shape.empty() && element == hlo::ElementType::kUI8;
  const int64_t padded =
      std::max(padded_plain_bytes(size), plain ? 0 : padded_bytes(element, shape));
  for (int attempt = 0;; ++attempt) {
    {
      std::lock_guard guard(impl_->lock);
      if (!impl_->pending_blocks.empty()) impl_->collect_passed();
      const BlockId id = impl_->take(size, padded, queue, attempt == 0);
      if (id != kNoBlock) return impl_->hand_out(id, size, padded, element, shape, queue);
      if (attempt == 1) {
        ++impl_->stats.num_ooms;
        throw OutOfMemory(out_of_memory_text(impl_->blocks, impl_->stats, impl_->capacity,
                                             {size, padded, element, shape, plain}));
      }
    }
    empty_cache();
  }
}

void HbmAllocator::deallocate(std::byte* address) {
  if (address == nullptr || in_bad_fork()) return;
  std::lock_guard guard(impl_->lock);
  const BlockId id = impl_->block_at(address);
  if (id == kNoBlock || impl_->blocks[id].state != Block::State::kAllocated) {
    throw InvalidArgument("cannot free " + describe_address(impl_->blocks, id) +
                          "; expected the start of a live allocation");
  }
  Block& block = impl_->blocks[id];
  impl_->stats.allocated -= block.padded;
  impl_->stats.requested -= block.requested;
  --impl_->stats.active_blocks;
  ++impl_->stats.num_frees;
  if (block.recorded && !seeded("allocator.other_queues_forgotten")) {
    impl_->defer(id);
  } else {
    impl_->release(id);
  }
  impl_->update_reserved();
}

void HbmAllocator::record_queue(std::byte* address, QueueId queue) {
  if (address == nullptr) return;
  std::lock_guard guard(impl_->lock);
  const BlockId id = impl_->block_at(address);
  if (id == kNoBlock || impl_->blocks[id].state != Block::State::kAllocated) {
    throw InvalidArgument("cannot record a queue for " + describe_address(impl_->blocks, id) +
                          "; expected the start of a live allocation");
  }
  Block& block = impl_->blocks[id];
  if (queue == block.queue) return;
  block.recorded = true;
  std::vector<QueueId>& queues = impl_->recorded[id];
  if (std::ranges::find(queues, queue) == queues.end()) queues.push_back(queue);
}

void HbmAllocator::check_live(const void* address, size_t bytes) const {
  if (bytes == 0) return;
  std::lock_guard guard(impl_->lock);
  impl_->block_at(address);  // throws if it is not ours
  const int64_t offset = static_cast<const std::byte*>(address) - impl_->range.base();
  int64_t start = offset / SizeClasses::kGranule * SizeClasses::kGranule;
  while (start > 0 && impl_->entry(start) == kNoBlock) start -= SizeClasses::kGranule;
  const BlockId id = impl_->entry(start);
  const bool inside = id != kNoBlock && offset < impl_->blocks[id].offset + impl_->blocks[id].size;
  if (!inside || impl_->blocks[id].state != Block::State::kAllocated) {
    throw InvalidArgument("use of " + describe_address(impl_->blocks, inside ? id : kNoBlock));
  }
  const Block& block = impl_->blocks[id];
  if (offset + static_cast<int64_t>(bytes) > block.offset + block.requested) {
    throw InvalidArgument("access to bytes " + std::to_string(offset - block.offset) + " to " +
                          std::to_string(offset - block.offset + static_cast<int64_t>(bytes)) +
                          " of " + describe_address(impl_->blocks, id) + " passes its end");
  }
}

void HbmAllocator::set_queue_progress(const QueueProgress* progress) {
  std::lock_guard guard(impl_->lock);
  impl_->progress = progress;
}

bool HbmAllocator::contains(const void* address) const {
  return impl_->range.contains(address);
}

void HbmAllocator::empty_cache() {
  check_not_forked();
  std::lock_guard one_at_a_time(impl_->emptying);
  Impl::Detached detached;
  std::vector<std::pair<QueueId, uint64_t>> marks;
  const QueueProgress* progress;
  {
    std::lock_guard guard(impl_->lock);
    impl_->collect_passed();
    detached = impl_->detach_free_blocks();
    marks = impl_->marks_now();
    progress = impl_->progress;
  }
  for (const auto& [queue, count] : marks) progress->wait(queue, count);
  std::lock_guard guard(impl_->lock);
  impl_->free_detached(detached);
  impl_->collect_passed();
}

AllocatorStats HbmAllocator::stats() const {
  std::lock_guard guard(impl_->lock);
  return impl_->stats;
}

void HbmAllocator::reset_peak_stats() {
  std::lock_guard guard(impl_->lock);
  AllocatorStats& stats = impl_->stats;
  stats.allocated_peak = stats.allocated;
  stats.requested_peak = stats.requested;
  stats.reserved_peak = stats.reserved;
  stats.active_blocks_peak = stats.active_blocks;
}

void HbmAllocator::reset_accumulated_stats() {
  std::lock_guard guard(impl_->lock);
  AllocatorStats& stats = impl_->stats;
  stats.num_allocations = stats.num_frees = stats.num_cache_hits = stats.num_ooms = 0;
  stats.allocated_total = stats.requested_total = 0;
}

int64_t HbmAllocator::capacity() const {
  std::lock_guard guard(impl_->lock);
  return impl_->capacity;
}

void HbmAllocator::set_capacity(int64_t capacity) {
  std::lock_guard guard(impl_->lock);
  if (capacity < impl_->held() || capacity > impl_->largest_capacity || capacity <= 0) {
    throw InvalidArgument("cannot set the HBM capacity to " + format_bytes(capacity) +
                          ": expected at least the " + format_bytes(impl_->held()) +
                          " that are allocated and at most the chip's " +
                          format_bytes(impl_->largest_capacity));
  }
  impl_->capacity = capacity;
}

}  // namespace tpu::memory
