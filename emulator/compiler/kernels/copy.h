// Strided copies: what slice, transpose, broadcast, pad, concatenate and layout changes are made
// of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// A copy between two layouts of one shape, analysed once and run on many addresses. Dimensions
/// are merged where both sides allow it; then rows are moved by memcpy, fills, blocked transposes
/// or a strided loop.
class CopyPlan {
 public:
  /// Strides count elements of `width` bytes (1, 2, 4, 8, 16). Source strides may be 0.
  CopyPlan(int width, std::span<const int64_t> shape, std::span<const int64_t> source_strides,
           std::span<const int64_t> target_strides);

  /// Source and target must not overlap, and be aligned to the element.
  void run(const std::byte* source, std::byte* target) const;
  /// The same on all threads.
  void run_parallel(const std::byte* source, std::byte* target) const;

  int64_t count() const { return count_; }
  int width() const { return width_; }
  /// True if the whole copy is one run of adjacent elements on both sides.
  bool contiguous() const {
    return count_ > 0 && shape_.empty() && row_source_ == 1 && row_target_ == 1;
  }

 private:
  void choose_row();
  void run_units(const std::byte* source, std::byte* target, int64_t begin, int64_t end) const;

  int width_;
  int64_t count_ = 1;
  hlo::Dims shape_, source_strides_, target_strides_;  // outer dimensions
  // The innermost dimension, and for transposes the one before it; cut in blocks.
  int64_t row_ = 1, row_source_ = 1, row_target_ = 1;
  int64_t column_ = 1, column_source_ = 0, column_target_ = 0;
  int64_t row_block_ = 1, column_block_ = 1;
  int64_t outer_ = 1, units_ = 1;
};

/// Copies once, on all threads.
void copy_strided(int width, std::span<const int64_t> shape, const std::byte* source,
                  std::span<const int64_t> source_strides, std::byte* target,
                  std::span<const int64_t> target_strides);
/// Shapes and widths must agree. Nothing happens if both are the same memory and layout.
void copy(const ConstView& source, const View& target);
/// Sets all elements of `target` to the one at `value`.
void fill(const std::byte* value, const View& target);

// Kernels.
void broadcast_in_dim(const KernelCall& call);
void concatenate(const KernelCall& call);
void dynamic_slice(const KernelCall& call);
void dynamic_update_slice(const KernelCall& call);
void pad(const KernelCall& call);
void reverse(const KernelCall& call);
void slice(const KernelCall& call);
void transpose(const KernelCall& call);

}  // namespace tpu::compiler::kernels
