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

inline constexpr int64_t kRowSlack = 64;

/// Packs rows of the left operand. T is the packed element: float, double, uint32_t, uint64_t, or
/// Int16Pair (then k counts pairs).
template <class T>
class LeftOperand {
 public:
  virtual ~LeftOperand() = default;
  /// Part p of element (row + r, k + i) goes to target[p * part_stride + r * row_stride + i].
  /// May overwrite up to kRowSlack elements behind the last row of the last part.
  virtual MagnitudeRange pack_rows(int64_t batch, int64_t row, int64_t rows, int64_t k,
                                   int64_t depth, T* target, int64_t row_stride,
                                   int64_t part_stride) const = 0;
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
};

/// Where results go.
template <class Acc>
class ResultTiles {
 public:
  virtual ~ResultTiles() = default;
  /// Address of element (row, column) if totals may be written to the result as they are, with
  /// rows `direct_stride()` apart and dense columns; null otherwise.
  virtual Acc* direct(int64_t batch, int64_t row, int64_t column) const = 0;
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
