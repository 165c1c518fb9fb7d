#include "emulator/compiler/kernels/scatter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/index_vectors.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

using Numbers = hlo::ScatterDimensionNumbers;

// The updates of one scatter: where window and scatter dimensions lie in each array.
struct Geometry {
  Dims window;               // one size an operand dimension; 1 if inserted or batching
  Dims window_dims;          // operand dimensions that a window spans
  Dims window_shape;         // sizes of those
  Dims update_window;        // strides of the updates' window dimensions, in the same order
  Dims update_scatter;       // strides of the updates' other dimensions
  bool single_start = true;  // windows have size 1 along every indexed dimension
};

Geometry geometry_of(const Numbers& numbers, const View& result, const ConstView& updates) {
  Geometry g;
  g.window.assign(result.shape.size(), 1);
  size_t next = 0;
  for (size_t d = 0; d < result.shape.size(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.inserted_window_dims, dimension) ||
        contains(numbers.input_batching_dims, dimension)) {
      continue;
    }
    const auto u = static_cast<size_t>(numbers.update_window_dims[next++]);
    g.window[d] = updates.shape[u];
    g.window_dims.push_back(dimension);
    g.window_shape.push_back(updates.shape[u]);
    g.update_window.push_back(updates.strides[u]);
  }
  for (size_t u = 0; u < updates.shape.size(); ++u) {
    if (!contains(numbers.update_window_dims, static_cast<int64_t>(u))) {
      g.update_scatter.push_back(updates.strides[u]);
    }
  }
  for (int64_t d : numbers.scatter_dims_to_operand_dims) {
    g.single_start = g.single_start && g.window[static_cast<size_t>(d)] == 1;
  }
  return g;
}

Dims select(std::span<const int64_t> values, const Dims& dims) {
  Dims chosen;
  for (int64_t d : dims) chosen.push_back(values[static_cast<size_t>(d)]);
  return chosen;
}

IndexVectors index_vectors(const KernelCall& call, const Numbers& numbers, const View& result,
                           const Dims& window) {
  return IndexVectors(call.operands[call.results.size()], numbers.index_vector_dim,
                      numbers.scatter_dims_to_operand_dims, numbers.input_batching_dims,
                      numbers.scatter_indices_batching_dims, result.shape, result.strides, window);
}

// One combiner, windows that never straddle a bound. All updates of a target element have the
// same window coordinate, so ascending index vectors are ascending updates; target rows are
// shared out by offset and window elements by column.
class RowScatter {
 public:
  RowScatter(const KernelCall& call, const Numbers& numbers, const Geometry& geometry)
      : result_(call.results[0]),
        updates_(call.operands[2]),
        geometry_(geometry),
        combiner_(result_.element, pattern_of(call, 0),
                  call.regions.empty() ? nullptr : call.regions[0]),
        width_(combiner_.width()),
        indices_(index_vectors(call, numbers, result_, geometry.window)) {
    offsets_.resize(static_cast<size_t>(indices_.count()));
    parallel_for(indices_.count(), 4096, [&](int64_t begin, int64_t end) {
      indices_.checked_offsets(begin, end, offsets_.data() + begin);
    });
    split_window();
  }

