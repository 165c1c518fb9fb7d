#include "emulator/compiler/kernels/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

struct Dimension {
  int64_t size, source, target;
};

// Drops dimensions of size 1, orders the rest by the target's strides and joins neighbours that
// are one dimension on both sides.
std::vector<Dimension> merged(std::span<const int64_t> shape, std::span<const int64_t> source,
                              std::span<const int64_t> target) {
  std::vector<Dimension> dims;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) dims.push_back({shape[d], source[d], target[d]});
  }
  std::stable_sort(dims.begin(), dims.end(), [](const Dimension& a, const Dimension& b) {
    return std::abs(a.target) > std::abs(b.target);
  });
  std::vector<Dimension> joined;
  for (const Dimension& dim : dims) {
    if (!joined.empty() && joined.back().source == dim.size * dim.source &&
        joined.back().target == dim.size * dim.target) {
      joined.back() = {joined.back().size * dim.size, dim.source, dim.target};
    } else {
      joined.push_back(dim);
    }
  }
  return joined;
}

template <class T>
void copy_row(const T* source, int64_t source_stride, T* target, int64_t target_stride, int64_t n) {
  if (target_stride == 1 && source_stride == 1) {
    std::memcpy(target, source, static_cast<size_t>(n) * sizeof(T));
  } else if (target_stride == 1 && source_stride == 0) {
    std::fill_n(target, n, *source);
  } else {
    for (int64_t i = 0; i < n; ++i) target[i * target_stride] = source[i * source_stride];
  }
}

template <class T, int64_t kSide>
void write_transposed(const T (&square)[kSide][kSide], T* target, int64_t target_stride) {
  if constexpr (sizeof(T) == 4) {
    // Four by four, by interleaving twice.
    using Four = uint32_t __attribute__((vector_size(16)));
    const auto row = [&](int64_t k, int64_t i) {
      Four four;
      std::memcpy(&four, &square[k][i], sizeof four);
      return four;
    };
    for (int64_t i = 0; i < kSide; i += 4) {
      for (int64_t k = 0; k < kSide; k += 4) {
        const Four a = row(k, i), b = row(k + 1, i), c = row(k + 2, i), d = row(k + 3, i);
        const Four ac = __builtin_shufflevector(a, c, 0, 4, 1, 5);
        const Four ac_high = __builtin_shufflevector(a, c, 2, 6, 3, 7);
        const Four bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
        const Four bd_high = __builtin_shufflevector(b, d, 2, 6, 3, 7);
        const Four across[] = {__builtin_shufflevector(ac, bd, 0, 4, 1, 5),
                               __builtin_shufflevector(ac, bd, 2, 6, 3, 7),
                               __builtin_shufflevector(ac_high, bd_high, 0, 4, 1, 5),
                               __builtin_shufflevector(ac_high, bd_high, 2, 6, 3, 7)};
        for (int64_t r = 0; r < 4; ++r) {
          std::memcpy(target + (i + r) * target_stride + k, &across[r], sizeof across[r]);
        }
      }
    }
  } else {
    for (int64_t i = 0; i < kSide; ++i) {
      for (int64_t k = 0; k < kSide; ++k) target[i * target_stride + k] = square[k][i];
    }
  }
}

// target[r * target_stride + j] = source[j * source_stride + r] for r < rows and j < n. Squares of
// a cache line's side go through a buffer: lines far apart, which may all fall into one set of the
// cache, are then read once and written once.
template <class T>
void transpose_block(const T* source, int64_t source_stride, T* target, int64_t target_stride,
                     int64_t rows, int64_t n) {
  constexpr int64_t kSide = std::max<int64_t>(64 / sizeof(T), 8);
  T square[kSide][kSide];
  for (int64_t r = 0; r < rows; r += kSide) {
    for (int64_t j = 0; j < n; j += kSide) {
      const T* from = source + j * source_stride + r;
      T* to = target + r * target_stride + j;
      if (rows - r >= kSide && n - j >= kSide) {
        for (int64_t k = 0; k < kSide; ++k) {
          std::memcpy(square[k], from + k * source_stride, sizeof square[k]);
        }
        write_transposed(square, to, target_stride);
        continue;
      }
      const int64_t height = std::min(kSide, rows - r), width = std::min(kSide, n - j);
      for (int64_t i = 0; i < height; ++i) {
        for (int64_t k = 0; k < width; ++k) to[i * target_stride + k] = from[k * source_stride + i];
      }
    }
  }
}

constexpr int64_t kBlock = 64;          // side of a transposed block, in elements
constexpr int64_t kRowBytes = 1 << 16;  // long rows are cut for the threads

}  // namespace

