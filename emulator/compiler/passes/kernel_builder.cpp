#include "emulator/compiler/passes/kernel_builder.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <unordered_map>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Dims;
using hlo::ElementType;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

constexpr int kMaxVariables = 24;
constexpr int kMaxPieces = 16;
constexpr int kMaxNodes = 400;
constexpr int kMaxRepeatedOps = 12;
// A reduction this long is better spread over threads than fused with what follows it.
constexpr int64_t kLongRow = 32768;

// The domain: one entry a dimension of the first output (then of a reduction's inner dimensions),
// each cut into loop variables, outermost first.
struct Domain {
  std::vector<std::vector<LoopVariable>> dims;

  std::vector<LoopVariable> variables() const {
    std::vector<LoopVariable> all;
    for (const auto& dim : dims) all.insert(all.end(), dim.begin(), dim.end());
    return all;
  }
};

Domain domain_of(std::span<const int64_t> shape) {
  Domain domain;
  for (int64_t size : shape) domain.dims.push_back({{size, size, 0}});
  return domain;
}

// Why an attempt stopped before its end.
struct Stop {
  std::optional<SplitRequest> split;
  std::optional<std::pair<int, int64_t>> cut;  // variable, position
  Dims inner;                                  // dimensions to append for a reduction
};

class Attempt {
 public:
  Attempt(const Domain& domain, std::span<const Value* const> outputs,
          const MembershipOf& membership)
      : domain_(domain), outputs_(outputs), membership_(membership) {
    kernel_.variables = domain.variables();
  }

  // True if the kernel is complete; otherwise `stop` says what to change, or nothing.
  bool run() {
    if (!store_first() || !store_others()) return false;
    return check_profit();
  }
  bool run_update(const Op& update, bool window) {
    if (!(window ? store_window(update) : store_copy(update))) return false;
    kernel_.is_update = window;
    return check_profit();
  }

  LoopKernel& kernel() { return kernel_; }
  const Stop& stop() const { return stop_; }

 private:
  const std::vector<LoopVariable>& variables() const { return kernel_.variables; }

