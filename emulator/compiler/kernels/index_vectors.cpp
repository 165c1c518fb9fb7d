#include "emulator/compiler/kernels/index_vectors.h"

#include <algorithm>
#include <array>

#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

IndexVectors::IndexVectors(const ConstView& indices, int64_t index_vector_dim,
                           std::span<const int64_t> index_map,
                           std::span<const int64_t> operand_batching_dims,
                           std::span<const int64_t> indices_batching_dims,
                           std::span<const int64_t> shape, std::span<const int64_t> strides,
                           std::span<const int64_t> window)
    : element_(indices.element), data_(indices.data) {
  for (int64_t dimension : index_map) {
    const auto d = static_cast<size_t>(dimension);
    components_.push_back({shape[d] - window[d], strides[d]});
  }
  for (size_t d = 0; d < indices.shape.size(); ++d) {
    if (static_cast<int64_t>(d) == index_vector_dim) {
      component_stride_ = indices.strides[d];
      continue;
    }
    shape_.push_back(indices.shape[d]);
    index_strides_.push_back(indices.strides[d]);
    int64_t batch_stride = 0;
    for (size_t b = 0; b < indices_batching_dims.size(); ++b) {
      if (indices_batching_dims[b] == static_cast<int64_t>(d)) {
        batch_stride = strides[static_cast<size_t>(operand_batching_dims[b])];
      }
    }
    batch_strides_.push_back(batch_stride);
  }
  count_ = hlo::num_elements(shape_);
}

// The innermost dimension is a loop of its own: an odometer's step costs more than a look-up.
template <bool kClamp, class T>
void IndexVectors::offsets_of(int64_t begin, int64_t end, int64_t* offsets) const {
  const T* data = reinterpret_cast<const T*>(data_);
  const int64_t run = run_length(), index_step = shape_.empty() ? 0 : index_strides_.back(),
                batch_step = shape_.empty() ? 0 : batch_strides_.back();
  const auto outer = [&](const hlo::Dims& dims) {
    return std::span(dims).first(dims.empty() ? 0 : dims.size() - 1);
  };
  Odometer<2> at(outer(shape_), {outer(index_strides_), outer(batch_strides_)}, begin / run);
  for (int64_t position = begin; position < end; at.next()) {
    const int64_t first = position % run, n = std::min(run - first, end - position);
    const T* from = data + at.offset(0) + first * index_step;
    const int64_t base = at.offset(1) + first * batch_step;
    int64_t* to = offsets + (position - begin);
    for (int64_t k = 0; k < n; ++k) to[k] = base + k * batch_step;
    for (size_t c = 0; c < components_.size(); ++c) {
      // In registers: for all the compiler knows, `to` may point to them.
      const Component component = components_[c];
      const int64_t last = std::max<int64_t>(component.last, 0);
      const T* start_of = from + static_cast<int64_t>(c) * component_stride_;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t start = saturated(start_of[k * index_step]);
        const int64_t moved = to[k] + std::clamp<int64_t>(start, 0, last) * component.stride;
        const bool inside = kClamp || (to[k] >= 0 && start >= 0 && start <= component.last);
        to[k] = inside ? moved : -1;
      }
    }
    position += n;
  }
}

void IndexVectors::clamped_offsets(int64_t begin, int64_t end, int64_t* offsets) const {
  visit_integer(element_,
                [&]<class T>(std::type_identity<T>) { offsets_of<true, T>(begin, end, offsets); });
}

void IndexVectors::checked_offsets(int64_t begin, int64_t end, int64_t* offsets) const {
  visit_integer(element_,
                [&]<class T>(std::type_identity<T>) { offsets_of<false, T>(begin, end, offsets); });
}

int64_t IndexVectors::starts(int64_t position, int64_t* values) const {
  const Odometer<2> at(shape_, {index_strides_, batch_strides_}, position);
  visit_integer(element_, [&]<class T>(std::type_identity<T>) {
    const T* data = reinterpret_cast<const T*>(data_) + at.offset(0);
    for (size_t c = 0; c < components_.size(); ++c) {
      values[c] = saturated(data[static_cast<int64_t>(c) * component_stride_]);
    }
  });
  return at.offset(1);
}

}  // namespace tpu::compiler::kernels