CopyPlan::CopyPlan(int width, std::span<const int64_t> shape,
                   std::span<const int64_t> source_strides, std::span<const int64_t> target_strides)
    : width_(width), count_(hlo::num_elements(shape)) {
  for (const Dimension& dim : merged(shape, source_strides, target_strides)) {
    shape_.push_back(dim.size);
    source_strides_.push_back(dim.source);
    target_strides_.push_back(dim.target);
  }
  choose_row();
  outer_ = hlo::num_elements(shape_);
  units_ = outer_ * ((row_ + row_block_ - 1) / row_block_) *
           ((column_ + column_block_ - 1) / column_block_);
}

void CopyPlan::choose_row() {
  const auto take = [this](size_t d, int64_t& size, int64_t& source, int64_t& target) {
    size = shape_[d];
    source = source_strides_[d];
    target = target_strides_[d];
    shape_.erase(shape_.begin() + static_cast<ptrdiff_t>(d));
    source_strides_.erase(source_strides_.begin() + static_cast<ptrdiff_t>(d));
    target_strides_.erase(target_strides_.begin() + static_cast<ptrdiff_t>(d));
  };
  if (count_ == 0) {
    row_ = 0;
    return;
  }
  if (shape_.empty()) return;
  take(shape_.size() - 1, row_, row_source_, row_target_);
  row_block_ = std::max<int64_t>(kRowBytes / width_, 1);
  if (std::abs(row_source_) <= 1) return;

  // The source runs along another dimension: walk both in blocks that stay in the cache.
  for (size_t d = shape_.size(); d-- > 0;) {
    if (source_strides_[d] == 1) {
      take(d, column_, column_source_, column_target_);
      row_block_ = column_block_ = kBlock;
      return;
    }
  }
}

void CopyPlan::run_units(const std::byte* source, std::byte* target, int64_t begin,
                         int64_t end) const {
  const int64_t row_blocks = (row_ + row_block_ - 1) / row_block_;
  const int64_t column_blocks = (column_ + column_block_ - 1) / column_block_;
  const int64_t blocks = row_blocks * column_blocks;
  Odometer<2> at(shape_, {source_strides_, target_strides_}, begin / blocks);
  int64_t block = begin % blocks;
  visit_width(width_, [&]<class T>(std::type_identity<T>) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t i = block / row_blocks * column_block_;
      const int64_t j = block % row_blocks * row_block_;
      const int64_t rows = std::min(column_block_, column_ - i);
      const int64_t length = std::min(row_block_, row_ - j);
      const T* from =
          reinterpret_cast<const T*>(source) + at.offset(0) + i * column_source_ + j * row_source_;
      T* to = reinterpret_cast<T*>(target) + at.offset(1) + i * column_target_ + j * row_target_;
      if (column_source_ == 1 && row_target_ == 1) {
        transpose_block(from, row_source_, to, column_target_, rows, length);
      } else {
        for (int64_t r = 0; r < rows; ++r) {
          copy_row(from + r * column_source_, row_source_, to + r * column_target_, row_target_,
                   length);
        }
      }
      if (++block == blocks) {
        block = 0;
        at.next();
      }
    }
  });
}

void CopyPlan::run(const std::byte* source, std::byte* target) const {
  if (count_ == 0) return;
  if (contiguous()) {
    std::memcpy(target, source, static_cast<size_t>(count_ * width_));
    return;
  }
  run_units(source, target, 0, units_);
}

void CopyPlan::run_parallel(const std::byte* source, std::byte* target) const {
  if (count_ == 0) return;
  const int64_t bytes_per_unit = std::max<int64_t>(count_ / units_, 1) * width_;
  parallel_for(units_, grain_for_bytes(bytes_per_unit),
               [&](int64_t begin, int64_t end) { run_units(source, target, begin, end); });
}

void copy_strided(int width, std::span<const int64_t> shape, const std::byte* source,
                  std::span<const int64_t> source_strides, std::byte* target,
                  std::span<const int64_t> target_strides) {
  CopyPlan(width, shape, source_strides, target_strides).run_parallel(source, target);
}

void copy(const ConstView& source, const View& target) {
  if (source.data == target.data && std::ranges::equal(source.strides, target.strides)) return;
  copy_strided(hlo::byte_width(target.element), target.shape, source.data, source.strides,
               target.data, target.strides);
}

void fill(const std::byte* value, const View& target) {
  const Dims zeros(target.shape.size(), 0);
  copy_strided(hlo::byte_width(target.element), target.shape, value, zeros, target.data,
               target.strides);
}

}  // namespace tpu::compiler::kernels
