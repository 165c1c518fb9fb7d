// Operands and results of a product that lie in memory as strided tensors.
#pragma once

#include <cstddef>

#include "emulator/hlo/types.h"
#include "emulator/tensorcore/mxu/gemm.h"
#include "emulator/tensorcore/mxu/strided_axis.h"

namespace tpu::tensorcore {

/// Where a batch of matrices lies: `lines` is the operand's own axis (rows of the left operand,
/// columns of the right), `k` the contraction. Axes count elements of `element_stride` bytes, so
/// that the parts of a complex type can be addressed.
struct StridedMatrix {
  hlo::ElementType element;
  const std::byte* data;
  int64_t element_stride;
  StridedAxis batch, lines, k;
};

/// Packs a strided matrix, as the left or the right operand.
template <class T>
class StridedOperand final : public LeftOperand<T>, public RightOperand<T> {
 public:
  /// `plan` tells whether and how float elements are split.
  StridedOperand(const StridedMatrix& matrix, const PassPlan& plan, const HostKernels& host)
      : matrix_(matrix), plan_(plan), host_(host) {}

  LeftView<T> view(int64_t batch, int64_t row, int64_t rows, int64_t k, int64_t depth,
                   LeftBuffer<T>& buffer) const override;
  MagnitudeRange pack_columns(int64_t batch, int64_t column, int64_t columns, int64_t k,
                              int64_t depth, T* target, int64_t panel, int64_t panel_stride,
                              int64_t part_stride) const override;
  int64_t direct_columns(int64_t rows) const override;
  void multiply_few_rows(int64_t batch, int64_t column, int64_t columns, int64_t k, int64_t depth,
                         const T* const* left, int64_t rows, T* sums,
                         int64_t sums_stride) const override;

  /// Packs rows: part p of element (row + r, k + i) goes to
  /// target[p * part_stride + r * row_stride + i]. `offset`, in elements, stands for the batch.
  MagnitudeRange pack_rows(int64_t offset, int64_t row, int64_t rows, int64_t k, int64_t depth,
                           T* target, int64_t row_stride, int64_t part_stride) const;

 private:
  MagnitudeRange pack_panel(int64_t offset, int64_t column, int64_t columns, int64_t k,
                            int64_t depth, T* target, int64_t panel) const;

  const StridedMatrix& matrix_;
  PassPlan plan_;
  const HostKernels& host_;
};

struct StridedResult {
  hlo::ElementType element;
  std::byte* data;
  int64_t element_stride;
  StridedAxis batch, rows, columns;
};

/// Stores totals as elements of a strided tensor, rounded or wrapped to its type.
template <class Acc>
class StridedTiles final : public ResultTiles<Acc> {
 public:
  StridedTiles(const StridedResult& result, const HostKernels& host);

  Acc* direct(int64_t batch, int64_t row, int64_t column, int64_t columns) const override;
  int64_t direct_stride() const override { return result_.rows.stride(); }
  void store(int64_t batch, int64_t row, int64_t rows, int64_t column, int64_t columns,
             const Acc* totals, int64_t stride) const override;

 private:
  const StridedResult& result_;
  const HostKernels& host_;
  bool direct_;
};

}  // namespace tpu::tensorcore
