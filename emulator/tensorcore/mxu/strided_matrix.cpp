#include "emulator/tensorcore/mxu/strided_matrix.h"

#include <cmath>
#include <type_traits>

#include "emulator/tensorcore/mxu/element.h"
#include "emulator/tensorcore/mxu/pack_block.h"

namespace tpu::tensorcore {
namespace {

using hlo::ElementType;

/// Packs float blocks of a matrix whose rows and columns are axes of a tensor.
class AxisPacker {
 public:
  AxisPacker(const StridedMatrix& matrix, int64_t offset, const StridedAxis& rows,
             const StridedAxis& columns, const PassPlan& plan, const HostKernels& host)
      : element_(matrix.element),
        data_(matrix.data + offset * matrix.element_stride),
        width_(matrix.element_stride),
        rows_(rows),
        columns_(columns),
        splits_(plan.splits),
        host_(host) {}

  /// Rows [row, row + count) and columns [column, column + column_count) to `target`.
  MagnitudeRange pack(int64_t row, int64_t count, int64_t column, int64_t column_count,
                      const PackTarget& target) const {
    MagnitudeRange range;
    if (!rows_.is_interleaved()) {
      rows_.for_each_run(row, row + count, [&](int64_t r, int64_t offset, int64_t length) {
        range.merge(pack_rows({offset, rows_.stride(), length}, column, column_count,
                              at_row(target, r - row)));
      });
      return range;
    }
    for (int64_t r = row; r < row + count;) {
      const int64_t left = row + count - r, inner = rows_.run();
      const int64_t repeats = r % inner == 0 ? std::min(left / inner, rows_.repeats_from(r)) : 0;
      if (repeats > 1) {
        // Dense runs land `inner` rows apart.
        PackTarget lines = at_row(target, r - row);
        lines.row_stride *= inner;
        for (int64_t i = 0; i < inner; ++i, lines.data += target.row_stride) {
          range.merge(pack_rows({rows_.offset(r + i), 1, repeats}, column, column_count, lines));
        }
        r += repeats * inner;
      } else {
        const int64_t length = std::min(left, rows_.run_from(r));
        range.merge(pack_rows({rows_.offset(r), rows_.stride(), length}, column, column_count,
                              at_row(target, r - row)));
        r += length;
      }
    }
    return range;
  }

 private:
  /// Rows evenly apart.
  struct Rows {
    int64_t offset, stride, count;
  };

  static PackTarget at_row(const PackTarget& target, int64_t row) {
    PackTarget result = target;
    result.data += row * target.row_stride;
    return result;
  }

  MagnitudeRange pack_rows(const Rows& rows, int64_t column, int64_t column_count,
                           const PackTarget& target) const {
    MagnitudeRange range;
    columns_.for_each_run(
        column, column + column_count, [&](int64_t c, int64_t offset, int64_t length) {
          // A run may start inside a panel: cut it there.
          for (int64_t done = 0; done < length;) {
            const int64_t at = c - column + done, inside = at % target.panel;
            const int64_t count =
                inside == 0 ? length - done : std::min(length - done, target.panel - inside);
            PackTarget to = target;
            to.data += at / target.panel * target.panel_stride + inside;
            const int64_t from = rows.offset + offset + done * columns_.stride();
            range.merge(pack_block({element_, data_ + from * width_, rows.stride * width_,
                                    columns_.stride() * width_, rows.count, count},
                                   to, splits_, host_));
            done += count;
          }
        });
    return range;
  }

