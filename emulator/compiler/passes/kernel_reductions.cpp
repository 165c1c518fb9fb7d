// Reductions: what a row is, and the nodes for its results.
#include <algorithm>

#include "emulator/compiler/passes/kernel_attempt.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {

int Attempt::reduce(const Op& op, const Value* value, const IndexMap& map) {
  const Dims& dimensions = op.attributes().get<Dims>("dimensions");
  const Dims& shape = op.operand(0)->type.shape;
  Dims reduced_shape;
  std::vector<bool> is_reduced(shape.size(), false);
  for (int64_t i : dimensions) is_reduced[i] = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (is_reduced[i]) reduced_shape.push_back(shape[i]);
  }
  const int64_t count = hlo::num_elements(reduced_shape);
  IndexMap reduced_map(reduced_shape.size());
  if (count > 1) {
    std::optional<IndexMap> found = reduced_index(map, reduced_shape, count);
    if (!found) return -1;
    reduced_map = std::move(*found);
  }
  IndexMap inner;
  size_t next_kept = 0, next_reduced = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    inner.push_back(is_reduced[i] ? reduced_map[next_reduced++] : map[next_kept++]);
  }
  return combine(op, value, map, inner, count);
}

// The index into the reduced dimensions, over the variables that `kept` does not use.
std::optional<IndexMap> Attempt::reduced_index(const IndexMap& kept, const Dims& reduced_shape,
                                               int64_t count) {
  const uint64_t used = variables_of(kept);
  uint64_t rest = 0;
  for (size_t i = 0; i < variables().size(); ++i) {
    const LoopVariable& variable = variables()[i];
    if (variable.size != variable.radix) return std::nullopt;  // a piece of the domain
    if (variable.size > 1 && !(used >> i & 1)) rest |= uint64_t{1} << i;
  }
  const int64_t size = kernel_.size_of(rest);
  if (size == 1 && kernel_.reduced == 0 && domain_.dims.size() == outputs_[0]->type.shape.size()) {
    stop_.inner = reduced_shape;
    return std::nullopt;
  }
  if (size != count || (kernel_.reduced != 0 && kernel_.reduced != rest)) return std::nullopt;
  for (const DimIndex& dim : kept) {
    if (!dim.dynamic_offsets.empty()) return std::nullopt;
  }
  DimIndex position;
  int64_t stride = 1;
  for (int i = static_cast<int>(variables().size()) - 1; i >= 0; --i) {
    if (!(rest >> i & 1)) continue;
    position.add(i, stride);
    stride *= variables()[i].size;
  }
  DelinearizeResult result = delinearize(position, reduced_shape, variables());
  if (!result.map) {
    stop_.split = result.split;
    return std::nullopt;
  }
  kernel_.reduced = rest;
  return std::move(result.map);
}

// Nodes for all results, at `map`, of a reduction of `count` elements a row, which are at
// `inner`; returns that of `value`.
int Attempt::combine(const Op& op, const Value* value, const IndexMap& map, const IndexMap& inner,
                     int64_t count) {
  const int n = op.num_results();
  std::vector<int> inputs, inits;
  for (int i = 0; i < n; ++i) {
    const int input = demand(op.operand(i), inner);
    const int init = input < 0 ? -1 : demand(op.operand(n + i), {});
    if (init < 0) return init;
    inputs.push_back(input);
    inits.push_back(init);
  }
  int first = -1;
  if (count == 1) {
    std::vector<int> arguments = inits;
    arguments.insert(arguments.end(), inputs.begin(), inputs.end());
    first = add_results(op, arguments, -1, 0, 0);
  } else {
    LoopReduction reduction{.op = &op, .inputs = inputs, .inits = inits};
    uint64_t depends = 0;
    for (int node : inputs) {
      reduction.stage = std::max(reduction.stage, kernel_.nodes[node].stage);
      depends |= kernel_.nodes[node].variables;
    }
    for (int node : inits) {
      if (kernel_.nodes[node].stage > reduction.stage) return fail();
    }
    const int stage = reduction.stage + 1;
    kernel_.reductions.push_back(std::move(reduction));
    first = add_results(op, {}, static_cast<int>(kernel_.reductions.size()) - 1,
                        depends & ~kernel_.reduced, stage);
  }
  if (first < 0) return first;
  for (int i = 0; i < n; ++i) {
    if (i != value->index) known_[op.result(i)].push_back({map, first + i});
  }
  return first + value->index;
}

int Attempt::add_results(const Op& op, const std::vector<int>& operands, int reduction,
                         uint64_t variables, int stage) {
  int first = -1;
  for (int i = 0; i < op.num_results(); ++i) {
    const bool region = reduction < 0;
    LoopNode node{.kind = region ? LoopNode::Kind::kRegion : LoopNode::Kind::kReduction,
                  .type = op.result(i)->type.element,
                  .op = &op,
                  .value = op.result(i),
                  .operands = operands,
                  .reduction = reduction,
                  .result = i,
                  .variables = variables,
                  .stage = stage};
    const int id = add_node(std::move(node));
    if (id < 0) return id;
    if (i == 0) first = id;
  }
  return first;
}

}  // namespace tpu::compiler
