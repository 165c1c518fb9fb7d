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

// A window of the operand and of the result: what one index vector copies.
struct Window {
  Dims shape, source, target;
};

Window window_of(const ConstView& operand, const View& result,
                 const hlo::GatherDimensionNumbers& numbers, const Dims& slice_sizes) {
  Window window;
  size_t next = 0;
  for (size_t d = 0; d < slice_sizes.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.collapsed_slice_dims, dimension) ||
        contains(numbers.operand_batching_dims, dimension)) {
      continue;
    }
    window.shape.push_back(slice_sizes[d]);
    window.source.push_back(operand.strides[d]);
    window.target.push_back(result.strides[static_cast<size_t>(numbers.offset_dims[next++])]);
  }
  return window;
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

// Where positions [begin, end) go in the result, a run of the innermost dimension at a time:
// body(first position, how many, offset of the first); the others follow at the last stride.
template <class Body>
void for_runs(const IndexVectors& indices, const Dims& strides, int64_t begin, int64_t end,
              Body&& body) {
  const std::span<const int64_t> shape = indices.shape();
  const size_t outer = shape.empty() ? 0 : shape.size() - 1;
  const int64_t run = indices.run_length(), step = strides.empty() ? 0 : strides.back();
  Odometer<1> to(shape.first(outer), {std::span(strides).first(outer)}, begin / run);
  for (int64_t position = begin; position < end; to.next()) {
    const int64_t first = position % run, n = std::min(run - first, end - position);
    body(position, n, to.offset(0) + first * step);
    position += n;
  }
}

// Single elements, or windows whose elements lie apart in the result while those of neighbouring
// positions lie together (a gather along the last dimension): the positions are the inner loop.
void gather_across(const ConstView& operand, const View& result, const IndexVectors& indices,
                   const Dims& strides, const Window& window) {
  const int64_t step = strides.empty() ? 0 : strides.back();
  const int64_t window_count = hlo::num_elements(window.shape);
  // The offsets of a chunk serve a block of window elements.
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (window_count + kBlock - 1) / kBlock;
  const int64_t chunks = (indices.count() + kChunk - 1) / kChunk;
  const int width = hlo::byte_width(operand.element);
  visit_width(width, [&]<class T>(std::type_identity<T>) {
    const T* source = reinterpret_cast<const T*>(operand.data);
    T* target = reinterpret_cast<T*>(result.data);
    const int64_t item_bytes = kChunk * std::min(kBlock, window_count) * width;
    parallel_for(chunks * blocks, grain_for_bytes(item_bytes), [&](int64_t begin, int64_t end) {
      std::array<int64_t, kChunk> from;
      for (int64_t item = begin; item < end; ++item) {
        const int64_t first = item / blocks * kChunk;
        const int64_t last = std::min(first + kChunk, indices.count());
        const int64_t element = item % blocks * kBlock;
        indices.clamped_offsets(first, last, from.data());
        Odometer<2> at(window.shape, {window.source, window.target}, element);
        for (int64_t w = element; w < std::min(element + kBlock, window_count); ++w, at.next()) {
          for_runs(indices, strides, first, last, [&](int64_t position, int64_t n, int64_t offset) {
            const int64_t* index = from.data() + (position - first);
            const T* read = source + at.offset(0);
            T* written = target + at.offset(1) + offset;
            for (int64_t k = 0; k < n; ++k) written[k * step] = read[index[k]];
          });
        }
      }
    });
  });
}

bool adjacent(const Window& window) {
  for (size_t d = 0; d < window.shape.size(); ++d) {
    if (window.shape[d] > 1 && window.target[d] == 1) return true;
  }
  return false;
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
  const Window window = window_of(operand, result, numbers, slice_sizes);
  const Dims strides = batch_strides(result, numbers);
  const bool positions_adjacent = !strides.empty() && strides.back() == 1;
  if (hlo::num_elements(window.shape) == 1 || (positions_adjacent && !adjacent(window))) {
    return gather_across(operand, result, indices, strides, window);
  }
  const CopyPlan plan(hlo::byte_width(operand.element), window.shape, window.source, window.target);
  const int64_t width = plan.width();
  const int64_t window_bytes = plan.count() * width;

  // Few large windows: the threads share each window.
  constexpr int64_t kLargeWindow = 1 << 18;
  if (window_bytes >= kLargeWindow && indices.count() < 4 * num_threads()) {
    Odometer<1> to(indices.shape(), {strides});
    for (int64_t i = 0; i < indices.count(); ++i, to.next()) {
      int64_t from;
      indices.clamped_offsets(i, i + 1, &from);
      plan.run_parallel(operand.data + from * width, result.data + to.offset(0) * width);
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
                   for (int64_t k = 0; k < n; ++k, to.next()) {
                     plan.run(operand.data + from[static_cast<size_t>(k)] * width,
                              result.data + to.offset(0) * width);
                   }
                 }
               });
}

}  // namespace tpu::compiler::kernels