  // The index of the element of the domain's dimensions [0, rank) that the variables stand for.
  IndexMap identity(size_t rank) const {
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

  int fail() { return -1; }
  int fail(Stop stop) {
    stop_ = std::move(stop);
    return -1;
  }

  int add_node(LoopNode node) {
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

  struct Known {
    IndexMap map;
    int node;
  };

  int demand(const Value* value, const IndexMap& map) {
    for (const Known& known : known_[value]) {
      if (known.map == map) return known.node;
    }
    const int node = make(value, map);
    if (node >= 0) known_[value].push_back({map, node});
    return node;
  }

  int make(const Value* value, const IndexMap& map) {
    const Membership membership = value->def ? membership_(*value->def) : Membership::kOutside;
    if (membership == Membership::kOutside) return load(value, map);
    if (membership == Membership::kOwned) return compute(value, map);
    // An attempt to compute a copy may fail half-way; what it has added is left unused.
    const int node = compute(value, map);
    const bool wants_change = stop_.split || stop_.cut || !stop_.inner.empty();
    return node >= 0 || wants_change ? node : load(value, map);
  }

  int load(const Value* value, const IndexMap& map) {
    return add_node(
        {.kind = LoopNode::Kind::kLoad, .type = value->type.element, .value = value, .index = map});
  }

  int compute(const Value* value, const IndexMap& map) {
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

  int elementwise(const Op& op, const Value* value, const IndexMap& map) {
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

  int layout(const Op& op, const Value* value, const IndexMap& map) {
    const auto dims = [&](const char* name) -> const Dims& {
      return op.attributes().get<Dims>(name);
    };
    const Value* operand = op.operands().empty() ? nullptr : op.operand(0);
    IndexMap inner;
    switch (op.kind()) {
      case OpKind::kConstant:
        return constant(op, value, map);
      case OpKind::kIota:
        return add_node({.kind = LoopNode::Kind::kIota,
                         .type = value->type.element,
                         .value = value,
                         .index = {map[op.attributes().get<int64_t>("iota_dimension")]}});
      case OpKind::kBroadcastInDim: {
        const Dims& to = dims("broadcast_dimensions");
        for (size_t i = 0; i < to.size(); ++i) {
          inner.push_back(operand->type.shape[i] == 1 ? DimIndex{} : map[to[i]]);
        }
        return demand(operand, inner);
      }
      case OpKind::kReshape: {
        DelinearizeResult result =
            through_reshape(map, value->type.shape, operand->type.shape, variables());
        if (result.map) return demand(operand, *result.map);
        return result.split ? fail({.split = result.split, .cut = {}, .inner = {}}) : fail();
      }
      case OpKind::kTranspose: {
        const Dims& permutation = dims("permutation");
        inner.resize(permutation.size());
        for (size_t i = 0; i < permutation.size(); ++i) inner[permutation[i]] = map[i];
        return demand(operand, inner);
      }
      case OpKind::kSlice: {
        const Dims& start = dims("start_indices");
        const Dims& step = dims("strides");
        inner = map;
        for (size_t i = 0; i < inner.size(); ++i) {
          if (step[i] != 1 && !inner[i].dynamic_offsets.empty()) return fail();
          inner[i].offset = start[i] + step[i] * inner[i].offset;
          for (IndexTerm& term : inner[i].terms) term.coefficient *= step[i];
        }
        return demand(operand, inner);
      }
      case OpKind::kReverse: {
        inner = map;
        for (int64_t i : dims("dimensions")) {
          if (!inner[i].dynamic_offsets.empty()) return fail();
          inner[i].offset = value->type.shape[i] - 1 - inner[i].offset;
          for (IndexTerm& term : inner[i].terms) term.coefficient = -term.coefficient;
        }
        return demand(operand, inner);
      }
      case OpKind::kDynamicSlice:
        inner = map;
        if (!add_starts(op, 1, dims("slice_sizes"), inner)) return -1;
        return demand(operand, inner);
      default:
        return fail();
    }
  }

  int constant(const Op& op, const Value* value, const IndexMap& map) {
    const auto& literal = op.attributes().get<hlo::Literal>("value");
    const bool same = literal.type().num_elements() == 1 ||
                      (literal.type().num_elements() > 0 && literal.is_splat());
    if (!same) return load(value, map);
    return add_node({.kind = LoopNode::Kind::kConstant,
                     .type = value->type.element,
                     .value = value,
                     .constant = literal});
  }

  // Adds the start indices (operands from `first`) of a window of `sizes` to `map`.
  bool add_starts(const Op& op, int first, const Dims& sizes, IndexMap& map) {
    const Dims& shape = op.operand(0)->type.shape;
    for (size_t i = 0; i < map.size(); ++i) {
      const int64_t limit = shape[i] - sizes[i];
      if (limit == 0) continue;
      const int index = demand(op.operand(first + static_cast<int>(i)), {});
      if (index < 0 || kernel_.nodes[index].stage > 0) return false;
      const int start = add_node({.kind = LoopNode::Kind::kStart,
                                  .type = ElementType::kSI64,
                                  .operands = {index},
                                  .limit = limit});
      if (start < 0) return false;
      map[i].dynamic_offsets.push_back(start_node(index, limit, start));
    }
    return true;
  }

  // One node for each (index, limit), so that equal windows have equal maps.
  int start_node(int index, int64_t limit, int fresh) {
    for (int node = 0; node < fresh; ++node) {
      const LoopNode& other = kernel_.nodes[node];
      if (other.kind == LoopNode::Kind::kStart && other.limit == limit &&
          other.operands[0] == index) {
        kernel_.nodes.pop_back();
        return node;
      }
    }
    return fresh;
  }

  // Where within the domain index `dim` stays on one side of `boundary`: -1 below, 1 at or above.
  // 0: it crosses, and stop_ asks for a cut there, if one is possible.
  int side(const DimIndex& dim, int64_t boundary) {
    if (!dim.dynamic_offsets.empty()) return 0;
    int64_t low = dim.offset, high = dim.offset;
    const IndexTerm* major = nullptr;
    for (const IndexTerm& term : dim.terms) {
      const int64_t reach = term.coefficient * (variables()[term.variable].size - 1);
      (reach < 0 ? low : high) += reach;
      if (!major || std::abs(term.coefficient) > std::abs(major->coefficient)) major = &term;
    }
    if (high < boundary) return -1;
    if (low >= boundary) return 1;
    // Without the major term the index runs over [rest_low, rest_low + span].
    const int64_t step = major->coefficient;
    int64_t rest_low = dim.offset, span = 0;
    for (const IndexTerm& term : dim.terms) {
      if (&term == major) continue;
      const int64_t reach = term.coefficient * (variables()[term.variable].size - 1);
      if (reach < 0) rest_low += reach;
      span += std::abs(reach);
    }
    int64_t position = 0;  // first value of the variable on the other side
    if (step > 0) {
      position = (boundary - rest_low + step - 1) / step;
      if (rest_low + step * (position - 1) + span >= boundary) return 0;
    } else {
      position = (rest_low + span - boundary) / -step + 1;
      if (rest_low + step * (position - 1) < boundary) return 0;
    }
    const int64_t size = variables()[major->variable].size;
    if (position <= 0 || position >= size || kernel_.reduced) return 0;
    stop_.cut = {major->variable, position};
    return 0;
  }

  int concatenate(const Op& op, const IndexMap& map) {
    const int64_t dimension = op.attributes().get<int64_t>("dimension");
    int64_t begin = 0;
    for (const Value* operand : op.operands()) {
      const int64_t end = begin + operand->type.shape[dimension];
      if (end == begin) continue;
      const int where = side(map[dimension], end);
      if (where == 0) return fail(stop_);
      if (where < 0) {
        IndexMap inner = map;
        inner[dimension].offset -= begin;
        return demand(operand, inner);
      }
      begin = end;
    }
    return fail();
  }

  int pad(const Op& op, const IndexMap& map) {
    const Value* operand = op.operand(0);
    const Dims& low = op.attributes().get<Dims>("edge_padding_low");
    const Dims& interior = op.attributes().get<Dims>("interior_padding");
    IndexMap inner = map;
    for (size_t i = 0; i < map.size(); ++i) {
      if (interior[i] != 0) return fail();
      const int64_t size = operand->type.shape[i];
      const int below = side(map[i], low[i]);
      if (below == 0) return fail(stop_);
      if (below < 0) return demand(op.operand(1), {});
      const int above = side(map[i], low[i] + size);
      if (above == 0) return fail(stop_);
      if (above > 0) return demand(op.operand(1), {});
      inner[i].offset -= low[i];
    }
    return demand(operand, inner);
  }

  int reduce(const Op& op, const Value* value, const IndexMap& map) {
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
  std::optional<IndexMap> reduced_index(const IndexMap& kept, const Dims& reduced_shape,
                                        int64_t count) {
    const uint64_t used = variables_of(kept);
    uint64_t rest = 0;
    for (size_t i = 0; i < variables().size(); ++i) {
      const LoopVariable& variable = variables()[i];
      if (variable.size != variable.radix) return std::nullopt;  // a piece of the domain
      if (variable.size > 1 && !(used >> i & 1)) rest |= uint64_t{1} << i;
    }
    const int64_t size = kernel_.size_of(rest);
    if (size == 1 && kernel_.reduced == 0 &&
        domain_.dims.size() == outputs_[0]->type.shape.size()) {
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
    return std::move(*result.map);
  }

  // Nodes for all results, at `map`, of a reduction of `count` elements a row, which are at
  // `inner`; returns that of `value`.
  int combine(const Op& op, const Value* value, const IndexMap& map, const IndexMap& inner,
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

  int add_results(const Op& op, const std::vector<int>& operands, int reduction, uint64_t variables,
                  int stage) {
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

  bool add_store(const Value* value, const IndexMap& map) {
    const int node = demand(value, map);
    if (node < 0) return false;
    kernel_.stores.push_back({node, value, map});
    return true;
  }

  bool store_first() { return add_store(outputs_[0], identity(outputs_[0]->type.shape.size())); }

  bool store_others() {
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

  uint64_t ones() const {
    uint64_t mask = 0;
    for (size_t i = 0; i < variables().size(); ++i) {
      if (variables()[i].size == 1) mask |= uint64_t{1} << i;
    }
    return mask;
  }

  // Where another output is computed: where something needed it, or by its shape.
  std::optional<IndexMap> map_for(const Value* output) {
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
  bool store_copy(const Op& update) {
    const IndexMap map = identity(update.result()->type.shape.size());
    const int node = demand(update.operand(0), map);
    if (node < 0 || kernel_.reduced) return false;
    kernel_.stores.push_back({node, update.result(), map});
    return true;
  }

  bool store_window(const Op& update) {
    IndexMap map = identity(update.operand(1)->type.shape.size());
    const int node = demand(update.operand(1), map);
    if (node < 0 || kernel_.reduced) return false;
    if (!add_starts(update, 2, update.operand(1)->type.shape, map)) return false;
    kernel_.stores.push_back({node, update.result(), map});
    return true;
  }

  // How often one value of the node is computed: the sizes of the variables outside of the
  // innermost one it depends on which it does not depend on itself.
  int64_t repeats(const LoopNode& node) const {
    const int order_inner_last = static_cast<int>(variables().size());
    uint64_t mask = node.variables;
    if (mask == 0) return 1;
    const bool inner = mask & kernel_.reduced;
    const uint64_t level = inner || kernel_.reduced == 0
                               ? kernel_.all_variables()
                               : kernel_.all_variables() & ~kernel_.reduced;
    int64_t factor = 1;
    bool below = false;  // an inner variable that the node depends on has been seen
    // Reduced variables run inside of the others.
    for (int pass = 0; pass < 2; ++pass) {
      for (int i = order_inner_last - 1; i >= 0; --i) {
        const bool reduced = kernel_.reduced >> i & 1;
        if (reduced != (pass == 0) || !(level >> i & 1)) continue;
        if (mask >> i & 1) {
          below = true;
        } else if (below) {
          factor *= variables()[i].size;
        }
      }
    }
    return factor;
  }

  bool check_profit() {
    int repeated = 0;
    std::unordered_map<const Value*, int> instances;
    const bool small = kernel_.size_of(kernel_.all_variables()) <= 1024;
    for (const LoopNode& node : kernel_.nodes) {
      if (node.kind == LoopNode::Kind::kReduction && ++instances[node.value] > 1) return false;
      if (node.kind != LoopNode::Kind::kOp || small) continue;
      const bool again = repeats(node) > 1 || ++instances[node.value] > 1;
      if (!again) continue;
      if (is_expensive(*node.op) || ++repeated > kMaxRepeatedOps) return false;
    }
    for (const LoopNode& node : kernel_.nodes) {
      // Start indices are computed once, before the loops.
      for (const DimIndex& dim : node.index) {
        for (int start : dim.dynamic_offsets) {
          if (kernel_.nodes[start].variables != 0) return false;
        }
      }
    }
    return fits_threads();
  }

  // A few long rows: only a single pass over them can be spread over threads by lanes.
  bool fits_threads() const {
    if (kernel_.reduced == 0) return true;
    const int64_t rows = kernel_.size_of(kernel_.all_variables() & ~kernel_.reduced);
    if (kernel_.size_of(kernel_.reduced) <= kLongRow || rows >= 8) return true;
    for (const LoopReduction& reduction : kernel_.reductions) {
      if (reduction.stage > 0) return false;
    }
    for (const LoopStore& store : kernel_.stores) {
      if (variables_of(store.index) & kernel_.reduced) return false;
    }
    return true;
  }

  const Domain& domain_;
  std::span<const Value* const> outputs_;
  const MembershipOf& membership_;
  LoopKernel kernel_;
  Stop stop_;
  std::unordered_map<const Value*, std::vector<Known>> known_;
};

// Cuts variable `split.variable` in two.
bool split_variable(Domain& domain, SplitRequest split) {
  if (domain.variables().size() >= kMaxVariables) return false;
  int variable = split.variable;
  for (auto& dim : domain.dims) {
    if (variable >= static_cast<int>(dim.size())) {
      variable -= static_cast<int>(dim.size());
      continue;
    }
    const LoopVariable whole = dim[variable];
    dim[variable] = {whole.size / split.inner, whole.radix / split.inner, whole.low / split.inner};
    dim.insert(dim.begin() + variable + 1, {split.inner, split.inner, 0});
    return true;
  }
  return false;
}

LoopVariable& variable_at(Domain& domain, int variable) {
  for (auto& dim : domain.dims) {
    if (variable < static_cast<int>(dim.size())) return dim[variable];
    variable -= static_cast<int>(dim.size());
  }
  return domain.dims.front().front();
}

class GroupBuilder {
 public:
  GroupBuilder(std::span<const Value* const> outputs, const MembershipOf& membership)
      : outputs_(outputs.begin(), outputs.end()), membership_(membership) {
    std::stable_sort(outputs_.begin(), outputs_.end(), [](const Value* a, const Value* b) {
      return a->type.num_elements() > b->type.num_elements();
    });
  }

  std::optional<std::vector<LoopKernel>> build() {
    const Op* def = outputs_[0]->def;
    if (def && membership_(*def) == Membership::kOwned && classify(*def) == OpClass::kUpdate) {
      if (outputs_.size() > 1) return std::nullopt;
      const Op& first = *def;
      const auto run_copy = [&](Attempt& a) { return a.run_update(first, false); };
      const auto run_window = [&](Attempt& a) { return a.run_update(first, true); };
      if (!pieces(domain_of(first.result()->type.shape), run_copy)) return std::nullopt;
      if (!pieces(domain_of(first.operand(1)->type.shape), run_window)) return std::nullopt;
    } else {
      const auto run = [](Attempt& a) { return a.run(); };
      if (!pieces(domain_of(outputs_[0]->type.shape), run)) return std::nullopt;
    }
    return std::move(kernels_);
  }

 private:
  template <class Run>
  bool pieces(Domain whole, const Run& run) {
    std::deque<Domain> work{std::move(whole)};
    int done = 0;
    while (!work.empty()) {
      if (done + static_cast<int>(work.size()) > kMaxPieces) return false;
      Domain domain = std::move(work.front());
      work.pop_front();
      Attempt attempt(domain, outputs_, membership_);
      if (run(attempt)) {
        kernels_.push_back(std::move(attempt.kernel()));
        ++done;
        continue;
      }
      const Stop& stop = attempt.stop();
      if (stop.split) {
        if (!split_variable(domain, *stop.split)) return false;
        work.push_front(std::move(domain));
      } else if (stop.cut) {
        Domain upper = domain;
        const auto [variable, position] = *stop.cut;
        LoopVariable& below = variable_at(domain, variable);
        LoopVariable& above = variable_at(upper, variable);
        above.low += position;
        above.size -= position;
        below.size = position;
        work.push_front(std::move(upper));
        work.push_front(std::move(domain));
      } else if (!stop.inner.empty()) {
        for (int64_t size : stop.inner) domain.dims.push_back({{size, size, 0}});
        work.push_front(std::move(domain));
      } else {
        return false;
      }
    }
    return true;
  }

  std::vector<const Value*> outputs_;
  const MembershipOf& membership_;
  std::vector<LoopKernel> kernels_;
};

}  // namespace

std::optional<std::vector<LoopKernel>> build_kernels(std::span<const Value* const> outputs,
                                                     const MembershipOf& membership) {
  return GroupBuilder(outputs, membership).build();
}

std::optional<LoopKernel> build_copy(const Value* value, const MembershipOf& membership) {
  const Value* outputs[] = {value};
  std::optional<std::vector<LoopKernel>> kernels = build_kernels(outputs, membership);
  if (!kernels || kernels->size() != 1) return std::nullopt;
  return std::move(kernels->front());
}

}  // namespace tpu::compiler
