#include "emulator/compiler/kernels/scatter_general.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"

namespace tpu::compiler::kernels {
namespace {

using Numbers = hlo::ScatterDimensionNumbers;

class WindowScatter {
 public:
  WindowScatter(const KernelCall& call, const Numbers& numbers, const ScatterGeometry& geometry)
      : result_(call.results[0]),
        updates_(call.operands[2]),
        numbers_(numbers),
        geometry_(geometry),
        combiner_(result_.element, pattern_of(call, 0),
                  call.regions.empty() ? nullptr : call.regions[0]),
        indices_(index_vectors(call, numbers, geometry)),
        clip_shape_(geometry.window_shape.size()) {
    for (int64_t d : geometry.window_dims) {
      target_strides_.push_back(result_.strides[static_cast<size_t>(d)]);
    }
  }

  void run() {
    Dims starts(indices_.components().size());
    Odometer<1> update(indices_.shape(), {geometry_.update_scatter});
    for (int64_t i = 0; i < indices_.count(); ++i, update.next()) {
      const int64_t batch = indices_.starts(i, starts.data());
      int64_t target = batch, source = update.offset(0);
      if (clip(starts, target, source)) combine(target, source);
    }
  }

 private:
  // Narrows the window to what lies inside the operand and moves both offsets to its first
  // element; false if nothing is left.
  bool clip(const Dims& starts, int64_t& target, int64_t& source) {
    Dims start(result_.shape.size(), 0);
    for (size_t c = 0; c < starts.size(); ++c) {
      start[static_cast<size_t>(numbers_.scatter_dims_to_operand_dims[c])] = starts[c];
    }
    for (size_t d = 0; d < start.size(); ++d) {  // inserted dimensions: a window of one element
      if (contains(geometry_.window_dims, static_cast<int64_t>(d))) continue;
      if (start[d] < 0 || start[d] >= result_.shape[d]) return false;
      target += start[d] * result_.strides[d];
    }
    for (size_t w = 0; w < clip_shape_.size(); ++w) {
      const auto d = static_cast<size_t>(geometry_.window_dims[w]);
      const int64_t size = result_.shape[d], extent = geometry_.window_shape[w];
      if (start[d] >= size || start[d] <= -extent) return false;
      const int64_t first = std::max<int64_t>(-start[d], 0);
      clip_shape_[w] = std::min(extent, size - start[d]) - first;
      if (clip_shape_[w] <= 0) return false;
      target += (start[d] + first) * result_.strides[d];
      source += first * geometry_.update_window[w];
    }
    return true;
  }

  // The clipped window's rows, on all threads: its targets are distinct.
  void combine(int64_t target, int64_t source) const {
    const int64_t width = combiner_.width();
    const size_t rank = clip_shape_.size();
    const size_t outer = rank == 0 ? 0 : rank - 1;
    const int64_t n = rank == 0 ? 1 : clip_shape_[outer];
    const int64_t to = rank == 0 ? 0 : target_strides_[outer];
    const int64_t from = rank == 0 ? 0 : geometry_.update_window[outer];
    const auto shape = std::span(clip_shape_).first(outer);
    const auto to_strides = std::span(target_strides_).first(outer);
    const auto from_strides = std::span(geometry_.update_window).first(outer);
    parallel_for(hlo::num_elements(shape), grain_for_bytes(n * width),
                 [&](int64_t begin, int64_t end) {
                   Odometer<2> at(shape, {to_strides, from_strides}, begin);
                   for (int64_t i = begin; i < end; ++i, at.next()) {
                     combiner_.row(result_.data + (target + at.offset(0)) * width, to,
                                   updates_.data + (source + at.offset(1)) * width, from, n);
                   }
                 });
  }

  const View& result_;
  const ConstView& updates_;
  const Numbers& numbers_;
  const ScatterGeometry& geometry_;
  Combiner combiner_;
  IndexVectors indices_;
  Dims target_strides_, clip_shape_;
};

// Any scatter: one update element after the other, in the updates' row-major order.
class GeneralScatter {
 public:
  GeneralScatter(const KernelCall& call, const Numbers& numbers, const ScatterGeometry& geometry)
      : call_(call),
        numbers_(numbers),
        inputs_(call.results.size()),
        indices_(index_vectors(call, numbers, geometry)),
        starts_(indices_.components().size()),
        position_strides_(hlo::row_major_strides(indices_.shape())),
        batch_of_(call.results[0].shape.size(), -1) {
    const ConstView& updates = call.operands[inputs_ + 1];
    size_t next = 0;
    for (size_t u = 0; u < updates.shape.size(); ++u) {
      const bool is_window = contains(numbers.update_window_dims, static_cast<int64_t>(u));
      update_positions_.push_back(is_window ? 0 : position_strides_[next++]);
      if (!is_window) scatter_dims_.push_back(static_cast<int64_t>(u));
    }
    for (size_t b = 0; b < numbers.input_batching_dims.size(); ++b) {
      const int64_t d = numbers.scatter_indices_batching_dims[b];
      const int64_t position = d > numbers.index_vector_dim ? d - 1 : d;
      batch_of_[static_cast<size_t>(numbers.input_batching_dims[b])] =
          scatter_dims_[static_cast<size_t>(position)];
    }
    window_dims_ = geometry.window_dims;
  }

