// One attempt to express a group of ops as a loop kernel over a given domain.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "emulator/compiler/passes/kernel_builder.h"
#include "emulator/compiler/passes/loop_kernel.h"

namespace tpu::compiler {

/// The domain: one entry a dimension of the first output (then of a reduction's inner dimensions),
/// each cut into loop variables, outermost first.
struct Domain {
  std::vector<std::vector<LoopVariable>> dims;

  std::vector<LoopVariable> variables() const {
    std::vector<LoopVariable> all;
    for (const auto& dim : dims) all.insert(all.end(), dim.begin(), dim.end());
    return all;
  }
};

/// Why an attempt stopped before its end: what to change in the domain, or (all empty) nothing
/// helps.
struct Stop {
  std::optional<SplitRequest> split;
  std::optional<std::pair<int, int64_t>> cut;  ///< variable, position
  hlo::Dims inner;                             ///< dimensions to append for a reduction
};

/// Works backwards from the outputs: `demand` gives the node for a value at an index map, and asks
/// for those of its operands. Node numbers below 0 mean that it does not work; see `stop()`.
class Attempt {
 public:
  using Value = hlo::Value;
  using Op = hlo::Op;
  using Dims = hlo::Dims;
  using ElementType = hlo::ElementType;

  Attempt(const Domain& domain, std::span<const Value* const> outputs,
          const MembershipOf& membership)
      : domain_(domain), outputs_(outputs), membership_(membership) {
    kernel_.variables = domain.variables();
  }

  /// True if the kernel is complete.
  bool run();
  /// The same for one of a dynamic_update_slice's two kernels: all of the operand, or the window.
  bool run_update(const Op& update, bool window);

  LoopKernel& kernel() { return kernel_; }
  const Stop& stop() const { return stop_; }

 private:
  struct Known {
    IndexMap map;
    int node;
  };

  const std::vector<LoopVariable>& variables() const { return kernel_.variables; }
  IndexMap identity(size_t rank) const;
  uint64_t ones() const;
  int fail() { return -1; }
  int fail(Stop stop) {
    stop_ = std::move(stop);
    return -1;
  }

  int add_node(LoopNode node);
  int demand(const Value* value, const IndexMap& map);
  int make(const Value* value, const IndexMap& map);
  int load(const Value* value, const IndexMap& map);
  int compute(const Value* value, const IndexMap& map);
  int elementwise(const Op& op, const Value* value, const IndexMap& map);

  // Stores.
  bool add_store(const Value* value, const IndexMap& map);
  bool store_first();
  bool store_others();
  std::optional<IndexMap> map_for(const Value* output);
  bool store_copy(const Op& update);
  bool store_window(const Op& update);

  // Ops that move elements (kernel_layouts.cpp).
  int layout(const Op& op, const Value* value, const IndexMap& map);
  int constant(const Op& op, const Value* value, const IndexMap& map);
  bool add_starts(const Op& op, int first, const Dims& sizes, IndexMap& map);
  int start_node(int index, int64_t limit, int fresh);
  int side(const DimIndex& dim, int64_t boundary);
  int concatenate(const Op& op, const IndexMap& map);
  int pad(const Op& op, const IndexMap& map);

  // Reductions (kernel_reductions.cpp).
  int reduce(const Op& op, const Value* value, const IndexMap& map);
  std::optional<IndexMap> reduced_index(const IndexMap& kept, const Dims& reduced_shape,
                                        int64_t count);
  int combine(const Op& op, const Value* value, const IndexMap& map, const IndexMap& inner,
              int64_t count);
  int add_results(const Op& op, const std::vector<int>& operands, int reduction, uint64_t variables,
                  int stage);

  const Domain& domain_;
  std::span<const Value* const> outputs_;
  const MembershipOf& membership_;
  LoopKernel kernel_;
  Stop stop_;
  std::unordered_map<const Value*, std::vector<Known>> known_;
};

/// Removes the nodes that no store and no reduction needs (kernel_prune.cpp).
void prune(LoopKernel& kernel);

/// False if the kernel would compute expensive values again and again, or could not be spread over
/// threads although it is large (kernel_profit.cpp).
bool is_profitable(const LoopKernel& kernel);

}  // namespace tpu::compiler
