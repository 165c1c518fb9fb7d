#include "emulator/tensorcore/mxu/gemm.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/tensorcore/mxu/scratch.h"

namespace tpu::tensorcore {
namespace {

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Rows of a block whose chunk of the left operand (times its totals) is meant to stay in L2.
constexpr int64_t kRowBlock = 96;
constexpr int64_t kColumnBlock = 512;
/// With no more rows than this the right operand is packed panel by panel where it is used, beside
/// a left operand of no more than these bytes.
constexpr int64_t kNarrowRows = 512;
constexpr int64_t kNarrowBytes = int64_t{8} << 20;
/// Bytes of right operand packed at a time (of a few columns, but long: less, to stay in cache
/// between blocks of rows), and of totals kept while more of it is packed.
constexpr int64_t kPackedBytes = int64_t{32} << 20;
constexpr int64_t kLongPackedBytes = int64_t{2} << 20;
constexpr int64_t kTotalBytes = int64_t{64} << 20;
/// Elements of right operand that stay in cache while few rows pass by.
constexpr int64_t kNarrowPanels = 64 << 10;
/// Units of rows for each thread, at least: one that is held up leaves some to the others.
constexpr int64_t kUnits = 4;
/// Products that are not worth a task of their own.
constexpr int64_t kSmallWork = 65536;

template <class T, class Acc>
class Engine {
 public:
  explicit Engine(const Gemm<T, Acc>& gemm)
      : g_(gemm),
        nr_(gemm.kernels.columns),
        k_(gemm.bounds.back()),
        chunks_(static_cast<int64_t>(gemm.bounds.size()) - 1) {
    for (int64_t c = 0; c < chunks_; ++c) depth_ = std::max(depth_, chunk_depth(c));
    if (g_.direct && g_.m > 0 && g_.m <= kDirectRows)
      direct_columns_ = g_.right.direct_columns(g_.m);
  }

  MagnitudeRange run() const {
    if (g_.batches == 0 || g_.m == 0 || g_.n == 0) return {};
    if (k_ == 0) return store_zeros();
    const int64_t left_bytes = g_.m * k_ * g_.plan.parts * static_cast<int64_t>(sizeof(T));
    if (g_.m <= kNarrowRows && (g_.batches > 1 || left_bytes <= kNarrowBytes)) {
      const bool own_left = g_.batches > 1 || g_.n <= narrow_columns(g_.n);
      return own_left ? run_narrow_batches() : run_narrow();
    }
    MagnitudeRange range;
    for (int64_t b = 0; b < g_.batches; ++b) range.merge(run_wide(b));
    return range;
  }

 private:
  /// Right operand, panels packed for one chunk; `ranges` has one element a panel.
  struct Right {
    const T* data;
    int64_t panel_stride, part_stride;
    const MagnitudeRange* ranges;
  };
  /// Totals of a block: rows of panels, these `panel_stride` apart.
  struct Totals {
    Acc* data;
    int64_t panel_stride;
  };
  struct Block {
    int64_t batch, row, rows, column, columns;
  };

  int64_t chunk_depth(int64_t chunk) const { return g_.bounds[chunk + 1] - g_.bounds[chunk]; }
  int64_t whole_panels(int64_t columns) const { return ceil_div(columns, nr_) * nr_; }

  MagnitudeRange store_zeros() const {
    const Scratch<Acc> zeros(nr_);
    std::fill_n(zeros.data(), nr_, Acc{});
    for (int64_t b = 0; b < g_.batches; ++b) {
      for (int64_t c = 0; c < g_.n; c += nr_) {
        g_.result.store(b, 0, g_.m, c, std::min<int64_t>(nr_, g_.n - c), zeros.data(), 0);
      }
    }
    return {};
  }

  LeftView<T> left_view(const Block& block, int64_t chunk, LeftBuffer<T>& buffer) const {
    return g_.left.view(block.batch, block.row, block.rows, g_.bounds[chunk], chunk_depth(chunk),
                        buffer);
  }
  int64_t left_size(int64_t rows) const { return LeftBuffer<T>::size(rows, depth_, g_.plan.parts); }

