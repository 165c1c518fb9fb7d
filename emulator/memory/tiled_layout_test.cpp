#include "emulator/memory/tiled_layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace tpu::memory {
namespace {

using hlo::Dims;
using enum hlo::ElementType;

double factor(hlo::ElementType element, const Dims& shape, ShortTiles tiles = ShortTiles::kAllow) {
  const hlo::TensorType type{element, shape};
  return static_cast<double>(padded_bytes(element, shape, tiles)) /
         static_cast<double>(type.num_bytes());
}

// Factors that users of TPUs know from their out-of-memory reports.
TEST(TiledLayout, FootprintFactors) {
  EXPECT_DOUBLE_EQ(factor(kF32, {12, 320}), 1.6);
  EXPECT_DOUBLE_EQ(factor(kF32, {4096, 64}), 2.0);
  EXPECT_DOUBLE_EQ(factor(kF32, {1, 4096}), 2.0);
  EXPECT_DOUBLE_EQ(factor(kF32, {1, 4096}, ShortTiles::kForbid), 8.0);
  EXPECT_DOUBLE_EQ(factor(kF32, {8, 128, 1, 1}, ShortTiles::kForbid), 1024.0);
  EXPECT_DOUBLE_EQ(factor(kF32, {3, 3, 64, 64}), 2.0);
  EXPECT_DOUBLE_EQ(factor(kF32, {1000, 1000}), 1.024);
  EXPECT_DOUBLE_EQ(factor(kF32, {1024, 1024}), 1.0);
}

TEST(TiledLayout, TilesByElementType) {
  const Dims matrix{64, 256};
  EXPECT_EQ(choose_tiling(kF32, matrix), (Tiling{8, 128, 1, 1}));
  EXPECT_EQ(choose_tiling(kBF16, matrix), (Tiling{8, 128, 2, 1}));
  EXPECT_EQ(choose_tiling(kSI8, matrix), (Tiling{8, 128, 4, 1}));
  EXPECT_EQ(choose_tiling(kSI4, matrix), (Tiling{8, 128, 8, 1}));
  EXPECT_EQ(choose_tiling(kI1, matrix), (Tiling{8, 128, 1, 1}));
  EXPECT_EQ(choose_tiling(kSI64, matrix), (Tiling{8, 128, 1, 2}));
  EXPECT_EQ(choose_tiling(kComplexF64, matrix), (Tiling{8, 128, 1, 4}));
}

TEST(TiledLayout, ShortSecondMinorDimension) {
  EXPECT_EQ(choose_tiling(kF32, Dims{1, 5}).rows, 2);
  EXPECT_EQ(choose_tiling(kF32, Dims{2, 5}).rows, 2);
  EXPECT_EQ(choose_tiling(kF32, Dims{3, 5}).rows, 4);
  EXPECT_EQ(choose_tiling(kF32, Dims{4, 5}).rows, 4);
  EXPECT_EQ(choose_tiling(kF32, Dims{5, 5}).rows, 8);
  EXPECT_EQ(choose_tiling(kSI8, Dims{1, 5}).rows, 4) << "four rows share a word";
}

TEST(TiledLayout, OneDimensionAndScalars) {
  EXPECT_EQ(padded_bytes(kF32, Dims{}), 512);
  EXPECT_EQ(padded_bytes(kF32, Dims{1}), 512);
  EXPECT_EQ(padded_bytes(kF32, Dims{129}), 1024);
  EXPECT_EQ(padded_bytes(kBF16, Dims{256}), 512);
  EXPECT_EQ(padded_bytes(kBF16, Dims{257}), 1024);
  EXPECT_EQ(padded_bytes(kSI8, Dims{512}), 512);
  EXPECT_EQ(padded_bytes(kI1, Dims{256}), 1024) << "a boolean takes a word";
  EXPECT_EQ(padded_bytes(kF64, Dims{128}), 1024);
  EXPECT_EQ(padded_bytes(kF32, Dims{0}), 0);
  EXPECT_EQ(padded_bytes(kF32, Dims{0, 7}), 0);
  EXPECT_EQ(padded_bytes(kF32, Dims{0, 7, 7}), 0);
}

TEST(TiledLayout, NeverSmallerThanTheDataAndWholeTiles) {
  for (hlo::ElementType element : {kI1, kSI8, kBF16, kF32, kF64, kComplexF32, kComplexF64}) {
    for (int64_t rows : {1, 2, 3, 4, 5, 8, 9, 31}) {
      for (int64_t columns : {1, 127, 128, 129, 300}) {
        const Dims shape{3, rows, columns};
        const int64_t bytes = padded_bytes(element, shape);
        EXPECT_GE(bytes, (hlo::TensorType{element, shape}.num_bytes()));
        EXPECT_EQ(bytes % 512, 0);
      }
    }
  }
}

// The definition: pad to whole tiles, reshape so that each tiled dimension becomes (tile number,
// position in the tile), move positions behind tile numbers; then the same once more for packing.
std::vector<int64_t> by_pad_reshape_transpose(const Tiling& t, int64_t slices, int64_t rows,
                                              int64_t columns) {
  const int64_t down = (rows + t.rows - 1) / t.rows, across = (columns + t.lanes - 1) / t.lanes;
  std::vector<int64_t> memory;  // index of the element at each place, -1 for padding
  for (int64_t s = 0; s < slices; ++s)
    for (int64_t i = 0; i < down; ++i)
      for (int64_t j = 0; j < across; ++j)
        for (int64_t group = 0; group < t.rows / t.packing; ++group)
          for (int64_t lane = 0; lane < t.lanes; ++lane)
            for (int64_t part = 0; part < t.packing; ++part) {
              const int64_t row = i * t.rows + group * t.packing + part;
              const int64_t column = j * t.lanes + lane;
              const bool real = row < rows && column < columns;
              memory.push_back(real ? (s * rows + row) * columns + column : -1);
            }
  return memory;
}

TEST(TiledLayout, LinearIndexIsPadReshapeTranspose) {
  for (hlo::ElementType element : {kF32, kBF16, kSI8}) {
    for (int64_t rows : {1, 3, 8, 13}) {
      for (int64_t columns : {1, 128, 200}) {
        const Dims shape{2, rows, columns};
        const Tiling tiling = choose_tiling(element, shape);
        const auto memory = by_pad_reshape_transpose(tiling, 2, rows, columns);
        EXPECT_EQ(static_cast<int64_t>(memory.size()) * hlo::byte_width(element),
                  padded_bytes(element, shape));
        for (int64_t s = 0; s < 2; ++s) {
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t c = 0; c < columns; ++c) {
              const int64_t place = linear_index(tiling, shape, Dims{s, r, c});
              ASSERT_EQ(memory[static_cast<size_t>(place)], (s * rows + r) * columns + c);
            }
          }
        }
      }
    }
  }
}

// A 3x5 array in 2x2 tiles is padded to 4x6 and laid out tile by tile; element (2,3) is then in
// tile (1,1) of 2x3 tiles, its second place in the first row.
TEST(TiledLayout, SmallWorkedExample) {
  const Tiling two_by_two{2, 2, 1, 1};
  const Dims shape{3, 5};
  EXPECT_EQ(linear_index(two_by_two, shape, Dims{0, 0}), 0);
  EXPECT_EQ(linear_index(two_by_two, shape, Dims{0, 1}), 1);
  EXPECT_EQ(linear_index(two_by_two, shape, Dims{1, 0}), 2);
  EXPECT_EQ(linear_index(two_by_two, shape, Dims{0, 2}), 4);
  EXPECT_EQ(linear_index(two_by_two, shape, Dims{2, 3}), 17);
}

}  // namespace
}  // namespace tpu::memory
