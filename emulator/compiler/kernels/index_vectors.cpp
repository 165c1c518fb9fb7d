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

template <bool kClamp, class T>
void IndexVectors::offsets_of(int64_t begin, int64_t end, int64_t* offsets) const {
  const T* data = reinterpret_cast<const T*>(data_);
  Odometer<2> at(shape_, {index_strides_, batch_strides_}, begin);
  for (int64_t position = begin; position < end; ++position, at.next()) {
    int64_t offset = at.offset(1);
    bool inside = true;
    for (size_t c = 0; c < components_.size(); ++c) {
      const Component& component = components_[c];
      const T raw = data[at.offset(0) + static_cast<int64_t>(c) * component_stride_];
      const int64_t start = saturated(raw);
      const int64_t clamped = std::clamp<int64_t>(start, 0, std::max<int64_t>(component.last, 0));
      if constexpr (!kClamp) inside = inside && start >= 0 && start <= component.last;
      offset += clamped * component.stride;
    }
    offsets[position - begin] = inside ? offset : -1;
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
