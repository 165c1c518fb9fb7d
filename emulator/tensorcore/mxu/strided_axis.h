// An axis of a matrix that is spread over several strided tensor dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tpu::tensorcore {

/// Numbers 0..size()-1, row-major over its dimensions, mapped to offsets in elements. Dimensions
/// that continue each other are merged, so that a dense axis has one dimension.
class StridedAxis {
 public:
  StridedAxis() = default;
  StridedAxis(int64_t size, int64_t stride) { append(size, stride); }

  /// Adds an inner dimension.
  void append(int64_t size, int64_t stride) {
    size_ *= size;
    if (size == 1) return;
    if (!dims_.empty() && dims_.back().stride == size * stride) {
      dims_.back() = {dims_.back().size * size, stride};
    } else {
      dims_.push_back({size, stride});
    }
  }

  int64_t size() const { return size_; }

  /// True if the offsets are i * stride().
  bool is_single() const { return dims_.size() <= 1; }
  /// Of the innermost dimension. A lone element counts as dense.
  int64_t stride() const { return dims_.empty() ? 1 : dims_.back().stride; }
  /// Length of the innermost dimension.
  int64_t run() const { return dims_.empty() ? 1 : dims_.back().size; }

  /// How many elements from `i` on, `i` included, are stride() apart.
  int64_t run_from(int64_t i) const { return is_single() ? size_ - i : run() - i % run(); }

  /// True if elements are dense not along the innermost dimension but along the one around it.
  bool is_interleaved() const {
    return dims_.size() >= 2 && dims_.back().stride != 1 && dims_[dims_.size() - 2].stride == 1;
  }
  /// Of an interleaved axis: how many times the innermost dimension repeats from `i` on, where it
  /// starts, before a dimension further out steps.
  int64_t repeats_from(int64_t i) const {
    const Dim& around = dims_[dims_.size() - 2];
    return around.size - i / run() % around.size;
  }

  int64_t offset(int64_t i) const {
    if (is_single()) return i * (dims_.empty() ? 0 : dims_[0].stride);
    int64_t offset = 0;
    for (size_t d = dims_.size(); d-- > 0; i /= dims_[d].size) {
      offset += i % dims_[d].size * dims_[d].stride;
    }
    return offset;
  }

  /// Calls `body(i, offset, length)` for the runs of equal stride that make up [begin, end):
  /// elements i..i+length-1 lie at offset + j * stride().
  template <class Body>
  void for_each_run(int64_t begin, int64_t end, const Body& body) const {
    while (begin < end) {
      const int64_t length = std::min(end - begin, run_from(begin));
      body(begin, offset(begin), length);
      begin += length;
    }
  }

 private:
  struct Dim {
    int64_t size, stride;
  };
  int64_t size_ = 1;
  std::vector<Dim> dims_;
};

}  // namespace tpu::tensorcore
