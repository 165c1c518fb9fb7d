#include "emulator/compiler/passes/buffers.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

constexpr int64_t kAlignment = 64;

int64_t align_up(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The values a step reads from memory, control flow's nested blocks excluded.
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

// True if `output` may be written over the memory of `input` while the step runs: wherever a
// kernel reads an element of it, it writes that same element, and not before its last read.
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

bool same_bytes(const Value* a, const Value* b) {
  return a->type.shape == b->type.shape &&
         hlo::byte_width(a->type.element) == hlo::byte_width(b->type.element);
}

class Placer {
 public:
  Placer(const Signature& signature, const StridesOf& strides)
      : signature_(signature), strides_(strides) {}

  Placement run(const BlockPlan& plan) {
    const Block& block = *plan.block;
    result_.table.num_parameters = static_cast<int>(block.arguments().size());
    result_.table.num_results = static_cast<int>(block.terminator().operands().size());
    for (int i = 0; i < result_.table.num_parameters; ++i) {
      result_.places[block.argument(i)] = {result_.table.parameter(i), 0,
                                           strides_of(block.argument(i))};
    }
    number(plan);
    place_results(plan);
    place_block(plan);
    allocate();
    return std::move(result_);
  }

 private:
  struct Allocation {
    int64_t bytes = 0, start = 0, end = 0, offset = 0;
  };

  hlo::Dims strides_of(const Value* value) const {
    const auto found = strides_.find(value);
    return found != strides_.end() ? found->second : hlo::row_major_strides(value->type.shape);
  }

  // Times ----------------------------------------------------------------------------------------

  void use(const Value* value, int64_t time) {
    // What a loop's iterations read must outlive the loop if it was there before it.
    for (auto loop = loops_.rbegin(); loop != loops_.rend(); ++loop) {
      if (defined_.contains(value) && defined_.at(value) >= loop->start) break;
      pending_.push_back({value, loop->op});
    }
    int64_t& last = last_use_[value];
    last = std::max(last, time);
  }

  void number(const BlockPlan& plan) {
    for (const PlanStep& step : plan.steps) {
      const int64_t start = ++time_;
      start_[&step] = start;
      for (const Value* value : reads_of(step)) use(value, start);
      if (step.kind == PlanStep::Kind::kControl) {
        if (step.op->kind() == OpKind::kWhile) loops_.push_back({step.op, start});
        for (const auto& region : step.regions) {
          for (const auto& argument : region->block->arguments()) defined_[argument.get()] = start;
          number(*region);
        }
        if (step.op->kind() == OpKind::kWhile) loops_.pop_back();
      }
      end_[step.op ? static_cast<const void*>(step.op) : &step] = ++time_;
      for (const Value* output : step.outputs) defined_[output] = start;
    }
    ++time_;
    for (const Value* value : plan.block->terminator().operands()) use(value, time_);
    block_end_[plan.block] = time_;
    if (loops_.empty()) {
      for (const auto& [value, loop] : pending_) {
        int64_t& last = last_use_[value];
        if (end_.contains(loop)) last = std::max(last, end_.at(loop));
      }
      // Loops that are still open settle their uses when they close.
      std::erase_if(pending_, [&](const auto& entry) { return end_.contains(entry.second); });
    }
  }

  // Places ---------------------------------------------------------------------------------------

  // The program's results that some step can write directly.
  void place_results(const BlockPlan& plan) {
    const Op& ret = plan.block->terminator();
    std::unordered_set<const Value*> made;
    for (const PlanStep& step : plan.steps) {
      if (step.kind == PlanStep::Kind::kControl) continue;
      for (const Value* output : step.outputs) made.insert(output);
    }
    for (int i = 0; i < result_.table.num_results; ++i) {
      const Value* value = ret.operand(i);
      const Place place{result_.table.result(i), 0, result_strides(i)};
      const int alias = signature_.aliases.empty() ? -1 : signature_.aliases[i];
      const bool direct = made.contains(value) && !result_.places.contains(value) &&
                          !has_reshaped_store(plan, value) &&
                          (alias < 0 || may_overwrite(plan, value, plan.block->argument(alias)));
      if (direct) {
        result_.places[value] = place;
        if (alias >= 0) note_update(plan, value, plan.block->argument(alias));
      } else {
        final_.push_back({value, place, alias});
      }
    }
  }

  hlo::Dims result_strides(int i) const {
    const Op& ret = *ret_;
    (void)ret;
    return {};
  }

  const Signature& signature_;
  const StridesOf& strides_;
};

}  // namespace
}  // namespace tpu::compiler