  /// Adds one chunk to a block's totals; after the last chunk stores the results.
  void multiply(const Block& block, int64_t chunk, const LeftView<T>& left, const Right& right,
                const Totals& block_totals) const {
    const bool last = chunk + 1 == chunks_;
    for (int64_t p = 0; p * nr_ < block.columns; ++p) {
      const int64_t column = block.column + p * nr_;
      const int64_t columns = std::min<int64_t>(nr_, block.columns - p * nr_);
      Acc* totals = block_totals.data + p * block_totals.panel_stride;
      Acc* direct = nullptr;
      if (last && columns == nr_) {
        direct = g_.result.direct(block.batch, block.row, column, nr_);
      }
      multiply_panel(block.rows, chunk, left, right, p, totals, direct);
      if (last && !direct) {
        g_.result.store(block.batch, block.row, block.rows, column, columns, totals, nr_);
      }
    }
  }

  /// One panel of columns; the last pass writes to `direct` if it is not null.
  void multiply_panel(int64_t block_rows, int64_t chunk, const LeftView<T>& left,
                      const Right& right, int64_t panel, Acc* totals, Acc* direct) const {
    const auto& kernels =
        products_exact(left.range, right.ranges[panel]) ? g_.kernels.exact : g_.kernels.plain;
    const T* right_data = right.data + panel * right.panel_stride;
    const int64_t direct_stride = direct ? g_.result.direct_stride() : 0;
    const int64_t tiles = ceil_div(block_rows, g_.kernels.rows);
    for (int64_t r = 0; r < block_rows; r += g_.kernels.rows) {
      const int64_t rows = std::min<int64_t>(g_.kernels.rows, block_rows - r);
      prefetch_slice(right_data + right.panel_stride, right.part_stride, r / g_.kernels.rows,
                     tiles);
      Acc* tile = totals + r * nr_;
      for (size_t i = 0; i < g_.plan.passes.size(); ++i) {
        const Pass pass = g_.plan.passes[i];
        const int left_part = g_.turned ? pass.rhs_part : pass.lhs_part;
        const int right_part = g_.turned ? pass.lhs_part : pass.rhs_part;
        const bool to_result = direct && i + 1 == g_.plan.passes.size();
        kernels[rows](
            left.segments, left.rows + r, left_part * left.part_stride,
            right_data + right_part * right.part_stride, chunk == 0 && i == 0 ? nullptr : tile, nr_,
            to_result ? direct + r * direct_stride : tile, to_result ? direct_stride : nr_);
      }
    }
  }

  /// Asks for slice `slice` of `slices` of a panel that the loop comes to next. It is a hint: the
  /// address may lie behind the last panel.
  void prefetch_slice(const T* panel, int64_t part_stride, int64_t slice, int64_t slices) const {
    constexpr int64_t kLine = 64 / sizeof(T);
    const int64_t lines = depth_ * nr_ / kLine;
    for (int part = 0; part < g_.plan.parts; ++part) {
      for (int64_t i = lines * slice / slices; i < lines * (slice + 1) / slices; ++i) {
        __builtin_prefetch(panel + part * part_stride + i * kLine);
      }
    }
  }

  static MagnitudeRange merged(std::span<const MagnitudeRange> ranges) {
    MagnitudeRange all;
    for (const MagnitudeRange& range : ranges) all.merge(range);
    return all;
  }

  /// Columns of a unit of work with few rows, of which `fair` keep all threads busy.
  int64_t narrow_columns(int64_t fair) const {
    const int64_t most =
        direct_columns_ > 0 ? direct_columns_ : kNarrowPanels / (depth_ * g_.plan.parts);
    return std::max<int64_t>(std::min(whole_panels(fair), most / nr_ * nr_), 2 * nr_);
  }

