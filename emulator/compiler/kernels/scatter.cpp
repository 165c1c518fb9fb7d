#include "emulator/compiler/kernels/scatter.h"

#include <algorithm>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/index_vectors.h"
#include "emulator/compiler/kernels/scatter_general.h"
#include "emulator/compiler/kernels/scatter_geometry.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

using Numbers = hlo::ScatterDimensionNumbers;

Dims select(std::span<const int64_t> values, const Dims& dims) {
  Dims chosen;
  for (int64_t d : dims) chosen.push_back(values[static_cast<size_t>(d)]);
  return chosen;
}

// One combiner, windows that never straddle a bound. All updates of a target element have the
// same window coordinate, so ascending index vectors are ascending updates; target rows are
// shared out by offset and window elements by column.
class RowScatter {
 public:
  RowScatter(const KernelCall& call, const Numbers& numbers, const ScatterGeometry& geometry)
      : result_(call.results[0]),
        updates_(call.operands[2]),
        geometry_(geometry),
        combiner_(result_.element, pattern_of(call, 0),
                  call.regions.empty() ? nullptr : call.regions[0]),
        width_(combiner_.width()),
        indices_(index_vectors(call, numbers, geometry)) {
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

  // Updates of different batches never meet: threads take batches of the first dimension, or
  // columns of the last.
  bool leading_batch() const {
    return indices_.shape().size() > 1 && indices_.shape()[0] > 1 &&
           indices_.batch_strides()[0] != 0;
  }
  bool inner_batch() const {
    return !indices_.shape().empty() && indices_.shape().back() > 1 &&
           indices_.batch_strides().back() != 0;
  }

  void run_batches() const {
    const std::span<const int64_t> shape = indices_.shape(), strides = geometry_.update_scatter;
    const int64_t inner = shape.back(), extent = extent_of(result_);
    const auto outer_shape = shape.first(shape.size() - 1);
    const auto outer_strides = strides.first(outer_shape.size());
    const bool by_row = leading_batch();
    const int64_t items = by_row ? shape[0] : inner;
    const int64_t rows = indices_.count() / inner;
    parallel_for(items, std::max<int64_t>(1, 4096 * items / indices_.count()),
                 [&](int64_t begin, int64_t end) {
                   const int64_t first = by_row ? begin * (rows / items) : 0;
                   const int64_t last = by_row ? end * (rows / items) : rows;
                   const int64_t column = by_row ? 0 : begin, n = by_row ? inner : end - begin;
                   Odometer<1> at(outer_shape, {outer_strides}, first);
                   for (int64_t row = first; row < last; ++row, at.next()) {
                     const int64_t from = at.offset(0) + column * strides.back();
                     combiner_.indexed(result_.data, offsets_.data() + row * inner + column, 0,
                                       extent, updates_.data + from * width_, strides.back(), n);
                   }
                 });
  }

  // Windows of one element, the innermost scatter dimension at a time.
  void run_elements() const {
    if (leading_batch() || inner_batch()) return run_batches();
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
  const ScatterGeometry& geometry_;
  Combiner combiner_;
  int64_t width_;
  IndexVectors indices_;
  std::vector<int64_t> offsets_;  // one a position; -1: out of bounds
  Dims outer_shape_, outer_target_, outer_update_;
  int64_t outer_count_ = 1;
  int64_t row_ = 1, row_target_ = 0, row_update_ = 0;
};

}  // namespace

void scatter(const KernelCall& call) {
  const auto& numbers = call.attributes.get<Numbers>("scatter_dimension_numbers");
  const size_t inputs = call.results.size();
  for (size_t i = 0; i < inputs; ++i) copy(call.operands[i], call.results[i]);
  if (pattern_of(call, 0).kind == RegionPattern::Kind::kFirst) return;
  const ConstView& updates = call.operands[inputs + 1];
  if (elements(updates) == 0 || elements(call.results[0]) == 0) return;

  const ScatterGeometry geometry = geometry_of(numbers, call.results[0], updates);
  if (inputs == 1 && geometry.single_start) {
    RowScatter(call, numbers, geometry).run();
  } else if (inputs == 1 && geometry.windows_last) {
    scatter_windows(call, numbers, geometry);
  } else {
    scatter_elements(call, numbers, geometry);
  }
}

}  // namespace tpu::compiler::kernels
