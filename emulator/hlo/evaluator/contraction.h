// Sums of products: dot_general and convolution, in the order that decides their bits.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/evaluator/element.h"

namespace tpu::hlo {

/// How products are summed.
struct ContractionSpec {
  /// Products of f32 operands run as this many passes over bf16 parts: 1 (DEFAULT), 3 (HIGH) or
  /// 6 (HIGHEST).
  int passes = 1;
  /// Length of the chunks that are summed on their own: the depth of the chip's MXU.
  int64_t depth = 128;
  ElementType result = ElementType::kF32;
};

/// The passes for a `precision_config`: the most precise of the operands' settings.
int passes(const EnumValues& precision_config);

/// Sum over k of lhs[k] * rhs[k].
///
/// Floats: k is cut into chunks of `depth`. Within a chunk acc = 0, acc += a * b in ascending
/// order, product and sum rounded to f32; then total += acc, chunks in ascending order, from 0. The
/// total is rounded to the result type once. f64 operands: the same in f64. f32 operands are split
/// into bf16 parts x = h + m + l: h = bf16(x), m = bf16(x - h), l = bf16(x
/// - h - m), with m = l = 0 if h is not finite. For each chunk the passes run from the smallest
/// products to the largest, (l,h) (m,m) (h,l) (m,h) (h,m) (h,h), (m,h) (h,m) (h,h) or (h,h); each
/// pass has its own acc, added to the total.
/// Integers: wrapping in the result type; i1: or of ands.
/// Complex: (re re - im im, re im + im re), each of the four a sum as above; f32 parts use 6
/// passes.
Element contract(std::span<const Element> lhs, std::span<const Element> rhs,
                 const ContractionSpec& spec);

/// k is row-major over the contracting dimensions in their listed order. Result dimensions: batch,
/// lhs's others, rhs's others.
Literal evaluate_dot_general(const Literal& lhs, const Literal& rhs,
                             const DotDimensionNumbers& numbers, const ContractionSpec& spec,
                             const TensorType& result_type);

struct ConvolutionSpec {
  Dims window_strides;
  IntMatrix padding;  ///< one row (low, high) a spatial dimension
  Dims lhs_dilation, rhs_dilation;
  std::vector<bool> window_reversal;
  ConvDimensionNumbers numbers;
  int64_t feature_group_count = 1, batch_group_count = 1;
};

/// k is row-major over window positions (kernel spatial dimensions in their listed order), then
/// over the input features of the group. A position in padding or a hole keeps its number but adds
/// +0, whatever the kernel holds there: an infinity or a NaN must not show where there is no input.
Literal evaluate_convolution(const Literal& lhs, const Literal& rhs, const ConvolutionSpec& window,
                             const ContractionSpec& spec, const TensorType& result_type);

}  // namespace tpu::hlo
