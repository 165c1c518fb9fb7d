#include "emulator/tensorcore/mxu/gemm.h"

#include <algorithm>
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
/// With no more rows than this the right operand is packed panel by panel where it is used.
constexpr int64_t kNarrowRows = 256;
/// Bytes of the packed right operand at a time.
constexpr int64_t kPackedBytes = int64_t{32} << 20;

template <class T, class Acc>
class Engine {
 public:
  explicit Engine(const Gemm<T, Acc>& gemm)
      : g_(gemm), nr_(gemm.kernels.columns), depth_(std::min(gemm.depth, gemm.k)) {}

  void run() {
    if (g_.batches == 0 || g_.m == 0 || g_.n == 0) return;
    if (g_.k == 0) return store_zeros();
    if (g_.m <= kNarrowRows) {
      run_narrow();
    } else {
      for (int64_t b = 0; b < g_.batches; ++b) run_wide(b);
    }
  }

 private:
  /// A block of C: rows [row, row + rows) and whole panels of columns, with its packed operands
  /// for one chunk of k.
  struct Block {
    int64_t batch, row, rows, column, columns;
    int64_t k, chunk_depth;
    const T* left;
    int64_t left_stride, left_part_stride;
    MagnitudeRange left_range;
    const T* right;
    int64_t right_panel_stride, right_part_stride;
    const MagnitudeRange* right_ranges;  ///< one a panel
    Acc* totals;
    int64_t totals_panel_stride;
  };

  int64_t chunks() const { return ceil_div(g_.k, g_.depth); }
  int64_t chunk_depth(int64_t chunk) const { return std::min(g_.depth, g_.k - chunk * g_.depth); }

  void store_zeros() {
    const Scratch<Acc> zeros(nr_);
    std::fill_n(zeros.data(), nr_, Acc{});
    for (int64_t b = 0; b < g_.batches; ++b) {
      for (int64_t c = 0; c < g_.n; c += nr_) {
        g_.result.store(b, 0, g_.m, c, std::min<int64_t>(nr_, g_.n - c), zeros.data(), 0);
      }
    }
  }

  /// Adds one chunk to a block's totals; after the last chunk stores the results.
  void multiply(const Block& block) const {
    const bool first = block.k == 0, last = block.k + block.chunk_depth == g_.k;
    const int64_t panels = ceil_div(block.columns, nr_);
    for (int64_t p = 0; p < panels; ++p) {
      const int64_t columns = std::min<int64_t>(nr_, block.columns - p * nr_);
      const bool direct = last && columns == nr_ &&
                          g_.result.direct(block.batch, block.row, block.column) != nullptr;
      const bool exact = products_exact(block.left_range, block.right_ranges[p]);
      const auto& kernels = exact ? g_.kernels.exact : g_.kernels.plain;
      Acc* totals = block.totals + p * block.totals_panel_stride;
      for (int64_t r = 0; r < block.rows; r += g_.kernels.rows) {
        const int64_t rows = std::min<int64_t>(g_.kernels.rows, block.rows - r);
        for (size_t i = 0; i < g_.passes.size(); ++i) {
          const Pass pass = g_.passes[i];
          const bool to_result = direct && i + 1 == g_.passes.size();
          Acc* out = totals + r * nr_;
          const Acc* total = first && i == 0 ? nullptr : out;
          int64_t out_stride = nr_;
          if (to_result) {
            out = g_.result.direct(block.batch, block.row + r, block.column + p * nr_);
            out_stride = g_.result.direct_stride();
          }
          kernels[rows](
              block.chunk_depth,
              block.left + pass.lhs_part * block.left_part_stride + r * block.left_stride,
              block.left_stride,
              block.right + pass.rhs_part * block.right_part_stride + p * block.right_panel_stride,
              total, nr_, out, out_stride);
        }
      }
      if (last && !direct) {
        g_.result.store(block.batch, block.row, block.rows, block.column + p * nr_, columns, totals,
                        nr_);
      }
    }
  }