  void run() const {
    const int64_t window = outer_count_ * row_;
    if (window == 0 || indices_.count() == 0) return;
    if (window == 1) return run_elements();
    // Work items are blocks of columns; if they are too few, target rows are shared out as well.
    const int64_t blocks = (row_ + kColumns - 1) / kColumns;
    const int64_t parts = blocks * outer_count_ >= 2 * num_threads() ? 1 : target_parts();
    parallel_for(blocks * outer_count_ * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const int64_t block = item / parts % blocks;
        run_block(item / parts / blocks, block * kColumns, range(item % parts, parts));
      }
    });
  }

 private:
  static constexpr int64_t kColumns = 256;
  struct Range {
    int64_t begin, end;
  };

  // The longest-running window dimension becomes the row; the others are walked outside of it.
  void split_window() {
    outer_shape_ = geometry_.window_shape;
    outer_target_ = select(result_.strides, geometry_.window_dims);
    outer_update_ = geometry_.update_window;
    if (outer_shape_.empty()) return;
    size_t chosen = outer_shape_.size() - 1;
    for (size_t d = outer_shape_.size(); d-- > 0;) {
      if (outer_shape_[d] > 4 * outer_shape_[chosen]) chosen = d;
    }
    row_ = outer_shape_[chosen];
    row_target_ = outer_target_[chosen];
    row_update_ = outer_update_[chosen];
    for (Dims* dims : {&outer_shape_, &outer_target_, &outer_update_}) {
      dims->erase(dims->begin() + static_cast<ptrdiff_t>(chosen));
    }
    outer_count_ = hlo::num_elements(outer_shape_);
  }

  // How many ranges of target offsets; each scans all offsets, so only where rows cost more.
  int64_t target_parts() const {
    constexpr int64_t kWorthSharing = 1 << 14;
    return indices_.count() * row_ >= kWorthSharing ? num_threads() : 1;
  }

  Range range(int64_t part, int64_t parts) const {
    const int64_t extent = extent_of(result_);
    return {extent * part / parts, extent * (part + 1) / parts};
  }

  static int64_t extent_of(const View& view) {
    int64_t extent = 1;
    for (size_t d = 0; d < view.shape.size(); ++d) extent += (view.shape[d] - 1) * view.strides[d];
    return extent;
  }

  void run_block(int64_t outer, int64_t column, Range targets) const {
    const Odometer<2> window(outer_shape_, {outer_target_, outer_update_}, outer);
    std::byte* target = result_.data + (window.offset(0) + column * row_target_) * width_;
    const std::byte* update = updates_.data + (window.offset(1) + column * row_update_) * width_;
    const int64_t n = std::min(kColumns, row_ - column);
    Odometer<1> at(indices_.shape(), {geometry_.update_scatter});
    for (int64_t offset : offsets_) {
      if (offset >= targets.begin && offset < targets.end) {
        combiner_.row(target + offset * width_, row_target_, update + at.offset(0) * width_,
                      row_update_, n);
      }
      at.next();
    }
  }

  // Windows of one element, the innermost scatter dimension at a time.
  void run_elements() const {
    const int64_t parts = target_parts();
    const Dims& strides = geometry_.update_scatter;
    const std::span<const int64_t> shape = indices_.shape();
    const int64_t inner = shape.empty() ? 1 : shape.back();
    const int64_t inner_stride = shape.empty() ? 0 : strides.back();
    const auto outer_shape = shape.first(shape.empty() ? 0 : shape.size() - 1);
    const auto outer_strides = std::span(strides).first(outer_shape.size());
    parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
      const Range targets{range(begin, parts).begin, range(end - 1, parts).end};
      Odometer<1> at(outer_shape, {outer_strides});
      for (int64_t i = 0; i < indices_.count(); i += inner, at.next()) {
        combiner_.indexed(result_.data, offsets_.data() + i, targets.begin, targets.end,
                          updates_.data + at.offset(0) * width_, inner_stride, inner);
      }
    });
  }

  const View& result_;
  const ConstView& updates_;
  const Geometry& geometry_;
  Combiner combiner_;
  int64_t width_;
  IndexVectors indices_;
  std::vector<int64_t> offsets_;  // one a position; -1: out of bounds
  Dims outer_shape_, outer_target_, outer_update_;
  int64_t outer_count_ = 1;
  int64_t row_ = 1, row_target_ = 0, row_update_ = 0;
};

// Any scatter: one update element after the other, in the updates' row-major order.
class GeneralScatter {
 public:
  GeneralScatter(const KernelCall& call, const Numbers& numbers, const Geometry& geometry)
      : call_(call),
        numbers_(numbers),
        inputs_(call.results.size()),
        indices_(index_vectors(call, numbers, call.results[0], geometry.window)),
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

void scatter(const KernelCall& call) {
  const auto& numbers = call.attributes.get<Numbers>("scatter_dimension_numbers");
  const size_t inputs = call.results.size();
  for (size_t i = 0; i < inputs; ++i) copy(call.operands[i], call.results[i]);
  if (pattern_of(call, 0).kind == RegionPattern::Kind::kFirst) return;
  if (elements(call.operands[inputs + 1]) == 0 || elements(call.results[0]) == 0) return;

  const Geometry geometry = geometry_of(numbers, call.results[0], call.operands[inputs + 1]);
  if (inputs == 1 && geometry.single_start) {
    RowScatter(call, numbers, geometry).run();
  } else {
    GeneralScatter(call, numbers, geometry).run();
  }
}

}  // namespace tpu::compiler::kernels
