// The inner loops that depend on the host's instruction set, as a table chosen at run time. Every
// table gives the same bits: lanes never mix, and fused multiply-add is used only where a product
// is exact (numerics.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "emulator/hlo/types.h"

namespace tpu::tensorcore {

/// Magnitudes met among packed floats, as bit patterns without sign: the smallest that is not zero
/// and the largest. Decides whether products are exact.
struct MagnitudeRange {
  static constexpr uint32_t kInfinity = 0x7f800000;
  uint32_t smallest = 0xffffffff;
  uint32_t largest = 0;

  void merge(const MagnitudeRange& other) {
    if (other.smallest < smallest) smallest = other.smallest;
    if (other.largest > largest) largest = other.largest;
  }
  /// No infinity and no NaN.
  bool is_finite() const { return largest < kInfinity; }
};

/// True if the product of any two numbers of these ranges, of at most 11 significant bits (bf16,
/// f16, fp8), is a float32 without rounding: its last bit is 2^-149 or more and it stays below
/// 2^128. With biased exponents E and F the last bit is at least 2^(E+F-274), the product below
/// 2^(E+F-252).
inline bool products_exact(const MagnitudeRange& a, const MagnitudeRange& b) {
  const auto exponent = [](uint32_t magnitude) {
    const int field = static_cast<int>(magnitude >> 23);
    return field == 0 ? 1 : field;
  };
  const bool no_product = a.largest == 0 || b.largest == 0;
  return no_product ||
         (exponent(a.smallest) + exponent(b.smallest) >= 125 &&
          exponent(a.largest) + exponent(b.largest) <= 380 && a.is_finite() && b.is_finite());
}

/// Most rows a micro-kernel of any table computes.
inline constexpr int kMaxRows = 12;

/// Elements row[offset], ..., row[offset + length - 1] of each row of the left operand are next in
/// the contraction.
struct Segment {
  int64_t offset, length;
};

/// C[r][c] += sum over k, for r < rows and all `columns` of a panel, with the accumulators in
/// registers: acc = 0; acc = acc + left[r][k] * right[k][c], ascending; out = total + acc (or acc
/// alone where `total` is null: acc is never -0, so that equals 0 + acc).
///   left[r] + left_offset: row r, whose `segments` follow each other in k.
///   right: [k][columns] dense. total, out: row r at r * stride; may be the same.
template <class T, class Acc = T>
struct MicroKernels {
  using Function = void (*)(std::span<const Segment> segments, const T* const* left,
                            int64_t left_offset, const T* right, const Acc* total,
                            int64_t total_stride, Acc* out, int64_t out_stride);
  int rows = 0;     ///< of a full tile
  int columns = 0;  ///< of a panel
  /// By number of rows, 1..rows: product rounded, then sum rounded.
  std::array<Function, kMaxRows + 1> plain{};
  /// The same bits if no product needs rounding, perhaps faster.
  std::array<Function, kMaxRows + 1> exact{};
};

/// Most rows of a lane kernel, and of a direct kernel.
inline constexpr int kLaneRows = 4;
inline constexpr int kDirectRows = 8;

/// As a micro-kernel, but every lane has its own pair of operands:
/// acc[r][c] = acc[r][c] + left[r][offsets[k] + c] * right[k * right_stride + c], for `lanes` lanes
/// c, a multiple of `columns`.
struct LaneKernels {
  using Function = void (*)(std::span<const int64_t> offsets, const float* const* left,
                            const float* right, int64_t right_stride, int64_t lanes,
                            const float* total, float* out, int64_t stride);
  int columns = 0;
  std::array<Function, kLaneRows + 1> plain{}, exact{};  ///< by number of rows
};

/// Few rows against a right operand as it lies in memory, rounded on the way (f32 to bf16):
/// out[r * out_stride + c] = sum over k < depth of left[r][k] * right[k][c], for c < columns, one
/// accumulator each. Element (k, c) of `right` is dense in one of k and c, and
/// `right_stride` bytes apart in the other.
using DirectFunction = void (*)(int64_t depth, const float* const* left, const std::byte* right,
                                int64_t right_stride, int64_t columns, float* out,
                                int64_t out_stride);
struct DirectKernels {
  /// By number of rows: 1, 2, 4 and 8.
  std::array<DirectFunction, kDirectRows + 1> dense_columns{}, dense_k{};
};

/// Two 16-bit integers side by side: the unit of 8-bit integer products.
using Int16Pair = int32_t;

/// Where `pack` and friends put a block: element (r, c) of part p at
///   data + p * part_stride + (c / panel) * panel_stride + r * row_stride + c % panel.
struct PackTarget {
  float* data;
  int64_t row_stride;
  int64_t panel, panel_stride;
  int64_t part_stride;
  int parts;  ///< 1, 2 or 3: h, m, l; 1 where the source is not f32
};

/// Reads `rows` x `columns` elements, converts to float, rounds f32 to bf16 or splits it, and
/// stores. Elements are dense in one direction, lines `source_stride` bytes apart in the other.
/// Returns the magnitudes stored.
using PackFunction = MagnitudeRange (*)(const std::byte* source, int64_t source_stride,
                                        int64_t rows, int64_t columns, const PackTarget& target);

/// What is done with one source type.
struct SourceKernels {
  PackFunction pack_dense_columns = nullptr;  ///< element (r, c) at r * source_stride + c * width
  PackFunction pack_dense_rows = nullptr;     ///< element (r, c) at c * source_stride + r * width
  DirectKernels direct;
};

/// Rounds `count` floats to the result's type and stores them densely.
using StoreFunction = void (*)(const float* source, int64_t count, std::byte* target);

/// target[c][r] = source[r][c]; strides in elements.
template <class T>
using TransposeFunction = void (*)(const T* source, int64_t source_stride, int64_t rows,
                                   int64_t columns, T* target, int64_t target_stride);

struct HostKernels {
  std::string_view name;
  MicroKernels<float> f32;
  MicroKernels<double> f64;
  MicroKernels<uint32_t> u32;
  MicroKernels<uint64_t> u64;
  MicroKernels<Int16Pair, uint32_t> pairs;
  LaneKernels lanes;
  SourceKernels from_f32, from_bf16, from_f16;
  StoreFunction store_bf16, store_f16;
  TransposeFunction<float> transpose_f32;

  /// The kernels that read `element`; null for types without any (8-bit floats, f64, integers).
  const SourceKernels* source_kernels(hlo::ElementType element) const;
};

/// The tables this host can run, slowest first; the first needs nothing beyond the compiler's
/// baseline.
std::span<const HostKernels* const> available_host_kernels();

/// The fastest of them, or the one TORCH_TPU_EMULATOR_HOST_ISA names (baseline, avx2, avx512) if
/// the host can run it. Read once.
const HostKernels& host_kernels();

}  // namespace tpu::tensorcore
