#include "emulator/tensorcore/mxu/pack_block.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "emulator/tensorcore/mxu/element.h"

namespace tpu::tensorcore {
namespace {

using hlo::ElementType;

/// A block that is gathered in a buffer before it is converted.
constexpr int64_t kGatheredRows = 64;
constexpr int64_t kGatheredColumns = 32;

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

/// `lines` lines of `count` elements each, dense in the buffer.
template <class Element, class Read>
void gather(const std::byte* from, int64_t line_stride, int64_t lines, int64_t stride,
            int64_t count, const Read& read, Element* buffer) {
  for (int64_t i = 0; i < lines; ++i, from += line_stride, buffer += count) {
    for (int64_t j = 0; j < count; ++j) buffer[j] = read(from + j * stride);
  }
}

/// Collects blocks of dense elements with `read`, then packs those. The nearer neighbours follow
/// each other in the buffer: a line of the source serves several reads, and a long stride, under
/// which few sets of the cache are reached, is stepped over seldom.
template <class Element, class Read>
MagnitudeRange pack_gathered(const SourceBlock& source, const PackTarget& target,
                             const SourceKernels& kernels, const Read& read) {
  Element buffer[kGatheredRows * kGatheredColumns];
  const auto* data = reinterpret_cast<const std::byte*>(buffer);
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Element));
  const bool rows_near = std::abs(source.row_stride) < std::abs(source.column_stride);
  MagnitudeRange range;
  for (int64_t c = 0; c < source.columns;) {
    const int64_t in_panel = c % target.panel;
    const int64_t columns =
        std::min({kGatheredColumns, source.columns - c, target.panel - in_panel});
    for (int64_t r = 0; r < source.rows; r += kGatheredRows) {
      const int64_t rows = std::min(kGatheredRows, source.rows - r);
      const std::byte* from = source.data + r * source.row_stride + c * source.column_stride;
      PackTarget to = target;
      to.data += r * target.row_stride + c / target.panel * target.panel_stride + in_panel;
      if (rows_near) {
        gather(from, source.column_stride, columns, source.row_stride, rows, read, buffer);
        range.merge(kernels.pack_dense_rows(data, rows * kWidth, rows, columns, to));
      } else {
        gather(from, source.row_stride, rows, source.column_stride, columns, read, buffer);
        range.merge(kernels.pack_dense_columns(data, columns * kWidth, rows, columns, to));
      }
    }
    c += columns;
  }
  return range;
}

}  // namespace

MagnitudeRange pack_block(const SourceBlock& source, const PackTarget& target, bool splits,
                          const HostKernels& host) {
  const SourceKernels* kernels = host.source_kernels(source.element);
  const int64_t width = hlo::byte_width(source.element);
  if (!kernels) {
    const auto& table = float8_table(source.element);
    return pack_gathered<float>(source, target, host.from_f32, [&](const std::byte* from) {
      return table[static_cast<uint8_t>(*from)];
    });
  }
  if (splits && source.element != ElementType::kF32) {
    return pack_gathered<float>(source, target, host.from_f32, [&](const std::byte* from) {
      return static_cast<float>(load_float(source.element, from));
    });
  }
  const bool dense_rows = source.row_stride == width && source.rows > 1;
  if (dense_rows && (source.columns == 1 || source.column_stride != width)) {
    return kernels->pack_dense_rows(source.data, source.column_stride, source.rows, source.columns,
                                    target);
  }
  if (source.column_stride == width || source.columns == 1) {
    return kernels->pack_dense_columns(source.data, source.row_stride, source.rows, source.columns,
                                       target);
  }
  if (width == 4) {
    return pack_gathered<uint32_t>(source, target, *kernels,
                                   [](const std::byte* from) { return load_as<uint32_t>(from); });
  }
  return pack_gathered<uint16_t>(source, target, *kernels,
                                 [](const std::byte* from) { return load_as<uint16_t>(from); });
}

}  // namespace tpu::tensorcore
