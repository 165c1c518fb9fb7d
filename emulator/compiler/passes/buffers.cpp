#include "emulator/compiler/passes/buffers.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "emulator/base/seeded_fault.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

constexpr int64_t kAlignment = 64;

int64_t align_up(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The values a step reads itself; nested blocks are visited on their own.
std::vector<const Value*> reads_of(const PlanStep& step) {
  std::vector<const Value*> reads;
  for (const LoopKernel& kernel : step.kernels) {
    for (const LoopNode& node : kernel.nodes) {
      if (node.kind == LoopNode::Kind::kLoad) reads.push_back(node.value);
    }
  }
  for (const ValueView& view : step.operands) reads.push_back(view.base);
  if (step.kind == PlanStep::Kind::kControl) {
    for (const Value* operand : step.op->operands()) reads.push_back(operand);
  }
  return reads;
}

int last_pass(const LoopKernel& kernel) {
  int last = 0;
  for (const LoopReduction& reduction : kernel.reductions) last = std::max(last, reduction.stage);
  for (const LoopStore& store : kernel.stores) {
    last = std::max(last, kernel.nodes[store.node].stage);
  }
  return last;
}

// True if `output` may be written over the memory of the values `is_input` while the step runs:
// wherever a kernel reads an element of it, it writes that same element, after its last read.
bool same_element_only(const PlanStep& step, const Value* output,
                       const std::function<bool(const Value*)>& is_input) {
  for (const LoopKernel& kernel : step.kernels) {
    const LoopStore* store = nullptr;
    for (const LoopStore& candidate : kernel.stores) {
      if (candidate.value == output) store = &candidate;
    }
    for (const LoopNode& node : kernel.nodes) {
      if (node.kind != LoopNode::Kind::kLoad || !is_input(node.value)) continue;
      if (!store || store->shape || node.index != store->index) return false;
      if (node.value->type.shape != output->type.shape) return false;
      if (kernel.nodes[store->node].stage != last_pass(kernel)) return false;
    }
  }
  return true;
}

bool has_reshaped_store(const PlanStep& step) {
  for (const LoopKernel& kernel : step.kernels) {
    for (const LoopStore& store : kernel.stores) {
      if (store.shape) return true;
    }
  }
  return false;
}

int64_t extent_bytes(const hlo::TensorType& type, const hlo::Dims& strides) {
  if (type.num_elements() == 0) return 0;
  int64_t last = 0;
  for (int i = 0; i < type.rank(); ++i) last += (type.shape[i] - 1) * strides[i];
  return (last + 1) * hlo::byte_width(type.element);
}

// Where the values that a block returns have to be when it ends.
struct Target {
  Place place;
  const Value* overwrites = nullptr;  // a value of the block whose memory that is, too
};

class Placer {
 public:
  Placer(const Signature& signature, const StridesOf& strides)
      : signature_(signature), strides_(strides) {}

  Placement run(const BlockPlan& plan) {
    const Block& block = *plan.block;
    AddressTable& table = result_.table;
    table.num_parameters = static_cast<int>(block.arguments().size());
    table.num_results = static_cast<int>(block.terminator().operands().size());
    for (int i = 0; i < table.num_parameters; ++i) {
      result_.places[block.argument(i)] = {table.parameter(i), 0, strides(block.argument(i))};
    }
    for (int entry = 0; entry < table.size(); ++entry) result_.alias_of_entry.push_back(entry);
    number(plan);
    std::vector<Target> targets;
    for (int i = 0; i < table.num_results; ++i) {
      const Value* value = block.terminator().operand(i);
      const Layout layout = signature_.results.empty() ? Layout{} : signature_.results[i];
      const int alias = signature_.aliases.empty() ? -1 : signature_.aliases[i];
      targets.push_back({{table.result(i), 0, strides_of(layout, value->type.shape)},
                         alias < 0 ? nullptr : block.argument(alias)});
      if (alias >= 0) result_.alias_of_entry[table.result(i)] = table.parameter(alias);
    }
    place_block(plan, targets);
    allocate();
    return std::move(result_);
  }

 private:
  struct Allocation {
    int64_t bytes, start, end;
    int64_t offset = 0;
  };
  struct OpenLoop {
    int64_t start;
    std::vector<const Value*> reads;  // of values from before the loop
  };

  hlo::Dims strides(const Value* value) const {
    const auto found = strides_.find(value);
    return found != strides_.end() ? found->second : hlo::row_major_strides(value->type.shape);
  }

  // Times ----------------------------------------------------------------------------------------

  void use(const Value* value, int64_t time) {
    int64_t& last = last_use_[value];
    last = std::max(last, time);
    const auto defined = defined_.find(value);
    for (OpenLoop& loop : loops_) {
      if (defined == defined_.end() || defined->second < loop.start) loop.reads.push_back(value);
    }
  }

  // What a loop reads from before it must outlive its last iteration.
  void close_loop(int64_t time) {
    for (const Value* value : loops_.back().reads) {
      int64_t& last = last_use_[value];
      last = std::max(last, time);
    }
    loops_.pop_back();
  }

  void number(const BlockPlan& plan) {
    for (const PlanStep& step : plan.steps) {
      const int64_t start = ++time_;
      start_[&step] = start;
      for (const Value* value : reads_of(step)) use(value, start);
      if (step.kind == PlanStep::Kind::kControl) {
        const bool loop = step.op->kind() == OpKind::kWhile;
        if (loop) loops_.push_back({start, {}});
        for (const auto& region : step.regions) {
          for (const auto& argument : region->block->arguments()) defined_[argument.get()] = start;
          number(*region);
        }
        ++time_;
        if (loop) close_loop(time_);
      }
      end_[&step] = time_;
      for (const Value* output : step.outputs) defined_[output] = start;
    }
    ++time_;
    for (const Value* value : plan.block->terminator().operands()) use(value, time_);
    block_end_[plan.block] = time_;
  }

  int64_t last_use(const Value* value, int64_t at_least) const {
    const auto found = last_use_.find(value);
    if (seeded("buffers.freed_before_last_use")) return at_least;
    return found == last_use_.end() ? at_least : std::max(at_least, found->second);
  }

  // Places ---------------------------------------------------------------------------------------

  int new_allocation(int64_t bytes, int64_t start, int64_t end) {
    allocations_.push_back({align_up(std::max<int64_t>(bytes, 1)), start, end});
    return static_cast<int>(allocations_.size()) - 1;
  }

  // Temporaries are placed by allocation first; `allocate` fills in offsets.
  void place_at(const Value* value, int allocation, hlo::Dims strides) {
    result_.places[value] = {result_.table.scratch(), 0, std::move(strides)};
    allocation_of_[value] = allocation;
  }

  void place_block(const BlockPlan& plan, const std::vector<Target>& targets) {
    place_returned(plan, targets);
    for (const PlanStep& step : plan.steps) {
      place_reads(step);
      if (step.kind == PlanStep::Kind::kControl) {
        step.op->kind() == OpKind::kWhile ? place_while(step) : place_branches(step);
        continue;
      }
      for (const Value* output : step.outputs) {
        if (!result_.places.contains(output)) place_output(step, output);
      }
    }
    for (const Value* value : plan.block->terminator().operands()) place_read(value);
    finish_block(plan, targets);
  }

  void place_reads(const PlanStep& step) {
    for (const Value* value : reads_of(step)) place_read(value);
  }

  // Constants, and arrays without elements, are placed when they are first read.
  void place_read(const Value* value) {
    if (result_.places.contains(value) || !value->def) return;
    if (value->type.num_elements() == 0) {
      result_.places[value] = {result_.table.constants(), 0, strides(value)};
      return;
    }
    if (value->def->kind() != OpKind::kConstant) return;
    const auto& literal = value->def->attributes().get<hlo::Literal>("value");
    const int64_t offset = align_up(static_cast<int64_t>(result_.constants.size()));
    result_.constants.resize(offset);
    result_.constants.insert(result_.constants.end(), literal.bytes().begin(),
                             literal.bytes().end());
    result_.places[value] = {result_.table.constants(), offset, strides(value)};
  }

  void place_output(const PlanStep& step, const Value* output) {
    const int64_t start = start_.at(&step);
    const int64_t end = last_use(output, end_.at(&step));
    if (std::optional<int> over = dying_input(step, output)) {
      Allocation& allocation = allocations_[*over];
      allocation.end = std::max(allocation.end, end);
      place_at(output, *over, strides(output));
      return;
    }
    const hlo::Dims own = strides(output);
    place_at(output, new_allocation(extent_bytes(output->type, own), start, end), own);
  }

  // The allocation of a temporary that the step reads last, and may write `output` over.
  std::optional<int> dying_input(const PlanStep& step, const Value* output) const {
    if (step.kind != PlanStep::Kind::kLoops) return std::nullopt;
    for (const LoopKernel& kernel : step.kernels) {
      for (const LoopNode& node : kernel.nodes) {
        if (node.kind != LoopNode::Kind::kLoad) continue;
        const auto found = allocation_of_.find(node.value);
        if (found == allocation_of_.end()) continue;
        if (allocations_[found->second].end != start_.at(&step)) continue;
        if (result_.places.at(node.value).strides != strides(output)) continue;
        if (hlo::byte_width(node.value->type.element) != hlo::byte_width(output->type.element)) {
          continue;
        }
        const int allocation = found->second;
        const auto shares = [&](const Value* value) {
          const auto at = allocation_of_.find(value);
          return at != allocation_of_.end() && at->second == allocation;
        };
        if (same_element_only(step, output, shares) && !taken(step, allocation)) return allocation;
      }
    }
    return std::nullopt;
  }

  // True if another output of the step already lies there.
  bool taken(const PlanStep& step, int allocation) const {
    return std::any_of(step.outputs.begin(), step.outputs.end(), [&](const Value* output) {
      const auto at = allocation_of_.find(output);
      return at != allocation_of_.end() && at->second == allocation;
    });
  }

  // Returned values ------------------------------------------------------------------------------

  // Values that the step that makes them may write where they are wanted.
  void place_returned(const BlockPlan& plan, const std::vector<Target>& targets) {
    const auto returned = plan.block->terminator().operands();
    for (size_t i = 0; i < targets.size(); ++i) {
      const Value* value = returned[i];
      if (result_.places.contains(value) || targets[i].place.strides != strides(value)) continue;
      const PlanStep* maker = nullptr;
      for (const PlanStep& step : plan.steps) {
        if (step.kind == PlanStep::Kind::kControl) continue;
        for (const Value* output : step.outputs) {
          if (output == value) maker = &step;
        }
      }
      if (!maker) continue;
      const Value* old = targets[i].overwrites;
      if (old && !may_overwrite(plan, *maker, value, old)) continue;
      result_.places[value] = targets[i].place;
      if (const auto at = target_allocation_.find(old); old && at != target_allocation_.end()) {
        pinned_[value] = at->second;
      } else if (targets[i].place.entry == result_.table.scratch()) {
        pinned_[value] = branch_allocation_.at({plan.block, i});
      }
    }
  }

  bool may_overwrite(const BlockPlan& plan, const PlanStep& maker, const Value* value,
                     const Value* old) const {
    if (!same_bytes(value, old) || strides(value) != strides(old)) return false;
    if (has_reshaped_store(maker)) return false;
    for (const Value* returned : plan.block->terminator().operands()) {
      if (returned == old) return false;
    }
    bool after = false;
    for (const PlanStep& step : plan.steps) {
      if (&step == &maker) {
        const auto is_old = [&](const Value* read) { return read == old; };
        if (step.kind != PlanStep::Kind::kLoops) {
          if (reads(step, old)) return false;
        } else if (!same_element_only(step, value, is_old)) {
          return false;
        }
        after = true;
      } else if (after && reads(step, old)) {
        return false;
      }
    }
    return true;
  }

  static bool same_bytes(const Value* a, const Value* b) {
    return a->type.shape == b->type.shape &&
           hlo::byte_width(a->type.element) == hlo::byte_width(b->type.element);
  }

  static bool reads(const PlanStep& step, const Value* value) {
    for (const Value* read : reads_of(step)) {
      if (read == value) return true;
    }
    for (const auto& region : step.regions) {
      for (const PlanStep& inner : region->steps) {
        if (reads(inner, value)) return true;
      }
      for (const Value* returned : region->block->terminator().operands()) {
        if (returned == value) return true;
      }
    }
    return false;
  }

  // The copies that bring the other returned values to their targets.
  void finish_block(const BlockPlan& plan, const std::vector<Target>& targets) {
    const auto returned = plan.block->terminator().operands();
    std::vector<DelayedCopy> staged, last;
    const int64_t end = block_end_.at(plan.block);
    for (size_t i = 0; i < targets.size(); ++i) {
      const Value* value = returned[i];
      if (value->type.num_elements() == 0) continue;
      if (result_.places.at(value) == targets[i].place && !moves(value, targets[i], plan, i)) {
        continue;
      }
      DelayedCopy copy{value->type, {}, {}};
      copy.to = {targets[i].place, target_pin(plan, targets[i], i)};
      copy.from = {result_.places.at(value), pin_of(value)};
      if (overwritten(targets, value, i)) {
        const int stage = new_allocation(value->type.num_bytes(), end, end);
        const Pinned middle{{result_.table.scratch(), 0, hlo::row_major_strides(value->type.shape)},
                            stage};
        staged.push_back({value->type, copy.from, middle});
        copy.from = middle;
      }
      last.push_back(copy);
    }
    staged.insert(staged.end(), last.begin(), last.end());
    if (!staged.empty()) delayed_at_end_[plan.block] = std::move(staged);
  }

  struct Pinned {
    Place place;
    int allocation = -1;  // its offset is added, unless -1
  };
  struct DelayedCopy {
    hlo::TensorType type;
    Pinned from, to;
  };

  int pin_of(const Value* value) const {
    if (const auto at = allocation_of_.find(value); at != allocation_of_.end()) return at->second;
    if (const auto at = pinned_.find(value); at != pinned_.end()) return at->second;
    return -1;
  }

  int target_pin(const BlockPlan& plan, const Target& target, size_t i) const {
    const auto at = target_allocation_.find(target.overwrites);
    if (target.overwrites && at != target_allocation_.end()) return at->second;
    const auto branch = branch_allocation_.find({plan.block, i});
    return branch == branch_allocation_.end() ? -1 : branch->second;
  }

  // Equal places are the same memory only if they belong to the same allocation.
  bool moves(const Value* value, const Target& target, const BlockPlan& plan, size_t i) const {
    return pin_of(value) != target_pin(plan, target, i);
  }

  // True if the value lies in memory that a copy to another target overwrites.
  static bool overwritten(const std::vector<Target>& targets, const Value* value, size_t own) {
    for (size_t i = 0; i < targets.size(); ++i) {
      if (i != own && targets[i].overwrites == value) return true;
    }
    return false;
  }

  // Control flow ---------------------------------------------------------------------------------

  void place_while(const PlanStep& step) {
    const Op& op = *step.op;
    std::vector<Target> targets;
    std::vector<DelayedCopy> before;
    for (int i = 0; i < op.num_results(); ++i) {
      const Value* result = op.result(i);
      const hlo::Dims dense = hlo::row_major_strides(result->type.shape);
      const int allocation = new_allocation(result->type.num_bytes(), start_.at(&step),
                                            last_use(result, end_.at(&step)));
      place_at(result, allocation, dense);
      const Place place = result_.places.at(result);
      for (const auto& region : step.regions) {
        const Value* argument = region->block->argument(i);
        result_.places[argument] = place;
        pinned_[argument] = allocation;
        target_allocation_[argument] = allocation;
      }
      targets.push_back({place, step.regions[1]->block->argument(i)});
      if (result->type.num_elements() == 0) continue;
      place_read(op.operand(i));
      before.push_back({result->type,
                        {result_.places.at(op.operand(i)), pin_of(op.operand(i))},
                        {place, allocation}});
    }
    delayed_before_[&op] = std::move(before);
    place_block(*step.regions[0], {});
    place_block(*step.regions[1], targets);
  }

  void place_branches(const PlanStep& step) {
    const Op& op = *step.op;
    std::vector<Target> targets;
    for (int i = 0; i < op.num_results(); ++i) {
      const Value* result = op.result(i);
      const hlo::Dims dense = hlo::row_major_strides(result->type.shape);
      const int allocation = new_allocation(result->type.num_bytes(), start_.at(&step),
                                            last_use(result, end_.at(&step)));
      place_at(result, allocation, dense);
      targets.push_back({result_.places.at(result), nullptr});
      for (const auto& region : step.regions) {
        branch_allocation_[{region->block, static_cast<size_t>(i)}] = allocation;
      }
    }
    for (const auto& region : step.regions) place_block(*region, targets);
  }

  // Offsets --------------------------------------------------------------------------------------

  // Largest first, each at the lowest offset where nothing alive at the same time lies.
  void allocate() {
    std::vector<int> order(allocations_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return allocations_[a].bytes > allocations_[b].bytes; });
    std::vector<int> placed;  // by offset
    for (int id : order) {
      Allocation& mine = allocations_[id];
      int64_t offset = 0;
      for (int other_id : placed) {
        const Allocation& other = allocations_[other_id];
        if (other.end < mine.start || mine.end < other.start) continue;
        if (offset + mine.bytes <= other.offset) break;
        offset = std::max(offset, other.offset + other.bytes);
      }
      mine.offset = offset;
      placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                     [&](int a, int b) {
                                       return allocations_[a].offset < allocations_[b].offset;
                                     }),
                    id);
      result_.scratch_bytes = std::max(result_.scratch_bytes, offset + mine.bytes);
    }
    for (auto& [value, place] : result_.places) {
      if (const int pin = pin_of(value); pin >= 0) place.offset = allocations_[pin].offset;
    }
    for (auto& [op, copies] : delayed_before_) result_.before[op] = settle(copies);
    for (auto& [block, copies] : delayed_at_end_) result_.at_end[block] = settle(copies);
  }

  std::vector<PlannedCopy> settle(const std::vector<DelayedCopy>& copies) const {
    std::vector<PlannedCopy> result;
    const auto place = [&](Pinned pinned) {
      if (pinned.allocation >= 0) pinned.place.offset = allocations_[pinned.allocation].offset;
      return pinned.place;
    };
    for (const DelayedCopy& copy : copies) {
      result.push_back({copy.type, place(copy.from), place(copy.to)});
    }
    return result;
  }

  const Signature& signature_;
  const StridesOf& strides_;
  Placement result_;
  int64_t time_ = 0;
  std::unordered_map<const PlanStep*, int64_t> start_, end_;
  std::unordered_map<const Block*, int64_t> block_end_;
  std::unordered_map<const Value*, int64_t> defined_, last_use_;
  std::vector<OpenLoop> loops_;
  std::vector<Allocation> allocations_;
  std::unordered_map<const Value*, int> allocation_of_;  // temporaries, whose bytes may be reused
  std::unordered_map<const Value*, int> pinned_;         // other values that lie in an allocation
  std::unordered_map<const Value*, int> target_allocation_;  // of a while's arguments
  std::map<std::pair<const Block*, size_t>, int> branch_allocation_;
  std::unordered_map<const Op*, std::vector<DelayedCopy>> delayed_before_;
  std::unordered_map<const Block*, std::vector<DelayedCopy>> delayed_at_end_;
};

}  // namespace

Placement place_buffers(const BlockPlan& plan, const Signature& signature,
                        const StridesOf& strides) {
  return Placer(signature, strides).run(plan);
}

hlo::Dims strides_of(const Layout& layout, std::span<const int64_t> shape) {
  return layout.strides.empty() && !shape.empty() ? hlo::row_major_strides(shape) : layout.strides;
}

}  // namespace tpu::compiler
