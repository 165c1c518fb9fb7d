#include "emulator/memory/tiled_layout.h"

#include <algorithm>
#include <cassert>

namespace tpu::memory {
namespace {

constexpr int64_t kLanes = 128;
constexpr int64_t kSublanes = 8;
constexpr int64_t kWordBits = 32;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Bits an element takes in HBM: a boolean is a whole word.
int64_t stored_bits(hlo::ElementType element) {
  if (hlo::is_boolean(element)) return kWordBits;
  return std::max(1, hlo::bit_width(element));
}

// Rows of the tile of an array with `second_minor` rows. Packed rows share words, so a tile cannot
// have fewer rows than `packing`.
int64_t tile_rows(int64_t second_minor, int64_t packing, ShortTiles short_tiles) {
  int64_t rows = kSublanes;
  if (short_tiles == ShortTiles::kAllow) {
    if (second_minor <= 2) {
      rows = 2;
    } else if (second_minor <= 4) {
      rows = 4;
    }
  }
  return std::max(rows, packing);
}

}  // namespace

Tiling choose_tiling(hlo::ElementType element, std::span<const int64_t> shape,
                     ShortTiles short_tiles) {
  const int64_t bits = stored_bits(element);
  Tiling tiling;
  tiling.packing = std::max<int64_t>(1, kWordBits / bits);
  tiling.planes = std::max<int64_t>(1, bits / kWordBits);
  if (shape.size() < 2) {
    tiling.lanes = kLanes * tiling.packing;
    tiling.packing = 1;
    return tiling;
  }
  tiling.lanes = kLanes;
  tiling.rows = tile_rows(shape[shape.size() - 2], tiling.packing, short_tiles);
  return tiling;
}

int64_t padded_bytes(hlo::ElementType element, std::span<const int64_t> shape,
                     ShortTiles short_tiles) {
  const Tiling tiling = choose_tiling(element, shape, short_tiles);
  const size_t rank = shape.size();
  int64_t elements = round_up(rank == 0 ? 1 : shape[rank - 1], tiling.lanes);
  if (rank >= 2) elements *= round_up(shape[rank - 2], tiling.rows);
  for (size_t i = 0; i + 2 < rank; ++i) elements *= shape[i];
  // Per plane a packed element has its own bits, anything wider a word.
  const int64_t bits = std::min(stored_bits(element), kWordBits);
  return elements * bits / 8 * tiling.planes;
}

int64_t linear_index(const Tiling& tiling, std::span<const int64_t> shape,
                     std::span<const int64_t> index) {
  assert(index.size() == shape.size());
  const size_t rank = shape.size();
  const int64_t column = rank == 0 ? 0 : index[rank - 1];
  const int64_t row = rank < 2 ? 0 : index[rank - 2];
  const int64_t tiles_across =
      round_up(rank == 0 ? 1 : shape[rank - 1], tiling.lanes) / tiling.lanes;
  const int64_t tiles_down = rank < 2 ? 1 : round_up(shape[rank - 2], tiling.rows) / tiling.rows;

  int64_t matrix = 0;  // which of the two-dimensional slices, row-major over the major dimensions
  for (size_t i = 0; i + 2 < rank; ++i) matrix = matrix * shape[i] + index[i];
  const int64_t tile =
      (matrix * tiles_down + row / tiling.rows) * tiles_across + column / tiling.lanes;

  const int64_t row_in_tile = row % tiling.rows;
  const int64_t group = row_in_tile / tiling.packing;
  const int64_t in_tile = (group * tiling.lanes + column % tiling.lanes) * tiling.packing +
                          row_in_tile % tiling.packing;
  return tile * tiling.rows * tiling.lanes + in_tile;
}

}  // namespace tpu::memory
