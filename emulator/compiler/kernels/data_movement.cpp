// The ops that only move elements, each a strided copy or a few.
#include <algorithm>

#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

std::byte* at(const View& view, int64_t offset) {
  return view.data + offset * hlo::byte_width(view.element);
}
const std::byte* at(const ConstView& view, int64_t offset) {
  return view.data + offset * hlo::byte_width(view.element);
}

int64_t scalar_index(const ConstView& view) {
  return visit_integer(view.element, [&]<class T>(std::type_identity<T>) {
    return saturated(*reinterpret_cast<const T*>(view.data));
  });
}

// Sum over dimensions of clamp(start, 0, size - window) * stride: where a dynamic window begins.
int64_t window_offset(std::span<const ConstView> starts, std::span<const int64_t> shape,
                      std::span<const int64_t> window, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t last = shape[d] - window[d];
    offset += std::clamp<int64_t>(scalar_index(starts[d]), 0, last) * strides[d];
  }
  return offset;
}

}  // namespace

void broadcast_in_dim(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const auto& dimensions = call.attributes.get<Dims>("broadcast_dimensions");
  Dims strides(call.results[0].shape.size(), 0);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (operand.shape[d] != 1) strides[static_cast<size_t>(dimensions[d])] = operand.strides[d];
  }
  copy({operand.element, call.results[0].shape, strides, operand.data}, call.results[0]);
}

void transpose(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  Dims strides;
  for (int64_t d : call.attributes.get<Dims>("permutation")) {
    strides.push_back(operand.strides[static_cast<size_t>(d)]);
  }
  copy({operand.element, call.results[0].shape, strides, operand.data}, call.results[0]);
}

void slice(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const auto& starts = call.attributes.get<Dims>("start_indices");
  const auto& steps = call.attributes.get<Dims>("strides");
  int64_t offset = 0;
  Dims strides(starts.size());
  for (size_t d = 0; d < starts.size(); ++d) {
    offset += starts[d] * operand.strides[d];
    strides[d] = steps[d] * operand.strides[d];
  }
  copy({operand.element, call.results[0].shape, strides, at(operand, offset)}, call.results[0]);
}

void reverse(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  if (elements(operand) == 0) return;
  Dims strides(operand.strides.begin(), operand.strides.end());
  int64_t offset = 0;
  for (int64_t dimension : call.attributes.get<Dims>("dimensions")) {
    const auto d = static_cast<size_t>(dimension);
    offset += (operand.shape[d] - 1) * operand.strides[d];
    strides[d] = -operand.strides[d];
  }
  copy({operand.element, call.results[0].shape, strides, at(operand, offset)}, call.results[0]);
}

void concatenate(const KernelCall& call) {
  const View& result = call.results[0];
  const auto dimension = static_cast<size_t>(call.attributes.get<int64_t>("dimension"));
  int64_t position = 0;
  for (const ConstView& operand : call.operands) {
    copy(operand, {result.element, operand.shape, result.strides,
                   at(result, position * result.strides[dimension])});
    position += operand.shape[dimension];
  }
}

void pad(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  const auto& low = call.attributes.get<Dims>("edge_padding_low");
  const auto& interior = call.attributes.get<Dims>("interior_padding");
  fill(call.operands[1].data, result);

  // Operand index i lands at low + i * (interior + 1); negative padding cuts some off.
  int64_t from = 0, to = 0;
  Dims shape, strides;
  for (size_t d = 0; d < low.size(); ++d) {
    const int64_t step = interior[d] + 1;
    const int64_t first = low[d] < 0 ? (-low[d] + step - 1) / step : 0;
    const int64_t room = result.shape[d] - low[d];  // positions i * step must stay below it
    const int64_t end = std::min(operand.shape[d], room <= 0 ? 0 : (room + step - 1) / step);
    if (end <= first) return;
    shape.push_back(end - first);
    strides.push_back(step * result.strides[d]);
    from += first * operand.strides[d];
    to += (low[d] + first * step) * result.strides[d];
  }
  copy({operand.element, shape, operand.strides, at(operand, from)},
       {result.element, shape, strides, at(result, to)});
}

void dynamic_slice(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  const int64_t offset =
      window_offset(call.operands.subspan(1), operand.shape, result.shape, operand.strides);
  copy({operand.element, result.shape, operand.strides, at(operand, offset)}, result);
}

void dynamic_update_slice(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const ConstView& update = call.operands[1];
  const View& result = call.results[0];
  const int64_t offset =
      window_offset(call.operands.subspan(2), result.shape, update.shape, result.strides);
  copy(operand, result);
  copy(update, {result.element, update.shape, result.strides, at(result, offset)});
}

}  // namespace tpu::compiler::kernels
