#include "emulator/compiler/kernels/gather.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/index_vectors.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

constexpr int64_t kChunk = 512;  // index vectors turned into offsets at a time

// The window's copy, from the operand's strides to those of the result's offset dimensions.
CopyPlan window_plan(const ConstView& operand, const View& result,
                     const hlo::GatherDimensionNumbers& numbers, const Dims& slice_sizes) {
  Dims shape, source, target;
  size_t next = 0;
  for (size_t d = 0; d < slice_sizes.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.collapsed_slice_dims, dimension) ||
        contains(numbers.operand_batching_dims, dimension)) {
      continue;
    }
    shape.push_back(slice_sizes[d]);
    source.push_back(operand.strides[d]);
    target.push_back(result.strides[static_cast<size_t>(numbers.offset_dims[next++])]);
  }
  return CopyPlan(hlo::byte_width(operand.element), shape, source, target);
}

Dims batch_strides(const View& result, const hlo::GatherDimensionNumbers& numbers) {
  Dims strides;
  for (size_t d = 0; d < result.shape.size(); ++d) {
    if (!contains(numbers.offset_dims, static_cast<int64_t>(d))) {
      strides.push_back(result.strides[d]);
    }
  }
  return strides;
}

}  // namespace

void gather(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  if (elements(result) == 0) return;
  const auto& numbers = call.attributes.get<hlo::GatherDimensionNumbers>("dimension_numbers");
  const auto& slice_sizes = call.attributes.get<Dims>("slice_sizes");
  const IndexVectors indices(call.operands[1], numbers.index_vector_dim, numbers.start_index_map,
                             numbers.operand_batching_dims, numbers.start_indices_batching_dims,
                             operand.shape, operand.strides, slice_sizes);
  const CopyPlan window = window_plan(operand, result, numbers, slice_sizes);
  const Dims strides = batch_strides(result, numbers);
  const int64_t width = window.width();
  const int64_t window_bytes = window.count() * width;

  // Few large windows: the threads share each window.
  constexpr int64_t kLargeWindow = 1 << 18;
  if (window_bytes >= kLargeWindow && indices.count() < 4 * num_threads()) {
    Odometer<1> to(indices.shape(), {strides});
    for (int64_t i = 0; i < indices.count(); ++i, to.next()) {
      int64_t from;
      indices.clamped_offsets(i, i + 1, &from);
      window.run_parallel(operand.data + from * width, result.data + to.offset(0) * width);
    }
    return;
  }

  parallel_for(indices.count(), grain_for_bytes(window_bytes + 16),
               [&](int64_t begin, int64_t end) {
                 std::array<int64_t, kChunk> from;
                 Odometer<1> to(indices.shape(), {strides}, begin);
                 for (int64_t i = begin; i < end; i += kChunk) {
                   const int64_t n = std::min(kChunk, end - i);
                   indices.clamped_offsets(i, i + n, from.data());
                   if (window.count() == 1) {
                     visit_width(window.width(), [&]<class T>(std::type_identity<T>) {
                       const T* source = reinterpret_cast<const T*>(operand.data);
                       T* target = reinterpret_cast<T*>(result.data);
                       for (int64_t k = 0; k < n; ++k, to.next()) {
                         target[to.offset(0)] = source[from[static_cast<size_t>(k)]];
                       }
                     });
                     continue;
                   }
                   for (int64_t k = 0; k < n; ++k, to.next()) {
                     window.run(operand.data + from[static_cast<size_t>(k)] * width,
                                result.data + to.offset(0) * width);
                   }
                 }
               });
}

}  // namespace tpu::compiler::kernels