  /// Few rows: all of the left operand is made ready, then the right one goes by once.
  MagnitudeRange run_narrow() const {
    const int64_t columns = narrow_columns(ceil_div(g_.n, 4 * num_threads()));
    const Block rows{0, 0, g_.m, 0, 0};
    std::vector<LeftBuffer<T>> left_buffers;
    const Scratch<T> left_data(left_size(g_.m) * chunks_);
    for (int64_t c = 0; c < chunks_; ++c) {
      left_buffers.push_back({left_data.data() + c * left_size(g_.m), g_.m, depth_});
    }
    std::vector<LeftView<T>> left(chunks_);
    const int64_t left_grain = std::max<int64_t>(1, 32768 / (g_.m * depth_));
    parallel_for(chunks_, left_grain, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) left[c] = left_view(rows, c, left_buffers[c]);
    });
    const int64_t grain = std::max<int64_t>(1, kSmallWork / (g_.m * columns * k_));
    std::vector<MagnitudeRange> ranges(ceil_div(g_.n, columns));
    parallel_for(std::ssize(ranges), grain, [&](int64_t begin, int64_t end) {
      NarrowBuffers buffers(*this, columns);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t column = unit * columns;
        ranges[unit] = multiply_narrow({0, 0, g_.m, column, std::min(columns, g_.n - column)},
                                       buffers, [&](int64_t chunk) { return left[chunk]; });
      }
    });
    return merged(ranges);
  }

  /// Many small products: each thread packs all of its own.
  MagnitudeRange run_narrow_batches() const {
    const int64_t columns = narrow_columns(g_.n);
    const int64_t grain = std::max<int64_t>(1, kSmallWork / (g_.m * g_.n * k_));
    std::vector<MagnitudeRange> ranges(g_.batches);
    parallel_for(g_.batches, grain, [&](int64_t begin, int64_t end) {
      NarrowBuffers buffers(*this, columns);
      const Scratch<T> left_data(left_size(g_.m));
      LeftBuffer<T> left(left_data.data(), g_.m, depth_);
      for (int64_t batch = begin; batch < end; ++batch) {
        for (int64_t column = 0; column < g_.n; column += columns) {
          const Block block{batch, 0, g_.m, column, std::min(columns, g_.n - column)};
          ranges[batch].merge(multiply_narrow(
              block, buffers, [&](int64_t chunk) { return left_view(block, chunk, left); }));
        }
      }
    });
    return merged(ranges);
  }

  struct NarrowBuffers {
    NarrowBuffers(const Engine& engine, int64_t columns)
        : panel_stride(engine.depth_ * engine.nr_ + kPanelGap),
          right(engine.direct_columns_ > 0
                    ? engine.direct_rows() * columns
                    : columns / engine.nr_ * panel_stride * engine.g_.plan.parts),
          totals(std::max<int64_t>(engine.g_.m, kDirectRows) * columns),
          ranges(columns / engine.nr_) {}
    /// Panels of a power of two bytes would fall on the same cache lines.
    static constexpr int64_t kPanelGap = 16;
    int64_t panel_stride;
    Scratch<T> right;  ///< panels, or sums of a chunk
    Scratch<Acc> totals;
    std::vector<MagnitudeRange> ranges;
  };

  template <class LeftOf>
  MagnitudeRange multiply_narrow(const Block& block, NarrowBuffers& buffers,
                                 const LeftOf& left_of) const {
    if constexpr (std::is_same_v<T, Acc>) {
      if (direct_columns_ > 0) {
        multiply_directly(block, buffers, left_of);
        return {};
      }
    }
    const int64_t part = ceil_div(block.columns, nr_) * buffers.panel_stride;
    MagnitudeRange all;
    for (int64_t c = 0; c < chunks_; ++c) {
      const MagnitudeRange range = g_.right.pack_columns(
          block.batch, block.column, block.columns, g_.bounds[c], chunk_depth(c),
          buffers.right.data(), nr_, buffers.panel_stride, part);
      std::ranges::fill(buffers.ranges, range);
      all.merge(range);
      multiply(block, c, left_of(c),
               {buffers.right.data(), buffers.panel_stride, part, buffers.ranges.data()},
               {buffers.totals.data(), g_.m * nr_});
    }
    return all;
  }

  /// A block whose right operand is read where it lies.
  template <class LeftOf>
  void multiply_directly(const Block& block, NarrowBuffers& buffers, const LeftOf& left_of) const {
    Acc *const totals = buffers.totals.data(), *const sums = buffers.right.data();
    for (int64_t c = 0; c < chunks_; ++c) {
      // The kernels know powers of two: the last row is computed again and thrown away.
      const LeftView<T> left = left_of(c);
      const T* rows[kDirectRows];
      for (int64_t r = 0; r < direct_rows(); ++r) rows[r] = left.rows[std::min(r, g_.m - 1)];
      g_.right.multiply_few_rows(block.batch, block.column, block.columns, g_.bounds[c],
                                 chunk_depth(c), rows, direct_rows(), c == 0 ? totals : sums,
                                 block.columns);
      if (c == 0) continue;
      for (int64_t i = 0; i < g_.m * block.columns; ++i) totals[i] = totals[i] + sums[i];
    }
    g_.result.store(block.batch, block.row, block.rows, block.column, block.columns, totals,
                    block.columns);
  }
  int64_t direct_rows() const { return static_cast<int64_t>(std::bit_ceil<uint64_t>(g_.m)); }

  /// Many rows: as much of the right operand as kPackedBytes hold is packed and shared; each
  /// thread packs its rows of the left one chunk at a time.
  MagnitudeRange run_wide(int64_t batch) const {
    const int64_t chunk_column_bytes = depth_ * g_.plan.parts * static_cast<int64_t>(sizeof(T));
    const int64_t fitting = kPackedBytes / (chunk_column_bytes * chunks_) / nr_ * nr_;
    WidePlan plan;
    plan.columns = std::min(whole_panels(g_.n), std::max(fitting, kColumnBlock));
    const int64_t round_bytes = plan.columns < kColumnBlock ? kLongPackedBytes : kPackedBytes;
    plan.chunks =
        std::clamp<int64_t>(round_bytes / (chunk_column_bytes * plan.columns), 1, chunks_);
    plan.rows = g_.m;
    if (plan.chunks < chunks_) {
      const int64_t fitting_rows = kTotalBytes / (plan.columns * static_cast<int64_t>(sizeof(Acc)));
      plan.rows = std::min(g_.m, std::max(fitting_rows, kRowBlock));
    }
    const Scratch<T> right(plan.columns * depth_ * g_.plan.parts * plan.chunks);
    const Scratch<Acc> totals(plan.chunks < chunks_ ? plan.rows * plan.columns : 1);
    plan.right = right.data();
    plan.totals = totals.data();
    plan.ranges.resize(plan.columns / nr_ * plan.chunks);
    MagnitudeRange all;
    for (int64_t column = 0; column < g_.n; column += plan.columns) {
      for (int64_t row = 0; row < g_.m; row += plan.rows) {
        const Block block{batch, row, std::min(plan.rows, g_.m - row), column,
                          std::min(plan.columns, g_.n - column)};
        for (int64_t chunk = 0; chunk < chunks_; chunk += plan.chunks) {
          const int64_t end = std::min(chunks_, chunk + plan.chunks);
          if (row == 0 || plan.chunks < chunks_) {
            pack_wide(block, chunk, end, plan);
            all.merge(merged(plan.ranges));
          }
          multiply_wide(block, chunk, end, plan);
        }
      }
    }
    return all;
  }

  /// How much of the product one round covers, and its shared memory.
  struct WidePlan {
    int64_t rows, columns, chunks;
    T* right;
    Acc* totals;  ///< used if a round does not cover all chunks
    std::vector<MagnitudeRange> ranges;
  };

  Right wide_right(const WidePlan& plan, int64_t chunk, int64_t column) const {
    const int64_t panel = depth_ * nr_, part = plan.columns * depth_;
    return {plan.right + chunk * part * g_.plan.parts + column * depth_, panel, part,
            plan.ranges.data() + (chunk * plan.columns + column) / nr_};
  }

  void pack_wide(const Block& block, int64_t first_chunk, int64_t end_chunk, WidePlan& plan) const {
    // A panel's chunks one after another: those of a convolution's kernel lie between each other.
    const int64_t panels = ceil_div(block.columns, nr_), chunks = end_chunk - first_chunk;
    parallel_for(panels * chunks, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t chunk = i % chunks, column = i / chunks * nr_;
        const Right right = wide_right(plan, chunk, column);
        plan.ranges[right.ranges - plan.ranges.data()] = g_.right.pack_columns(
            block.batch, block.column + column, std::min<int64_t>(nr_, block.columns - column),
            g_.bounds[first_chunk + chunk], chunk_depth(first_chunk + chunk),
            const_cast<T*>(right.data), nr_, right.panel_stride, right.part_stride);
      }
    });
  }

  /// Rows cut into units of whole tiles, as equal as those allow.
  struct RowUnits {
    int64_t rows, tile, count;
    int64_t begin(int64_t unit) const {
      return std::min(rows, ceil_div(rows, tile) * unit / count * tile);
    }
    int64_t largest() const { return ceil_div(ceil_div(rows, tile), count) * tile; }
  };

  /// Of up to kRowBlock rows, and as many for each thread.
  RowUnits row_units(int64_t rows, int64_t column_units) const {
    const int64_t tile = g_.kernels.rows, threads = num_threads();
    int64_t count = ceil_div(rows, kRowBlock / tile * tile);
    if (threads > 1) {
      count = std::max(count, ceil_div(kUnits * threads, column_units));
      if (column_units % threads != 0) count = ceil_div(count, threads) * threads;
    }
    return {rows, tile, std::min(count, ceil_div(rows, tile))};
  }

  void multiply_wide(const Block& all, int64_t first_chunk, int64_t end_chunk,
                     const WidePlan& plan) const {
    const int64_t column_units = ceil_div(all.columns, kColumnBlock);
    const RowUnits units = row_units(all.rows, column_units);
    const int64_t rows = units.largest();
    const bool complete = end_chunk - first_chunk == chunks_;
    parallel_for(units.count * column_units, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> left_data(left_size(rows));
      LeftBuffer<T> left(left_data.data(), rows, depth_);
      const Scratch<Acc> own_totals(complete ? rows * kColumnBlock : 1);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t row = units.begin(unit / column_units);
        const int64_t column = unit % column_units * kColumnBlock;
        const Block block{all.batch, all.row + row, units.begin(unit / column_units + 1) - row,
                          all.column + column, std::min(kColumnBlock, all.columns - column)};
        const Totals totals =
            complete ? Totals{own_totals.data(), rows * nr_}
                     : Totals{plan.totals + column * plan.rows + row * nr_, plan.rows * nr_};
        for (int64_t c = first_chunk; c < end_chunk; ++c) {
          multiply(block, c, left_view(block, c, left), wide_right(plan, c - first_chunk, column),
                   totals);
        }
      }
    });
  }

  const Gemm<T, Acc>& g_;
  const int64_t nr_;  ///< columns of a panel
  const int64_t k_;
  const int64_t chunks_;
  int64_t depth_ = 0;           ///< of the deepest chunk
  int64_t direct_columns_ = 0;  ///< RightOperand::direct_columns, for few rows
};

}  // namespace

std::vector<int64_t> even_bounds(int64_t k, int64_t depth) {
  std::vector<int64_t> bounds = {0};
  for (int64_t end = 0; end < k;) bounds.push_back(end = std::min(k, end + depth));
  return bounds;
}

MagnitudeRange run(const Gemm<float>& gemm) {
  return Engine<float, float>(gemm).run();
}
MagnitudeRange run(const Gemm<double>& gemm) {
  return Engine<double, double>(gemm).run();
}
MagnitudeRange run(const Gemm<uint32_t>& gemm) {
  return Engine<uint32_t, uint32_t>(gemm).run();
}
MagnitudeRange run(const Gemm<uint64_t>& gemm) {
  return Engine<uint64_t, uint64_t>(gemm).run();
}
MagnitudeRange run(const Gemm<Int16Pair, uint32_t>& gemm) {
  return Engine<Int16Pair, uint32_t>(gemm).run();
}

}  // namespace tpu::tensorcore
