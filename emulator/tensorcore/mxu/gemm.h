// The blocked matrix product: C[b][m][n] = sum over k of left[b][m][k] * right[b][k][n] in the
// declared order, from operands that know how to pack themselves to a result that knows how to
// store tiles.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/tensorcore/mxu/host_kernels.h"
#include "emulator/tensorcore/mxu/numerics.h"

namespace tpu::tensorcore {

/// Packs rows of the left operand. T is the packed element: float, double, uint32_t, uint64_t, or
/// Int16Pair (then k counts pairs).
template <class T>
class LeftOperand {
 public:
  virtual ~LeftOperand() = default;
  /// Part p of element (row + r, k + i) goes to target[p * part_stride + r * row_stride + i].
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
  int64_t batches, m, n, k;
  int64_t depth;  ///< length of a chunk of k
  const LeftOperand<T>& left;
  const RightOperand<T>& right;
  const ResultTiles<Acc>& result;
  int left_parts = 1, right_parts = 1;
  std::span<const Pass> passes;  ///< lhs is left
  const MicroKernels<T, Acc>& kernels;
};

/// Runs the product on up to num_threads() threads.
void run(const Gemm<float>& gemm);
void run(const Gemm<double>& gemm);
void run(const Gemm<uint32_t>& gemm);
void run(const Gemm<uint64_t>& gemm);
void run(const Gemm<Int16Pair, uint32_t>& gemm);

}  // namespace tpu::tensorcore
