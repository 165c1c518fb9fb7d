// The order in which a loop kernel's points are visited, and which of its variables is vectorised.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "emulator/compiler/passes/buffers.h"
#include "emulator/compiler/passes/loop_kernel.h"

namespace tpu::compiler {

/// An address as a function of the loop variables.
struct MemoryAccess {
  int slot = -1;       ///< number of the base address in Schedule::bases; -1 for an iota
  int64_t offset = 0;  ///< of an iota's value
  hlo::Dims strides;   ///< in elements, one a loop variable of the schedule
  struct Start {
    int node;        ///< a kStart node
    int64_t stride;  ///< in elements
  };
  std::vector<Start> starts;
  /// Which memory it is, whatever the address within: entries that alias are one.
  std::pair<int, int64_t> memory{-1, 0};
};

/// `offset` bytes behind an entry of the table of addresses.
struct BaseAddress {
  int entry = -1;
  int64_t offset = 0;
  bool operator==(const BaseAddress&) const = default;
};

enum class LoopForm : uint8_t {
  kMap,      ///< no reduction; the last variable is vectorised
  kRows,     ///< reduced variables inside; the last of them is vectorised
  kColumns,  ///< reduced variables inside; the last of the others is vectorised
  kTiles,    ///< no reduction; some load runs along another variable than the last: the two are
             ///< visited in square tiles, in which such loads are transposed
};

struct Schedule {
  LoopForm form = LoopForm::kMap;
  hlo::Dims sizes;    ///< outermost first: kept variables, then reduced ones
  int num_outer = 0;  ///< how many are kept
  int vector = -1;    ///< the vectorised variable; -1 for a kernel of one point
  /// Where the kernel reads and writes, with all indices at 0. Generated code knows them by number
  /// only, so that kernels that differ in nothing else share it.
  std::vector<BaseAddress> bases;
  /// By node: address of a load; strides and offset of an iota's value.
  std::vector<MemoryAccess> nodes;
  std::vector<MemoryAccess> stores;  ///< by store
  std::vector<int> pass_of_store;

  int width = 1;      ///< lanes of the vectorised variable
  int64_t chunk = 1;  ///< of the vectorised variable, handled by one unit; a multiple of `width`
  /// kRows: blocks start at any lane, so that their lanes may wrap around from 31 to 0.
  bool runs_wrap = false;
  int cross = -1;     ///< kTiles: the other variable of the tiles
  int tile = 0;       ///< kTiles: its side; both variables have at least as many values
  int64_t units = 1;  ///< independent pieces of work, to be spread over threads
  int64_t grain = 1;  ///< units that are worth a thread
  int passes = 1;     ///< over the reduced variables (or over one point)

  int64_t reduced_count() const;
  /// Some store writes memory that a load reads (the same element, see Placement).
  bool in_place = false;
};

/// Lanes of the declared order of reductions: element k goes to lane k mod 32, lane by lane in
/// ascending order; then lane l takes in lane l + h for h = 16, 8, 4, 2, 1.
inline constexpr int kReduceLanes = 32;

/// A few long rows are reduced in two kernels: groups of lanes on their own (a unit is a group of a
/// row), which leave their lanes in memory, then the tree.
struct LaneSplit {
  int groups = 2;
  bool finishes = false;  ///< the second kernel
  /// Number of the base address, behind the schedule's own, where the lanes lie: for each row and
  /// reduced value 32 of 8 bytes or less.
  int slot = -1;
};
/// True if splitting pays.
bool should_split_lanes(const LoopKernel& kernel, const Schedule& schedule);
/// Bytes between one row's lanes of one value and the next's.
inline constexpr int64_t kSplitLaneBytes = 8 * kReduceLanes;

/// `vector_bytes`: of a register of the target. Depends on where the values lie.
Schedule make_schedule(const LoopKernel& kernel, const Placement& placement, int vector_bytes);

}  // namespace tpu::compiler