  hlo::ElementType element_;
  const std::byte* data_;
  int64_t width_;
  const StridedAxis& rows_;
  const StridedAxis& columns_;
  bool splits_;
  const HostKernels& host_;
};

/// Calls `body(read)` with a function that reads one element of `type` as a T.
template <class T, class Body>
void with_reader(ElementType type, const Body& body) {
  if constexpr (std::is_same_v<T, double>) {
    if (type == ElementType::kF64) return body(load_as<double>);
    body([type](const std::byte* from) { return load_float(type, from); });
  } else {
    switch (type) {
      case ElementType::kSI4:
      case ElementType::kSI8:
        return body([](const std::byte* from) { return static_cast<T>(load_as<int8_t>(from)); });
      case ElementType::kI1:
      case ElementType::kUI4:
      case ElementType::kUI8:
        return body([](const std::byte* from) { return static_cast<T>(load_as<uint8_t>(from)); });
      case ElementType::kSI32:
      case ElementType::kUI32:
        return body([type](const std::byte* from) {
          const uint32_t bits = load_as<uint32_t>(from);
          return type == ElementType::kSI32 ? static_cast<T>(static_cast<int32_t>(bits))
                                            : static_cast<T>(bits);
        });
      default:
        body([type](const std::byte* from) { return static_cast<T>(load_integer(type, from)); });
    }
  }
}

/// Writes element (line, k) with `put(i, j, value)`, line and k relative to the block.
template <class T, class Put>
void read_block(const StridedMatrix& matrix, int64_t offset, int64_t line, int64_t lines, int64_t k,
                int64_t depth, const Put& put) {
  const int64_t width = matrix.element_stride;
  const std::byte* data = matrix.data + offset * width;
  with_reader<T>(matrix.element, [&](const auto& read) {
    matrix.k.for_each_run(k, k + depth, [&](int64_t j, int64_t k_offset, int64_t k_count) {
      matrix.lines.for_each_run(line, line + lines, [&](int64_t i, int64_t offset, int64_t count) {
        const std::byte* from = data + (k_offset + offset) * width;
        const int64_t k_step = matrix.k.stride() * width;
        const int64_t step = matrix.lines.stride() * width;
        for (int64_t b = 0; b < k_count; ++b) {
          for (int64_t a = 0; a < count; ++a) {
            put(i - line + a, j - k + b, read(from + b * k_step + a * step));
          }
        }
      });
    });
  });
}

/// A pair's low and high half as integers: k counts pairs, and a missing last half is 0.
template <class Put>
void read_pairs(const StridedMatrix& matrix, int64_t offset, int64_t line, int64_t lines, int64_t k,
                int64_t depth, const Put& put) {
  const int64_t halves = std::min(2 * depth, matrix.k.size() - 2 * k);
  read_block<int16_t>(matrix, offset, line, lines, 2 * k, halves, put);
  if (halves < 2 * depth) {
    for (int64_t i = 0; i < lines; ++i) put(i, halves, int16_t{0});
  }
}

}  // namespace

template <class T>
LeftView<T> StridedOperand<T>::view(int64_t batch, int64_t row, int64_t rows, int64_t k,
                                    int64_t depth, LeftBuffer<T>& buffer) const {
  return buffer.packed(rows, depth,
                       pack_rows(matrix_.batch.offset(batch), row, rows, k, depth, buffer.data(),
                                 buffer.depth(), rows * buffer.depth()));
}

template <class T>
MagnitudeRange StridedOperand<T>::pack_rows(int64_t offset, int64_t row, int64_t rows, int64_t k,
                                            int64_t depth, T* target, int64_t row_stride,
                                            int64_t part_stride) const {
  if constexpr (std::is_same_v<T, float>) {
    return AxisPacker(matrix_, offset, matrix_.lines, matrix_.k, plan_, host_)
        .pack(row, rows, k, depth, {target, row_stride, depth, 0, part_stride, plan_.parts});
  } else if constexpr (std::is_same_v<T, Int16Pair>) {
    auto* halves = reinterpret_cast<int16_t*>(target);
    read_pairs(matrix_, offset, row, rows, k, depth, [&](int64_t i, int64_t j, int16_t value) {
      halves[2 * i * row_stride + j] = value;
    });
  } else {
    read_block<T>(matrix_, offset, row, rows, k, depth,
                  [&](int64_t i, int64_t j, T value) { target[i * row_stride + j] = value; });
  }
  return {};
}

template <class T>
MagnitudeRange StridedOperand<T>::pack_columns(int64_t batch, int64_t column, int64_t columns,
                                               int64_t k, int64_t depth, T* target, int64_t panel,
                                               int64_t panel_stride, int64_t part_stride) const {
  if (const int64_t ragged = columns % panel) {
    for (int p = 0; p < plan_.parts; ++p) {
      T* last = target + p * part_stride + columns / panel * panel_stride;
      for (int64_t i = 0; i < depth; ++i) {
        std::fill(last + i * panel + ragged, last + (i + 1) * panel, T{});
      }
    }
  }
  const int64_t offset = matrix_.batch.offset(batch);
  if constexpr (std::is_same_v<T, float>) {
    return AxisPacker(matrix_, offset, matrix_.k, matrix_.lines, plan_, host_)
        .pack(k, depth, column, columns,
              {target, panel, panel, panel_stride, part_stride, plan_.parts});
  } else {
    MagnitudeRange range;
    for (int64_t c = 0; c < columns; c += panel, target += panel_stride) {
      range.merge(
          pack_panel(offset, column + c, std::min(panel, columns - c), k, depth, target, panel));
    }
    return range;
  }
}

template <class T>
MagnitudeRange StridedOperand<T>::pack_panel(int64_t offset, int64_t column, int64_t columns,
                                             int64_t k, int64_t depth, T* target,
                                             int64_t panel) const {
  MagnitudeRange range;
  if constexpr (std::is_same_v<T, Int16Pair>) {
    auto* halves = reinterpret_cast<int16_t*>(target);
    read_pairs(matrix_, offset, column, columns, k, depth,
               [&](int64_t i, int64_t j, int16_t value) {
                 halves[2 * (j / 2 * panel + i) + j % 2] = value;
               });
  } else {
    read_block<T>(matrix_, offset, column, columns, k, depth, [&](int64_t i, int64_t j, T value) {
      target[j * panel + i] = value;
      if constexpr (std::is_same_v<T, double>) {
        if (!std::isfinite(value)) range.largest = MagnitudeRange::kInfinity;
      }
    });
  }
  return range;
}

template <class T>
int64_t StridedOperand<T>::direct_columns(int64_t rows) const {
  // Dense columns: lines long enough to stream, with their sums in cache. Dense k: a few lines,
  // each read to its end.
  constexpr int64_t kSums = 4096, kLines = 32;
  if (!std::is_same_v<T, float> || !host_.source_kernels(matrix_.element)) return 0;
  const bool widened = plan_.splits && matrix_.element != ElementType::kF32;
  if (widened || plan_.parts > 1 || !matrix_.k.is_single() || !matrix_.lines.is_single() ||
      matrix_.element_stride != hlo::byte_width(matrix_.element)) {
    return 0;
  }
  if (matrix_.k.stride() == 1) return kLines;
  return matrix_.lines.stride() == 1 ? kSums / rows : 0;
}

template <class T>
void StridedOperand<T>::multiply_few_rows(int64_t batch, int64_t column, int64_t columns, int64_t k,
                                          int64_t depth, const T* const* left, int64_t rows,
                                          T* sums, int64_t sums_stride) const {
  if constexpr (std::is_same_v<T, float>) {
    const DirectKernels& kernels = host_.source_kernels(matrix_.element)->direct;
    const int64_t width = matrix_.element_stride;
    const std::byte* from =
        matrix_.data +
        (matrix_.batch.offset(batch) + matrix_.k.offset(k) + matrix_.lines.offset(column)) * width;
    const bool dense_k = matrix_.k.stride() == 1;
    const StridedAxis& other = dense_k ? matrix_.lines : matrix_.k;
    (dense_k ? kernels.dense_k : kernels.dense_columns)[rows](
        depth, left, from, other.stride() * width, columns, sums, sums_stride);
  }
}

template class StridedOperand<float>;
template class StridedOperand<double>;
template class StridedOperand<uint32_t>;
template class StridedOperand<uint64_t>;
template class StridedOperand<Int16Pair>;

namespace {

template <class Acc>
bool same_element(ElementType element) {
  if constexpr (std::is_same_v<Acc, float>) return element == ElementType::kF32;
  if constexpr (std::is_same_v<Acc, double>) return element == ElementType::kF64;
  return hlo::is_integer(element) && hlo::byte_width(element) == sizeof(Acc);
}

template <class Acc>
void store_element(ElementType element, std::byte* to, Acc value) {
  if constexpr (std::is_floating_point_v<Acc>) {
    store_float(element, to, value);
  } else {
    store_integer(element, to, element == ElementType::kI1 ? value != 0 : value);
  }
}

/// A block of totals, rows `stride` apart, and its place: element (r, c) at
/// to + r * row_step + c * column_step bytes.
template <class Acc>
struct TileBlock {
  const Acc* totals;
  int64_t stride, rows, columns;
  std::byte* to;
  int64_t row_step, column_step;
};

template <class Acc>
void store_elements(ElementType element, const TileBlock<Acc>& block) {
  for (int64_t r = 0; r < block.rows; ++r) {
    for (int64_t c = 0; c < block.columns; ++c) {
      store_element(element, block.to + r * block.row_step + c * block.column_step,
                    block.totals[r * block.stride + c]);
    }
  }
}

void store_rows(ElementType element, const TileBlock<float>& block, const HostKernels& host) {
  const StoreFunction store = element == ElementType::kBF16 ? host.store_bf16 : host.store_f16;
  for (int64_t r = 0; r < block.rows; ++r) {
    const float* from = block.totals + r * block.stride;
    std::byte* to = block.to + r * block.row_step;
    if (element == ElementType::kF32) {
      std::memcpy(to, from, block.columns * sizeof(float));
    } else {
      store(from, block.columns, to);
    }
  }
}

/// Dense rows: transposes, then stores the columns as rows.
void store_columns(ElementType element, const TileBlock<float>& block, const HostKernels& host) {
  constexpr int64_t kColumns = 32, kRows = 96;
  if (element == ElementType::kF32 && block.column_step % 4 == 0) {
    return host.transpose_f32(block.totals, block.stride, block.rows, block.columns,
                              reinterpret_cast<float*>(block.to), block.column_step / 4);
  }
  float buffer[kColumns * kRows];
  for (int64_t r = 0; r < block.rows; r += kRows) {
    for (int64_t c = 0; c < block.columns; c += kColumns) {
      const int64_t rows = std::min(kRows, block.rows - r);
      const int64_t columns = std::min(kColumns, block.columns - c);
      host.transpose_f32(block.totals + r * block.stride + c, block.stride, rows, columns, buffer,
                         kRows);
      store_rows(
          element,
          {buffer, kRows, columns, rows, block.to + r * block.row_step + c * block.column_step,
           block.column_step, block.row_step},
          host);
    }
  }
}

void store_block(ElementType element, const TileBlock<float>& block, const HostKernels& host) {
  const bool fast =
      element == ElementType::kF32 || element == ElementType::kBF16 || element == ElementType::kF16;
  const int64_t width = hlo::byte_width(element);
  if (fast && (block.column_step == width || block.columns == 1)) {
    store_rows(element, block, host);
  } else if (fast && block.row_step == width && block.stride != 0) {
    store_columns(element, block, host);
  } else {
    store_elements(element, block);
  }
}

template <class Acc>
void store_block(ElementType element, const TileBlock<Acc>& block, const HostKernels&) {
  store_elements(element, block);
}

}  // namespace

template <class Acc>
StridedTiles<Acc>::StridedTiles(const StridedResult& result, const HostKernels& host)
    : result_(result),
      host_(host),
      direct_(same_element<Acc>(result.element) && result.element_stride == sizeof(Acc) &&
              result.rows.is_single() && result.columns.stride() == 1) {}

template <class Acc>
Acc* StridedTiles<Acc>::direct(int64_t batch, int64_t row, int64_t column, int64_t columns) const {
  if (!direct_ || result_.columns.run_from(column) < columns) return nullptr;
  return reinterpret_cast<Acc*>(result_.data) + result_.batch.offset(batch) +
         result_.rows.offset(row) + result_.columns.offset(column);
}

template <class Acc>
void StridedTiles<Acc>::store(int64_t batch, int64_t row, int64_t rows, int64_t column,
                              int64_t columns, const Acc* totals, int64_t stride) const {
  const int64_t width = result_.element_stride;
  std::byte* data = result_.data + result_.batch.offset(batch) * width;
  result_.rows.for_each_run(row, row + rows, [&](int64_t r, int64_t row_offset, int64_t count) {
    result_.columns.for_each_run(
        column, column + columns, [&](int64_t c, int64_t column_offset, int64_t column_count) {
          store_block(
              result_.element,
              TileBlock<Acc>{totals + (r - row) * stride + (c - column), stride, count,
                             column_count, data + (row_offset + column_offset) * width,
                             result_.rows.stride() * width, result_.columns.stride() * width},
              host_);
        });
  });
}

template class StridedTiles<float>;
template class StridedTiles<double>;
template class StridedTiles<uint32_t>;
template class StridedTiles<uint64_t>;

}  // namespace tpu::tensorcore
