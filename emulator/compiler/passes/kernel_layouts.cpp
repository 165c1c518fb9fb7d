// Ops that move elements, as index maps.
#include <algorithm>
#include <cstdlib>

#include "emulator/compiler/passes/kernel_attempt.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {

using hlo::OpKind;

int Attempt::layout(const Op& op, const Value* value, const IndexMap& map) {
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

int Attempt::constant(const Op& op, const Value* value, const IndexMap& map) {
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
bool Attempt::add_starts(const Op& op, int first, const Dims& sizes, IndexMap& map) {
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
int Attempt::start_node(int index, int64_t limit, int fresh) {
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
int Attempt::side(const DimIndex& dim, int64_t boundary) {
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

int Attempt::concatenate(const Op& op, const IndexMap& map) {
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

int Attempt::pad(const Op& op, const IndexMap& map) {
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

}  // namespace tpu::compiler
