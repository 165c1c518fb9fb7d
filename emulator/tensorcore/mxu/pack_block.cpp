#include "emulator/tensorcore/mxu/pack_block.h"

#include <algorithm>
#include <array>

#include "emulator/tensorcore/mxu/element.h"

namespace tpu::tensorcore {
namespace {

using hlo::ElementType;

/// Elements of a block that is reordered in a buffer on the stack.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 32;

PackFunction pack_function(ElementType element, const HostKernels& host) {
  switch (element) {
    case ElementType::kF32:
      return host.pack_f32;
    case ElementType::kBF16:
      return host.pack_bf16;
    case ElementType::kF16:
      return host.pack_f16;
    default:
      return nullptr;  // 8-bit floats have no dense path
  }
}

/// The target of the sub-block that starts at (row, column); `column` begins a panel or the block
/// fits in one panel.
PackTarget advanced(const PackTarget& target, int64_t row, int64_t column) {
  PackTarget result = target;
  result.data +=
      row * target.row_stride + column / target.panel * target.panel_stride + column % target.panel;
  return result;
}

MagnitudeRange pack_transposed(const SourceBlock& source, const PackTarget& target,
                               PackFunction pack, const HostKernels& host) {
  alignas(64) float buffer[3 * kBlockRows * kBlockColumns];
  MagnitudeRange range;
  const int64_t step = std::min(kBlockColumns, target.panel);
  for (int64_t c = 0; c < source.columns;) {
    // A block never crosses the end of a panel.
    const int64_t columns = std::min({step, source.columns - c, target.panel - c % target.panel});
    for (int64_t r = 0; r < source.rows; r += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, source.rows - r);
      const std::byte* from = source.data + r * source.row_stride + c * source.column_stride;
      range.merge(pack(from, source.column_stride, columns, rows,
                       {buffer, kBlockRows, rows, 0, kBlockRows * kBlockColumns, target.parts}));
      const PackTarget to = advanced(target, r, c);
      for (int p = 0; p < target.parts; ++p) {
        host.transpose_f32(buffer + p * kBlockRows * kBlockColumns, kBlockRows, columns, rows,
                           to.data + p * target.part_stride, target.row_stride);
      }
    }
    c += columns;
  }
  return range;
}

/// All codes of an 8-bit format as floats, which bf16 holds exactly.
std::array<float, 256> float8_values(ElementType element) {
  std::array<float, 256> values;
  for (int code = 0; code < 256; ++code) {
    values[code] = f8_to_float(static_cast<uint8_t>(code), float8_format(element));
  }
  return values;
}

const std::array<float, 256>& float8_table(ElementType element) {
  static const std::array<std::array<float, 256>, 5> tables = {
      float8_values(ElementType::kF8E4M3FN), float8_values(ElementType::kF8E5M2),
      float8_values(ElementType::kF8E4M3FNUZ), float8_values(ElementType::kF8E5M2FNUZ),
      float8_values(ElementType::kF8E4M3B11FNUZ)};
  return tables[static_cast<int>(element) - static_cast<int>(ElementType::kF8E4M3FN)];
}

/// Collects rows of dense elements with `read`, then packs those.
template <class Element, class Read>
MagnitudeRange pack_gathered(const SourceBlock& source, const PackTarget& target, PackFunction pack,
                             const Read& read) {
  Element buffer[kBlockRows];
  MagnitudeRange range;
  for (int64_t r = 0; r < source.rows; ++r) {
    for (int64_t c = 0; c < source.columns;) {
      const int64_t columns =
          std::min({kBlockRows, source.columns - c, target.panel - c % target.panel});
      const std::byte* from = source.data + r * source.row_stride + c * source.column_stride;
      for (int64_t i = 0; i < columns; ++i) buffer[i] = read(from + i * source.column_stride);
      range.merge(
          pack(reinterpret_cast<const std::byte*>(buffer), 0, 1, columns, advanced(target, r, c)));
      c += columns;
    }
  }
  return range;
}

}  // namespace

MagnitudeRange pack_block(const SourceBlock& source, const PackTarget& target, bool splits,
                          const HostKernels& host) {
  const PackFunction pack = pack_function(source.element, host);
  const int64_t width = hlo::byte_width(source.element);
  if (!pack) {
    const auto& table = float8_table(source.element);
    return pack_gathered<float>(source, target, host.pack_f32, [&](const std::byte* from) {
      return table[static_cast<uint8_t>(*from)];
    });
  }
  if (splits && source.element != ElementType::kF32) {
    return pack_gathered<float>(source, target, host.pack_f32, [&](const std::byte* from) {
      return static_cast<float>(load_float(source.element, from));
    });
  }
  const bool dense_rows = source.row_stride == width && source.rows > 1;
  if (dense_rows && (source.columns == 1 || source.column_stride != width)) {
    return pack_transposed(source, target, pack, host);
  }
  if (source.column_stride == width || source.columns == 1) {
    return pack(source.data, source.row_stride, source.rows, source.columns, target);
  }
  if (width == 4) return pack_gathered<uint32_t>(source, target, pack, load_as<uint32_t>);
  return pack_gathered<uint16_t>(source, target, pack, load_as<uint16_t>);
}

}  // namespace tpu::tensorcore
