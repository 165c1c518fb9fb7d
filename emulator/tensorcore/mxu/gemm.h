// The blocked matrix product: C[b][m][n] = sum over k of left[b][m][k] * right[b][k][n] in the
// declared order, from operands that know how to pack themselves to a result that knows how to
// store tiles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/tensorcore/mxu/host_kernels.h"
#include "emulator/tensorcore/mxu/numerics.h"

namespace tpu::tensorcore {

/// Rows of the left operand, made ready for one chunk of k.
template <class T>
struct LeftView {
  const T* const* rows;               ///< of part 0
  std::span<const Segment> segments;  ///< the chunk, in each row
  int64_t part_stride;
  MagnitudeRange range;
};

/// Memory that a left operand may use for a view.
template <class T>
class LeftBuffer {
 public:
  /// Elements needed for views of up to `rows` rows of chunks of up to `depth` in `parts` parts.
  static int64_t size(int64_t rows, int64_t depth, int parts) {
    constexpr int64_t kSlack = 64;  // for copies in whole vectors
    return rows * depth * parts + kSlack;
  }
  /// `data` has room for size() elements.
  LeftBuffer(T* data, int64_t rows, int64_t depth) : data_(data), depth_(depth), rows_(rows) {}

  T* data() { return data_; }
  const T** rows() { return rows_.data(); }
  std::vector<Segment>& segments() { return segments_; }
  int64_t depth() const { return depth_; }
  /// The view of rows packed one after the other, `depth()` apart.
  LeftView<T> packed(int64_t rows, int64_t chunk_depth, MagnitudeRange range) {
    for (int64_t r = 0; r < rows; ++r) rows_[r] = data() + r * depth_;
    segments_.assign(1, {0, chunk_depth});
    return {rows_.data(), segments_, rows * depth_, range};
  }

 private:
  T* data_;
  int64_t depth_;
  std::vector<const T*> rows_;
  std::vector<Segment> segments_;
};

/// The left operand. T is the packed element: float, double, uint32_t, uint64_t, or Int16Pair
/// (then k counts pairs).
template <class T>
class LeftOperand {
 public:
  virtual ~LeftOperand() = default;
  /// Rows [row, row + rows) and contraction [k, k + depth), a chunk. The view lives as long as the
  /// operand and the buffer, until its next use.
  virtual LeftView<T> view(int64_t batch, int64_t row, int64_t rows, int64_t k, int64_t depth,
                           LeftBuffer<T>& buffer) const = 0;
};

/// Packs panels of `panel` columns of the right operand.
template <class T>
class RightOperand {
 public:
  virtual ~RightOperand() = default;
  /// Part p of element (k + i, column + c) goes to
  /// target[p * part_stride + c / panel * panel_stride + i * panel + c % panel]; columns of the
  /// last panel beyond `columns` get zeros.
  virtual MagnitudeRange pack_columns(int64_t batch, int64_t column, int64_t columns, int64_t k,
                                      int64_t depth, T* target, int64_t panel, int64_t panel_stride,
                                      int64_t part_stride) const = 0;
  /// How many columns at a time suit multiply_few_rows; 0 if elements lie so that they must be
  /// packed.
  virtual int64_t direct_columns(int64_t /*rows*/) const { return 0; }
  /// For `rows` = 1, 2, 4 or 8 rows of the left operand: one chunk's sums of products without
  /// packing, element (r, c) to sums[r * sums_stride + c].
  virtual void multiply_few_rows(int64_t /*batch*/, int64_t /*column*/, int64_t /*columns*/,
                                 int64_t /*k*/, int64_t /*depth*/, const T* const* /*left*/,
                                 int64_t /*rows*/, T* /*sums*/, int64_t /*sums_stride*/) const {}
};

/// Where results go.
template <class Acc>
class ResultTiles {
 public:
  virtual ~ResultTiles() = default;
  /// Address of element (row, column) if totals of this and further rows, `direct_stride()` apart,
  /// and `columns` dense columns may be written to the result as they are; null otherwise.
  virtual Acc* direct(int64_t batch, int64_t row, int64_t column, int64_t columns) const = 0;
  virtual int64_t direct_stride() const = 0;
  /// Stores totals[r * stride + c] as element (row + r, column + c).
  virtual void store(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns,
                     const Acc* totals, int64_t stride) const = 0;
};

template <class T, class Acc = T>
struct Gemm {
  int64_t batches, m, n;
  std::span<const int64_t> bounds;  ///< of the chunks of k: 0, ascending, the last one is k's size
  const LeftOperand<T>& left;
  const RightOperand<T>& right;
  const ResultTiles<Acc>& result;
  PassPlan plan;
  bool turned;  ///< left is the plan's rhs
  /// Few rows may meet the right operand where it lies, if left views are one segment and the
  /// caller does without the magnitudes that run() returns.
  bool direct;
  const MicroKernels<T, Acc>& kernels;
};

/// Bounds of chunks of `depth`.
std::vector<int64_t> even_bounds(int64_t k, int64_t depth);

/// Runs the product on up to num_threads() threads. Returns the magnitudes of the right operand's
/// elements (not of integers; of double only whether all are finite).
MagnitudeRange run(const Gemm<float>& gemm);
MagnitudeRange run(const Gemm<double>& gemm);
MagnitudeRange run(const Gemm<uint32_t>& gemm);
MagnitudeRange run(const Gemm<uint64_t>& gemm);
MagnitudeRange run(const Gemm<Int16Pair, uint32_t>& gemm);

}  // namespace tpu::tensorcore
