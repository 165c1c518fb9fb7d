// Linear maps along one dimension, sparse and known when a program is made: resampling, padding,
// the means of adaptive pooling. Their gradients are the transposed maps.
#pragma once

#include <vector>

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

/// One term of a weighted sum.
struct Tap {
  int64_t index;
  double weight;
};

/// out[i] = sum over the taps of row i of weight * x[index], in the order of the taps.
class LineMap {
 public:
  LineMap(int64_t in, std::vector<std::vector<Tap>> rows) : in_(in), rows_(std::move(rows)) {}
  /// out[i] = x[indices[i]].
  static LineMap selecting(int64_t in, const Dims& indices);

  int64_t in() const { return in_; }
  int64_t out() const { return static_cast<int64_t>(rows_.size()); }
  /// The map from out to in with the same weights; each of its rows is in ascending order.
  LineMap transposed() const;

  /// Maps dimension `dim`, of size `in()`, computing in x's type.
  Value* apply(Lowering& op, Value* x, int64_t dim) const;

 private:
  Value* gathered(Lowering& op, Value* x, int64_t dim, int64_t width) const;
  Value* scattered(Lowering& op, Value* x, int64_t dim) const;

  int64_t in_;
  std::vector<std::vector<Tap>> rows_;
};

}  // namespace torch_tpu::aten
