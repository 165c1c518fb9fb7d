// Whether a fused kernel is worth having.
#include <algorithm>
#include <unordered_map>

#include "emulator/compiler/passes/kernel_attempt.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

constexpr int kMaxRepeatedOps = 12;
// A reduction this long is better spread over threads than fused with what follows it.
constexpr int64_t kLongRow = 32768;

// How often one value of the node is computed: the sizes of the variables outside of the
// innermost one it depends on which it does not depend on itself.
int64_t repeats(const LoopKernel& kernel, const LoopNode& node) {
  const int order_inner_last = static_cast<int>(kernel.variables.size());
  uint64_t mask = node.variables;
  if (mask == 0) return 1;
  const bool inner = mask & kernel.reduced;
  const uint64_t level = inner || kernel.reduced == 0 ? kernel.all_variables()
                                                      : kernel.all_variables() & ~kernel.reduced;
  int64_t factor = 1;
  bool below = false;  // an inner variable that the node depends on has been seen
  // Reduced variables run inside of the others.
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = order_inner_last - 1; i >= 0; --i) {
      const bool reduced = kernel.reduced >> i & 1;
      if (reduced != (pass == 0) || !(level >> i & 1)) continue;
      if (mask >> i & 1) {
        below = true;
      } else if (below) {
        factor *= kernel.variables[i].size;
      }
    }
  }
  return factor;
}

// A few long rows: only a single pass over them can be spread over threads by lanes.
bool fits_threads(const LoopKernel& kernel) {
  if (kernel.reduced == 0) return true;
  const int64_t rows = kernel.size_of(kernel.all_variables() & ~kernel.reduced);
  if (kernel.size_of(kernel.reduced) <= kLongRow || rows >= 8) return true;
  for (const LoopReduction& reduction : kernel.reductions) {
    if (reduction.stage > 0) return false;
  }
  for (const LoopStore& store : kernel.stores) {
    if (variables_of(store.index) & kernel.reduced) return false;
  }
  return true;
}

}  // namespace

bool is_profitable(const LoopKernel& kernel) {
  int repeated = 0;
  std::unordered_map<const hlo::Value*, int> instances;
  // An op alone, of an iota or a constant: there is nothing to take it apart into.
  const auto is_op = [](const LoopNode& node) { return node.kind == LoopNode::Kind::kOp; };
  const bool alone = std::ranges::count_if(kernel.nodes, is_op) <= 1;
  const bool small = alone || kernel.size_of(kernel.all_variables()) <= 1024;
  for (const LoopNode& node : kernel.nodes) {
    if (node.kind == LoopNode::Kind::kReduction && ++instances[node.value] > 1) return false;
    if (node.kind != LoopNode::Kind::kOp || small) continue;
    const bool again = repeats(kernel, node) > 1 || ++instances[node.value] > 1;
    if (!again) continue;
    if (is_expensive(*node.op) || ++repeated > kMaxRepeatedOps) return false;
  }
  for (const LoopNode& node : kernel.nodes) {
    // Start indices are computed once, before the loops.
    for (const DimIndex& dim : node.index) {
      for (int start : dim.dynamic_offsets) {
        if (kernel.nodes[start].variables != 0) return false;
      }
    }
  }
  return fits_threads(kernel);
}

}  // namespace tpu::compiler