  /// Few rows: all of the left operand is packed, the right one group of panels at a time into a
  /// buffer that stays in cache, each panel once.
  void run_narrow() {
    const int64_t threads = num_threads();
    const bool shared = g_.batches == 1;
    int64_t columns = shared ? ceil_div(g_.n, 4 * threads) : g_.n;
    columns = std::clamp<int64_t>(ceil_div(columns, nr_) * nr_, 2 * nr_, kColumnBlock / 2);
    const int64_t groups = ceil_div(g_.n, columns);
    const int64_t left_part = g_.m * depth_, left_chunk = left_part * g_.left_parts;
    const Scratch<T> shared_left(shared ? left_chunk * chunks() : 1);
    std::vector<MagnitudeRange> shared_ranges(shared ? chunks() : 0);
    const auto pack_left = [&](int64_t batch, T* to, MagnitudeRange* range, int64_t c) {
      *range =
          g_.left.pack_rows(batch, 0, g_.m, c * g_.depth, chunk_depth(c), to, depth_, left_part);
    };
    if (shared) {
      const int64_t grain = std::max<int64_t>(1, 32768 / left_chunk);
      parallel_for(chunks(), grain, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          pack_left(0, shared_left.data() + c * left_chunk, &shared_ranges[c], c);
        }
      });
    }
    const int64_t work = g_.m * std::min(columns, g_.n) * g_.k;
    const int64_t grain = std::max<int64_t>(1, 65536 / std::max<int64_t>(work, 1));
    parallel_for(g_.batches * groups, grain, [&](int64_t begin, int64_t end) {
      const int64_t panels = columns / nr_;
      const int64_t right_panel = depth_ * nr_, right_part = panels * right_panel;
      const Scratch<T> right(right_part * g_.right_parts);
      const Scratch<T> own_left(shared ? 1 : left_chunk);
      const Scratch<Acc> totals(g_.m * columns);
      std::vector<MagnitudeRange> ranges(panels);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t batch = unit / groups, column = unit % groups * columns;
        const int64_t count = std::min(columns, g_.n - column);
        for (int64_t c = 0; c < chunks(); ++c) {
          MagnitudeRange left_range;
          if (!shared) pack_left(batch, own_left.data(), &left_range, c);
          const MagnitudeRange range =
              g_.right.pack_columns(batch, column, count, c * g_.depth, chunk_depth(c),
                                    right.data(), nr_, right_panel, right_part);
          std::fill(ranges.begin(), ranges.end(), range);
          multiply({batch, 0, g_.m, column, count, c * g_.depth, chunk_depth(c),
                    shared ? shared_left.data() + c * left_chunk : own_left.data(), depth_,
                    left_part, shared ? shared_ranges[c] : left_range, right.data(), right_panel,
                    right_part, ranges.data(), totals.data(), g_.m * nr_});
        }
      }
    });
  }

  /// Many rows: the right operand is packed whole and shared; each thread packs its rows of the
  /// left one chunk at a time.
  void run_wide(int64_t batch) {
    const int64_t column_bytes = g_.k * g_.right_parts * static_cast<int64_t>(sizeof(T));
    const int64_t fitting = kPackedBytes / std::max<int64_t>(column_bytes, 1) / nr_ * nr_;
    const int64_t columns = std::min(ceil_div(g_.n, nr_) * nr_, std::max<int64_t>(fitting, nr_));
    const int64_t panels = columns / nr_, right_panel = depth_ * nr_;
    const int64_t right_part = panels * right_panel, right_chunk = right_part * g_.right_parts;
    const Scratch<T> right(right_chunk * chunks());
    std::vector<MagnitudeRange> ranges(panels * chunks());
    for (int64_t column = 0; column < g_.n; column += columns) {
      const int64_t count = std::min(columns, g_.n - column);
      const int64_t used = ceil_div(count, nr_);
      parallel_for(used * chunks(), 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t c = i / used, p = i % used;
          ranges[c * panels + p] = g_.right.pack_columns(
              batch, column + p * nr_, std::min<int64_t>(nr_, count - p * nr_), c * g_.depth,
              chunk_depth(c), right.data() + c * right_chunk + p * right_panel, nr_, right_panel,
              right_part);
        }
      });
      const int64_t row_units = ceil_div(g_.m, kRowBlock);
      const int64_t column_units = ceil_div(count, kColumnBlock);
      parallel_for(row_units * column_units, 1, [&](int64_t begin, int64_t end) {
        const int64_t left_part = kRowBlock * depth_;
        const Scratch<T> left(left_part * g_.left_parts);
        const Scratch<Acc> totals(kRowBlock * kColumnBlock);
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t row = unit / column_units * kRowBlock;
          const int64_t rows = std::min(kRowBlock, g_.m - row);
          const int64_t first = unit % column_units * kColumnBlock;
          for (int64_t c = 0; c < chunks(); ++c) {
            const MagnitudeRange range = g_.left.pack_rows(
                batch, row, rows, c * g_.depth, chunk_depth(c), left.data(), depth_, left_part);
            multiply({batch, row, rows, column + first, std::min(kColumnBlock, count - first),
                      c * g_.depth, chunk_depth(c), left.data(), depth_, left_part, range,
                      right.data() + c * right_chunk + first / nr_ * right_panel, right_panel,
                      right_part, ranges.data() + c * panels + first / nr_, totals.data(),
                      kRowBlock * nr_});
          }
        }
      });
    }
  }

  const Gemm<T, Acc>& g_;
  const int64_t nr_;
  const int64_t depth_;  ///< of the deepest chunk
};

}  // namespace

void run(const Gemm<float>& gemm) {
  Engine<float, float>(gemm).run();
}
void run(const Gemm<double>& gemm) {
  Engine<double, double>(gemm).run();
}
void run(const Gemm<uint32_t>& gemm) {
  Engine<uint32_t, uint32_t>(gemm).run();
}
void run(const Gemm<uint64_t>& gemm) {
  Engine<uint64_t, uint64_t>(gemm).run();
}
void run(const Gemm<Int16Pair, uint32_t>& gemm) {
  Engine<Int16Pair, uint32_t>(gemm).run();
}

}  // namespace tpu::tensorcore
