#include "emulator/compiler/passes/index_map.h"

#include <gtest/gtest.h>

namespace tpu::compiler {
namespace {

// variable_0 * 12 + variable_1 for sizes 4 and 12: the position in an array of 4 x 12.
const std::vector<LoopVariable> kVariables = {{4, 4, 0}, {12, 12, 0}};

DimIndex position(std::vector<IndexTerm> terms, int64_t offset = 0) {
  DimIndex index;
  index.offset = offset;
  for (const IndexTerm& term : terms) index.add(term.variable, term.coefficient);
  return index;
}

TEST(IndexMap, AddsTermsInOrderAndDropsZeros) {
  DimIndex index;
  index.add(3, 2);
  index.add(1, 5);
  index.add(3, -2);
  EXPECT_EQ(index.terms, (std::vector<IndexTerm>{{1, 5}}));
}

TEST(IndexMap, LinearizesRowMajor) {
  IndexMap map(2);
  map[0].add(0, 1);
  map[1].add(1, 1);
  map[1].offset = 7;
  const hlo::Dims shape{4, 20};
  const DimIndex linear = linearize(map, shape);
  EXPECT_EQ(linear.offset, 7);
  EXPECT_EQ(linear.terms, (std::vector<IndexTerm>{{0, 20}, {1, 1}}));
}

TEST(IndexMap, DelinearizesMergedDimensions) {
  const hlo::Dims shape{48};
  const DelinearizeResult result = delinearize(position({{0, 12}, {1, 1}}), shape, kVariables);
  ASSERT_TRUE(result.map);
  EXPECT_EQ((*result.map)[0].terms, (std::vector<IndexTerm>{{0, 12}, {1, 1}}));
}

TEST(IndexMap, AsksToSplitAVariableThatSpansTwoDimensions) {
  const hlo::Dims shape{4, 3, 4};
  const DelinearizeResult result = delinearize(position({{0, 12}, {1, 1}}), shape, kVariables);
  EXPECT_FALSE(result.map);
  ASSERT_TRUE(result.split);
  EXPECT_EQ(result.split->variable, 1);
  EXPECT_EQ(result.split->inner, 4);
}

TEST(IndexMap, GivesUpWhereTheIndexIsNotAffine) {
  const hlo::Dims shape{6, 8};  // 12 and 8 have no common grid
  const DelinearizeResult result = delinearize(position({{0, 12}, {1, 1}}), shape, kVariables);
  EXPECT_FALSE(result.map);
  EXPECT_FALSE(result.split);
}

TEST(IndexMap, KeepsOffsetsWithinADimension) {
  const hlo::Dims shape{10, 24};
  const std::vector<LoopVariable> variables = {{12, 12, 0}};
  const DelinearizeResult fits = delinearize(position({{0, 1}}, 24 * 3 + 5), shape, variables);
  ASSERT_TRUE(fits.map);
  EXPECT_EQ((*fits.map)[0].offset, 3);
  EXPECT_EQ((*fits.map)[1].offset, 5);
  EXPECT_FALSE(delinearize(position({{0, 1}}, 24 * 3 + 13), shape, variables).map)
      << "the last elements are in the next row";
}

TEST(IndexMap, ReshapeThatOnlyMovesOnesKeepsRunTimeStarts) {
  IndexMap map(2);
  map[1].add(0, -1);
  map[1].dynamic_offsets = {3};
  const hlo::Dims to{1, 5}, from{5, 1, 1};
  const std::vector<LoopVariable> variables = {{5, 5, 0}};
  const DelinearizeResult result = through_reshape(map, to, from, variables);
  ASSERT_TRUE(result.map);
  EXPECT_EQ((*result.map)[0], map[1]);
  EXPECT_EQ((*result.map)[1], DimIndex{});
}

TEST(IndexMap, CoversOnlyWhatVisitsEachElementOnce) {
  const hlo::Dims shape{4, 12};
  IndexMap map(2);
  map[0].add(0, 1);
  map[1].add(1, 1);
  EXPECT_TRUE(covers(map, shape, kVariables));
  map[1].offset = 1;
  EXPECT_FALSE(covers(map, shape, kVariables)) << "an offset leaves out the first column";
  map[1] = position({{1, 2}});
  EXPECT_FALSE(covers(map, shape, kVariables)) << "every other column";
  map[1] = position({{0, 1}});
  EXPECT_FALSE(covers(map, shape, kVariables)) << "a diagonal";
}

TEST(IndexMap, CoversInPieces) {
  // The upper piece [4, 12) of a dimension of 12.
  const std::vector<LoopVariable> variables = {{8, 12, 4}};
  IndexMap map(1);
  map[0].add(0, 1);
  map[0].offset = 4;
  const hlo::Dims shape{12};
  EXPECT_TRUE(covers(map, shape, variables));
}

}  // namespace
}  // namespace tpu::compiler
