// Nodes that attempts made on the way to something else.
#include <algorithm>

#include "emulator/compiler/passes/kernel_attempt.h"

namespace tpu::compiler {
namespace {

template <class F>
void each_node_used_by(const LoopNode& node, F&& use) {
  for (int operand : node.operands) use(operand);
  for (const DimIndex& dim : node.index) {
    for (int start : dim.dynamic_offsets) use(start);
  }
}

// Reductions stay: their results are needed, or the attempt would not have made them.
std::vector<bool> needed_nodes(const LoopKernel& kernel) {
  std::vector<bool> needed(kernel.nodes.size(), false);
  const auto need = [&](int node) { needed[node] = true; };
  for (const LoopStore& store : kernel.stores) {
    need(store.node);
    for (const DimIndex& dim : store.index) {
      for (int start : dim.dynamic_offsets) need(start);
    }
  }
  for (const LoopReduction& reduction : kernel.reductions) {
    for (int node : reduction.inputs) need(node);
    for (int node : reduction.inits) need(node);
  }
  for (int node = static_cast<int>(kernel.nodes.size()) - 1; node >= 0; --node) {
    if (needed[node]) each_node_used_by(kernel.nodes[node], need);
  }
  return needed;
}

}  // namespace

void prune(LoopKernel& kernel) {
  const std::vector<bool> needed = needed_nodes(kernel);
  std::vector<int> number(kernel.nodes.size(), -1);
  std::vector<LoopNode> kept;
  const auto renumber = [&](int& node) { node = number[node]; };
  const auto renumber_map = [&](IndexMap& map) {
    for (DimIndex& dim : map)
      std::for_each(dim.dynamic_offsets.begin(), dim.dynamic_offsets.end(), renumber);
  };
  for (size_t i = 0; i < kernel.nodes.size(); ++i) {
    if (!needed[i]) continue;
    number[i] = static_cast<int>(kept.size());
    LoopNode node = std::move(kernel.nodes[i]);
    std::for_each(node.operands.begin(), node.operands.end(), renumber);
    renumber_map(node.index);
    kept.push_back(std::move(node));
  }
  kernel.nodes = std::move(kept);
  for (LoopStore& store : kernel.stores) {
    renumber(store.node);
    renumber_map(store.index);
  }
  for (LoopReduction& reduction : kernel.reductions) {
    std::for_each(reduction.inputs.begin(), reduction.inputs.end(), renumber);
    std::for_each(reduction.inits.begin(), reduction.inits.end(), renumber);
  }
}

}  // namespace tpu::compiler
