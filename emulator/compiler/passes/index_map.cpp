#include "emulator/compiler/passes/index_map.h"

#include <algorithm>

namespace tpu::compiler {

void DimIndex::add(int variable, int64_t coefficient) {
  if (coefficient == 0) return;
  auto at = std::lower_bound(terms.begin(), terms.end(), variable,
                             [](const IndexTerm& term, int v) { return term.variable < v; });
  if (at != terms.end() && at->variable == variable) {
    at->coefficient += coefficient;
    if (at->coefficient == 0) terms.erase(at);
  } else {
    terms.insert(at, {variable, coefficient});
  }
}

DimIndex linearize(const IndexMap& map, std::span<const int64_t> shape) {
  const hlo::Dims strides = hlo::row_major_strides(shape);
  DimIndex position;
  for (size_t i = 0; i < map.size(); ++i) {
    position.offset += map[i].offset * strides[i];
    for (const IndexTerm& term : map[i].terms) {
      position.add(term.variable, term.coefficient * strides[i]);
    }
  }
  return position;
}

DelinearizeResult delinearize(const DimIndex& position, std::span<const int64_t> shape,
                              std::span<const LoopVariable> variables) {
  const hlo::Dims strides = hlo::row_major_strides(shape);
  const int rank = static_cast<int>(shape.size());
  IndexMap map(rank);
  int64_t rest = position.offset;
  if (rest < 0) return {};
  std::vector<int64_t> last(rank, 0);  // the largest value the index takes
  for (int i = 0; i < rank; ++i) {
    map[i].offset = last[i] = rest / strides[i];
    rest %= strides[i];
  }
  for (const IndexTerm& term : position.terms) {
    const LoopVariable& variable = variables[term.variable];
    if (variable.size == 1) continue;
    if (term.coefficient <= 0) return {};
    int at = -1;  // the outermost dimension of more than one element that the step fits into
    for (int i = 0; i < rank && at < 0; ++i) {
      if (shape[i] > 1 && strides[i] <= term.coefficient) at = i;
    }
    if (at < 0 || term.coefficient % strides[at] != 0) return {};
    const int64_t step = term.coefficient / strides[at];
    const int64_t reach = step * (variable.size - 1);
    if (reach >= shape[at]) {
      if (shape[at] % step != 0) return {};
      const int64_t inner = shape[at] / step;
      if (inner > 1 && variable.size % inner == 0 && variable.radix % inner == 0 &&
          variable.low % inner == 0) {
        return {.map = std::nullopt, .split = SplitRequest{term.variable, inner}};
      }
      return {};
    }
    map[at].add(term.variable, step);
    last[at] += reach;
  }
  for (int i = 0; i < rank; ++i) {
    if (last[i] >= std::max<int64_t>(shape[i], 1)) return {};
  }
  return {.map = std::move(map), .split = std::nullopt};
}

namespace {

hlo::Dims without_ones(std::span<const int64_t> shape) {
  hlo::Dims kept;
  for (int64_t size : shape) {
    if (size != 1) kept.push_back(size);
  }
  return kept;
}

}  // namespace

DelinearizeResult through_reshape(const IndexMap& map, std::span<const int64_t> to,
                                  std::span<const int64_t> from,
                                  std::span<const LoopVariable> variables) {
  if (without_ones(to) == without_ones(from)) {
    IndexMap result(from.size());
    size_t next = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] == 1) continue;
      while (to[next] == 1) ++next;
      result[i] = map[next++];
    }
    return {.map = std::move(result), .split = std::nullopt};
  }
  for (const DimIndex& dim : map) {
    if (!dim.dynamic_offsets.empty()) return {};
  }
  return delinearize(linearize(map, to), from, variables);
}

uint64_t variables_of(const IndexMap& map) {
  uint64_t mask = 0;
  for (const DimIndex& dim : map) {
    for (const IndexTerm& term : dim.terms) mask |= uint64_t{1} << term.variable;
  }
  return mask;
}

bool covers(const IndexMap& map, std::span<const int64_t> shape,
            std::span<const LoopVariable> variables) {
  uint64_t seen = 0;
  for (size_t i = 0; i < map.size(); ++i) {
    if (!map[i].dynamic_offsets.empty()) return false;
    std::vector<IndexTerm> terms = map[i].terms;
    std::sort(terms.begin(), terms.end(),
              [](const IndexTerm& a, const IndexTerm& b) { return a.coefficient < b.coefficient; });
    int64_t next = 1, low = 0;
    for (const IndexTerm& term : terms) {
      const uint64_t bit = uint64_t{1} << term.variable;
      if (term.coefficient != next || (seen & bit)) return false;
      seen |= bit;
      next *= variables[term.variable].radix;
      low += term.coefficient * variables[term.variable].low;
    }
    if (next != shape[i] || map[i].offset != low) return false;
  }
  return true;
}

std::vector<int64_t> key_of(const IndexMap& map) {
  std::vector<int64_t> key;
  for (const DimIndex& dim : map) {
    key.push_back(dim.offset);
    key.push_back(static_cast<int64_t>(dim.terms.size()));
    key.push_back(static_cast<int64_t>(dim.dynamic_offsets.size()));
    for (const IndexTerm& term : dim.terms) {
      key.push_back(term.variable);
      key.push_back(term.coefficient);
    }
    for (int node : dim.dynamic_offsets) key.push_back(node);
  }
  return key;
}

}  // namespace tpu::compiler
