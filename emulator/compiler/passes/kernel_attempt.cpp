#include "emulator/compiler/passes/kernel_attempt.h"

#include <algorithm>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {

using hlo::OpKind;

namespace {

constexpr int kMaxNodes = 400;

}  // namespace

// True if the kernel is complete; otherwise `stop` says what to change, or nothing.
bool Attempt::run() {
  if (!store_first() || !store_others()) return false;
  prune(kernel_);
  return is_profitable(kernel_);
}

bool Attempt::run_update(const Op& update, bool window) {
  if (!(window ? store_window(update) : store_copy(update))) return false;
  kernel_.is_update = window;
  prune(kernel_);
  return is_profitable(kernel_);
}

// The index of the element of the domain's dimensions [0, rank) that the variables stand for.
IndexMap Attempt::identity(size_t rank) const {
  IndexMap map(rank);
  int variable = 0;
  for (size_t i = 0; i < domain_.dims.size(); ++i) {
    int64_t radix = 1;
    for (size_t f = domain_.dims[i].size(); f-- > 0;) {
      const LoopVariable& factor = domain_.dims[i][f];
      if (i < rank) {
        if (factor.radix > 1) map[i].add(variable + static_cast<int>(f), radix);
        map[i].offset += radix * factor.low;
      }
      radix *= factor.radix;
    }
    variable += static_cast<int>(domain_.dims[i].size());
  }
  return map;
}

int Attempt::add_node(LoopNode node) {
  if (kernel_.nodes.size() >= kMaxNodes) return fail();
  for (int operand : node.operands) {
    node.variables |= kernel_.nodes[operand].variables;
    node.stage = std::max(node.stage, kernel_.nodes[operand].stage);
  }
  node.variables |= variables_of(node.index);
  for (const DimIndex& dim : node.index) {
    for (int start : dim.dynamic_offsets) {
      node.stage = std::max(node.stage, kernel_.nodes[start].stage);
    }
  }
  kernel_.nodes.push_back(std::move(node));
  return static_cast<int>(kernel_.nodes.size()) - 1;
}

int Attempt::demand(const Value* value, const IndexMap& map) {
  for (const Known& known : known_[value]) {
    if (known.map == map) return known.node;
  }
  const int node = make(value, map);
  if (node >= 0) known_[value].push_back({map, node});
  return node;
}

int Attempt::make(const Value* value, const IndexMap& map) {
  const Membership membership = value->def ? membership_(*value->def) : Membership::kOutside;
  if (membership == Membership::kOutside) return load(value, map);
  if (membership == Membership::kOwned) return compute(value, map);
  // An attempt to compute a copy may fail half-way; what it has added is left unused.
  const int node = compute(value, map);
  const bool wants_change = stop_.split || stop_.cut || !stop_.inner.empty();
  return node >= 0 || wants_change ? node : load(value, map);
}

int Attempt::load(const Value* value, const IndexMap& map) {
  return add_node(
      {.kind = LoopNode::Kind::kLoad, .type = value->type.element, .value = value, .index = map});
}

int Attempt::compute(const Value* value, const IndexMap& map) {
  const Op& op = *value->def;
  switch (classify(op)) {
    case OpClass::kElementwise:
      return elementwise(op, value, map);
    case OpClass::kLayout:
      return layout(op, value, map);
    case OpClass::kJoin:
      return op.kind() == OpKind::kPad ? pad(op, map) : concatenate(op, map);
    case OpClass::kReduce:
      return reduce(op, value, map);
    default:
      return fail();
  }
}

int Attempt::elementwise(const Op& op, const Value* value, const IndexMap& map) {
  const bool map_op = op.kind() == OpKind::kMap;
  LoopNode node{.kind = map_op ? LoopNode::Kind::kRegion : LoopNode::Kind::kOp,
                .type = value->type.element,
                .op = &op,
                .value = value};
  for (const Value* operand : op.operands()) {
    const bool scalar = operand->type.rank() == 0;
    const int id = demand(operand, scalar ? IndexMap{} : map);
    if (id < 0) return id;
    node.operands.push_back(id);
  }
  return add_node(std::move(node));
}

bool Attempt::add_store(const Value* value, const IndexMap& map) {
  const int node = demand(value, map);
  if (node < 0) return false;
  kernel_.stores.push_back({node, value, map});
  return true;
}

bool Attempt::store_first() {
  return add_store(outputs_[0], identity(outputs_[0]->type.shape.size()));
}

bool Attempt::store_others() {
  for (const Value* output : outputs_.subspan(1)) {
    std::optional<IndexMap> map = map_for(output);
    if (!map || !add_store(output, *map)) return false;
  }
  const uint64_t outer = kernel_.all_variables() & ~kernel_.reduced;
  for (const LoopStore& store : kernel_.stores) {
    // Written exactly once: over all variables, or once a row.
    if (!covers(store.index, store.value->type.shape, variables())) return false;
    const uint64_t used = variables_of(store.index) | ones();
    if (used != kernel_.all_variables() && used != (outer | ones())) return false;
    const uint64_t depends = kernel_.nodes[store.node].variables;
    if (depends & ~used) return false;
  }
  return true;
}

uint64_t Attempt::ones() const {
  uint64_t mask = 0;
  for (size_t i = 0; i < variables().size(); ++i) {
    if (variables()[i].size == 1) mask |= uint64_t{1} << i;
  }
  return mask;
}

// Where another output is computed: where something needed it, or by its shape.
std::optional<IndexMap> Attempt::map_for(const Value* output) {
  const auto& known = known_[output];
  for (const Known& one : known) {
    if (covers(one.map, output->type.shape, variables())) return one.map;
  }
  if (!known.empty()) return std::nullopt;
  const uint64_t outer = kernel_.all_variables() & ~kernel_.reduced;
  for (uint64_t mask : {kernel_.all_variables(), outer}) {
    if (kernel_.size_of(mask) != output->type.num_elements()) continue;
    DimIndex position;
    int64_t stride = 1;
    for (int i = static_cast<int>(variables().size()) - 1; i >= 0; --i) {
      if (!(mask >> i & 1)) continue;
      if (variables()[i].size != variables()[i].radix) return std::nullopt;
      if (variables()[i].size > 1) position.add(i, stride);
      stride *= variables()[i].size;
    }
    DelinearizeResult result = delinearize(position, output->type.shape, variables());
    if (result.map) return result.map;
    stop_.split = result.split;
    return std::nullopt;
  }
  return std::nullopt;
}

// dynamic_update_slice in two kernels: all of the operand, then the window.
bool Attempt::store_copy(const Op& update) {
  const IndexMap map = identity(update.result()->type.shape.size());
  const int node = demand(update.operand(0), map);
  if (node < 0 || kernel_.reduced) return false;
  kernel_.stores.push_back({node, update.result(), map});
  return true;
}

bool Attempt::store_window(const Op& update) {
  IndexMap map = identity(update.operand(1)->type.shape.size());
  const int node = demand(update.operand(1), map);
  if (node < 0 || kernel_.reduced) return false;
  if (!add_starts(update, 2, update.operand(1)->type.shape, map)) return false;
  kernel_.stores.push_back({node, update.result(), map});
  return true;
}

}  // namespace tpu::compiler
