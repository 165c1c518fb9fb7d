#include "emulator/compiler/kernel_key.h"

#include <unordered_map>

#include "emulator/compiler/image_attributes.h"
#include "emulator/compiler/image_stream.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::Value;

class KeyWriter {
 public:
  void put_kernel(const LoopKernel& kernel) {
    for (const LoopNode& node : kernel.nodes) put_node(node);
    for (const LoopReduction& reduction : kernel.reductions) {
      put_ints(reduction.inputs);
      put_ints(reduction.inits);
      key_.put<int32_t>(reduction.stage);
      put_block(reduction.op->region(0));
    }
    for (const LoopStore& store : kernel.stores) {
      key_.put<int32_t>(store.node);
      key_.put(store.value->type.element);
    }
  }

  void put_schedule(const Schedule& schedule) {
    key_.put(schedule.form);
    key_.put(schedule.sizes);
    for (int number :
         {schedule.num_outer, schedule.vector, schedule.width, schedule.passes, schedule.cross,
          schedule.tile, int{schedule.in_place}, int{schedule.runs_wrap}}) {
      key_.put<int32_t>(number);
    }
    key_.put(schedule.chunk);
    for (const MemoryAccess& access : schedule.nodes) put_access(access);
    for (const MemoryAccess& access : schedule.stores) put_access(access);
    put_ints(schedule.pass_of_store);
  }

  void put_split(const std::optional<LaneSplit>& split) {
    key_.put<uint8_t>(split.has_value());
    if (!split) return;
    key_.put<int32_t>(split->groups);
    key_.put<int32_t>(split->slot);
    key_.put<uint8_t>(split->finishes);
  }

  void put_block(const Block& block) {
    key_.put<uint64_t>(block.arguments().size());
    for (const auto& argument : block.arguments()) put_value(argument.get());
    for (const auto& op : block.ops()) put_op(*op);
  }

  std::string take() {
    return {reinterpret_cast<const char*>(key_.bytes().data()), key_.bytes().size()};
  }

 private:
  void put_ints(const std::vector<int>& numbers) {
    key_.put_all(numbers, [this](int number) { key_.put<int32_t>(number); });
  }

  void put_node(const LoopNode& node) {
    key_.put(node.kind);
    key_.put(node.type);
    put_ints(node.operands);
    key_.put(node.limit);
    for (int number : {node.reduction, node.result, node.stage}) key_.put<int32_t>(number);
    if (node.kind == LoopNode::Kind::kConstant) key_.put(first_element(node.constant));
    if (node.kind == LoopNode::Kind::kOp) {
      key_.put(node.op->kind());
      put_attributes(key_, node.op->attributes());
    }
    if (node.kind == LoopNode::Kind::kRegion) put_block(node.op->region(0));
  }

  static std::span<const std::byte> first_element(const hlo::Literal& literal) {
    return literal.bytes().first(static_cast<size_t>(hlo::byte_width(literal.type().element)));
  }

  void put_access(const MemoryAccess& access) {
    key_.put<int32_t>(access.slot);
    key_.put(access.offset);
    key_.put(access.strides);
    key_.put_all(access.starts, [this](const MemoryAccess::Start& start) {
      key_.put<int32_t>(start.node);
      key_.put(start.stride);
    });
  }

  // A value by the order in which values appear; the first time with its type.
  void put_value(const Value* value) {
    const auto [at, fresh] = numbers_.try_emplace(value, static_cast<int32_t>(numbers_.size()));
    key_.put<int32_t>(at->second);
    if (fresh) put_type(key_, value->type);
  }

  void put_op(const Op& op) {
    key_.put(op.kind());
    key_.put<uint64_t>(op.operands().size());
    for (const Value* operand : op.operands()) put_value(operand);
    for (int i = 0; i < op.num_results(); ++i) put_value(op.result(i));
    put_attributes(key_, op.attributes());
    for (int i = 0; i < op.num_regions(); ++i) put_block(op.region(i));
  }

  ImageWriter key_;
  std::unordered_map<const Value*, int32_t> numbers_;
};

}  // namespace

std::string kernel_key(const LoopKernel& kernel, const Schedule& schedule,
                       const std::optional<LaneSplit>& split) {
  KeyWriter key;
  key.put_kernel(kernel);
  key.put_schedule(schedule);
  key.put_split(split);
  return key.take();
}

std::string region_key(const hlo::Block& region) {
  KeyWriter key;
  key.put_block(region);
  return key.take();
}

}  // namespace tpu::compiler
