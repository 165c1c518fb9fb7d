// Affine index maps: which element of a value a point of a loop's domain needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/hlo/types.h"

namespace tpu::compiler {

/// One variable's share of an index: `coefficient * variable`.
struct IndexTerm {
  int variable;
  int64_t coefficient;
  bool operator==(const IndexTerm&) const = default;
};

/// offset + sum of terms + sum of run-time starts (nodes of the loop kernel).
struct DimIndex {
  int64_t offset = 0;
  std::vector<IndexTerm> terms;      ///< by variable, ascending; no zero coefficients
  std::vector<int> dynamic_offsets;  ///< node ids of clamped start indices
  bool operator==(const DimIndex&) const = default;

  void add(int variable, int64_t coefficient);
};

/// One entry a dimension of the value.
using IndexMap = std::vector<DimIndex>;

/// A loop variable takes the values [0, size); `low` is what the piece of the domain that it runs
/// over starts at, and `radix` the extent of the whole dimension before it was cut in pieces.
struct LoopVariable {
  int64_t size = 1;
  int64_t radix = 1;
  int64_t low = 0;
};

/// Cut variable `variable` in two: an outer and an inner one, the inner of `inner` values.
struct SplitRequest {
  int variable;
  int64_t inner;
};

struct DelinearizeResult {
  std::optional<IndexMap> map;
  std::optional<SplitRequest> split;  ///< set if a finer domain would make the map affine
};

/// The index into an array of `shape` whose row-major position is `position`. Fails where
/// the index is not affine.
DelinearizeResult delinearize(const DimIndex& position, std::span<const int64_t> shape,
                              std::span<const LoopVariable> variables);

/// The row-major position of an index into an array of `shape`.
DimIndex linearize(const IndexMap& map, std::span<const int64_t> shape);

/// The map through a reshape from `from` (the operand) to `to` (the result, which `map` indexes).
DelinearizeResult through_reshape(const IndexMap& map, std::span<const int64_t> to,
                                  std::span<const int64_t> from,
                                  std::span<const LoopVariable> variables);

/// Bit i is set if the map depends on variable i.
uint64_t variables_of(const IndexMap& map);

/// True if the map takes each element of an array of `shape` exactly once while the variables run
/// over their whole range (`radix`).
bool covers(const IndexMap& map, std::span<const int64_t> shape,
            std::span<const LoopVariable> variables);

/// A key for maps: equal if and only if the maps are.
std::vector<int64_t> key_of(const IndexMap& map);

}  // namespace tpu::compiler