  void run() {
    const ConstView& updates = call_.operands[inputs_ + 1];
    const int64_t count = elements(updates);
    Odometer<1> position(updates.shape, {update_positions_});
    for (int64_t i = 0; i < count; ++i, position.next()) {
      if (find_target(position.index(), position.offset(0))) combine(position.index());
    }
  }

 private:
  // Fills target_ with the operand index of an update; false if it is out of bounds.
  bool find_target(const Dims& update_index, int64_t position) {
    const std::span<const int64_t> shape = call_.results[0].shape;
    target_.assign(shape.size(), 0);
    indices_.starts(position, starts_.data());
    for (size_t d = 0; d < shape.size(); ++d) {
      if (batch_of_[d] >= 0) target_[d] = update_index[static_cast<size_t>(batch_of_[d])];
    }
    for (size_t w = 0; w < window_dims_.size(); ++w) {
      target_[static_cast<size_t>(window_dims_[w])] =
          update_index[static_cast<size_t>(numbers_.update_window_dims[w])];
    }
    for (size_t c = 0; c < starts_.size(); ++c) {
      const auto d = static_cast<size_t>(numbers_.scatter_dims_to_operand_dims[c]);
      // Far starts must not overflow when the window's coordinate is added.
      if (starts_[c] < -shape[d] || starts_[c] >= shape[d]) return false;
      target_[d] += starts_[c];
    }
    for (size_t d = 0; d < shape.size(); ++d) {
      if (target_[d] < 0 || target_[d] >= shape[d]) return false;
    }
    return true;
  }

  static int64_t dot(const Dims& index, std::span<const int64_t> strides) {
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
    return offset;
  }

  void combine(const Dims& update_index) {
    values_.resize(inputs_);
    arguments_.resize(2 * inputs_);
    outputs_.resize(inputs_);
    for (size_t i = 0; i < inputs_; ++i) {
      const View& result = call_.results[i];
      const ConstView& updates = call_.operands[inputs_ + 1 + i];
      arguments_[i] = result.data + dot(target_, result.strides) * hlo::byte_width(result.element);
      arguments_[inputs_ + i] =
          updates.data + dot(update_index, updates.strides) * hlo::byte_width(updates.element);
      outputs_[i] = values_[i].bytes;
    }
    apply();
    for (size_t i = 0; i < inputs_; ++i) {
      std::memcpy(const_cast<std::byte*>(arguments_[i]), values_[i].bytes,
                  static_cast<size_t>(hlo::byte_width(call_.results[i].element)));
    }
  }

  void apply() {
    const bool assigns = pattern_of(call_, 0).kind == RegionPattern::Kind::kSecond;
    if (!assigns) return call_.regions[0](arguments_.data(), outputs_.data());
    for (size_t i = 0; i < inputs_; ++i) {
      std::memcpy(values_[i].bytes, arguments_[inputs_ + i],
                  static_cast<size_t>(hlo::byte_width(call_.results[i].element)));
    }
  }

  struct alignas(16) Value {
    std::byte bytes[16];
  };

  const KernelCall& call_;
  const Numbers& numbers_;
  size_t inputs_;
  IndexVectors indices_;
  Dims starts_, position_strides_, update_positions_, scatter_dims_, window_dims_, batch_of_;
  Dims target_;
  std::vector<Value> values_;
  std::vector<const std::byte*> arguments_;
  std::vector<std::byte*> outputs_;
};

}  // namespace

void scatter_windows(const KernelCall& call, const Numbers& numbers,
                     const ScatterGeometry& geometry) {
  WindowScatter(call, numbers, geometry).run();
}

void scatter_elements(const KernelCall& call, const Numbers& numbers,
                      const ScatterGeometry& geometry) {
  GeneralScatter(call, numbers, geometry).run();
}

}  // namespace tpu::compiler::kernels
