// How an array lies in the chip's HBM: in tiles, padded. Decides what an allocation really costs.
//
// The emulator keeps arrays dense and row-major; this file only does the sums of the real layout.
// Formulas: XLA's documentation page "Tiled layout" (pad, reshape, transpose); the tile sizes are
// the ones a TPU's compiler chooses by default before v7.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/hlo/types.h"

namespace tpu::memory {

/// One level of tiling of an array's two minor dimensions, in elements; then, inside a tile,
/// `packing` rows share one 32-bit word: f32 (8,128), bf16 (8,128)(2,1), i8 (8,128)(4,1).
struct Tiling {
  int64_t rows = 1;
  int64_t lanes = 128;
  int64_t packing = 1;
  /// Words of 32 bits one element takes: 1, except 2 for 64-bit and 4 for 128-bit elements, which
  /// lie in as many planes.
  int64_t planes = 1;
  bool operator==(const Tiling&) const = default;
};

/// Whether a short second-minor dimension gets a shorter tile (2 x 128 for 1 or 2 rows, 4 x 128
/// for 3 or 4), as by default, or always 8 rows.
enum class ShortTiles : uint8_t { kAllow, kForbid };

/// The tile of an array. A scalar is tiled as an array of one element; arrays of rank 1 tile by
/// 128 x packing.
Tiling choose_tiling(hlo::ElementType element, std::span<const int64_t> shape,
                     ShortTiles short_tiles = ShortTiles::kAllow);

/// Bytes the array takes in HBM, padding included; 0 if it has no elements. A multiple of 512.
int64_t padded_bytes(hlo::ElementType element, std::span<const int64_t> shape,
                     ShortTiles short_tiles = ShortTiles::kAllow);

/// Bytes of plain memory rounded up to a whole one-dimensional tile (512).
constexpr int64_t padded_plain_bytes(int64_t bytes) {
  return (bytes + 511) & ~int64_t{511};
}

/// Position of an element in one plane of the padded array, counted in elements, in memory order:
/// row-major over the tiles, inside a tile over groups of `packing` rows, lanes, and rows of the
/// group. `index` has the rank of `shape`.
int64_t linear_index(const Tiling& tiling, std::span<const int64_t> shape,
                     std::span<const int64_t> index);

}  // namespace tpu::memory
