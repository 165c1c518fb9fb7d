#include <algorithm>
#include <optional>

#include "emulator/compiler/passes/fusion.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Dims;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

// Strides for `to` of the array of `from` with `strides`, without moving an element; null if
// there are none.
std::optional<Dims> reshape_strides(std::span<const int64_t> from, std::span<const int64_t> strides,
                                    std::span<const int64_t> to) {
  struct Run {
    int64_t size, stride;
  };
  std::vector<Run> runs;  // dimensions that can be walked with one stride, merged; outermost first
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    if (!runs.empty() && runs.back().stride == strides[i] * from[i]) {
      runs.back() = {runs.back().size * from[i], strides[i]};
    } else {
      runs.push_back({from[i], strides[i]});
    }
  }
  Dims result(to.size(), 0);
  for (int i = static_cast<int>(to.size()) - 1; i >= 0; --i) {
    if (to[i] == 1) continue;
    if (runs.empty() || runs.back().size % to[i] != 0) return std::nullopt;
    result[i] = runs.back().stride;
    runs.back() = {runs.back().size / to[i], runs.back().stride * to[i]};
    if (runs.back().size == 1) runs.pop_back();
  }
  return result;
}

std::optional<ValueView> through(const Op& op, const ValueView& operand) {
  const Dims& shape = op.operand(0)->type.shape;
  const Dims& result_shape = op.result()->type.shape;
  ValueView view{operand.base, operand.offset, Dims(result_shape.size(), 0)};
  switch (op.kind()) {
    case OpKind::kReshape: {
      std::optional<Dims> strides = reshape_strides(shape, operand.strides, result_shape);
      if (!strides) return std::nullopt;
      view.strides = std::move(*strides);
      return view;
    }
    case OpKind::kTranspose: {
      const Dims& permutation = op.attributes().get<Dims>("permutation");
      for (size_t i = 0; i < permutation.size(); ++i) {
        view.strides[i] = operand.strides[permutation[i]];
      }
      return view;
    }
    case OpKind::kSlice: {
      const Dims& start = op.attributes().get<Dims>("start_indices");
      const Dims& step = op.attributes().get<Dims>("strides");
      for (size_t i = 0; i < start.size(); ++i) {
        view.offset += start[i] * operand.strides[i];
        view.strides[i] = step[i] * operand.strides[i];
      }
      return view;
    }
    case OpKind::kBroadcastInDim: {
      const Dims& to = op.attributes().get<Dims>("broadcast_dimensions");
      for (size_t i = 0; i < to.size(); ++i) {
        if (shape[i] != 1) view.strides[to[i]] = operand.strides[i];
      }
      return view;
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

ValueView view_of(const Value* value, const StridesOf& strides) {
  if (value->def && value->type.num_elements() > 0 && !strides.contains(value)) {
    const OpKind kind = value->def->kind();
    if (kind == OpKind::kReshape || kind == OpKind::kTranspose || kind == OpKind::kSlice ||
        kind == OpKind::kBroadcastInDim) {
      const ValueView operand = view_of(value->def->operand(0), strides);
      if (std::optional<ValueView> view = through(*value->def, operand)) return *view;
    }
  }
  const auto known = strides.find(value);
  return {value, 0,
          known != strides.end() ? known->second : hlo::row_major_strides(value->type.shape)};
}

}  // namespace tpu::compiler
