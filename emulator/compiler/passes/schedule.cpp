#include "emulator/compiler/passes/schedule.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Dims;

// Traffic below which a second thread costs more than it saves.
constexpr int64_t kGrainBytes = 32 * 1024;
constexpr int64_t kChunkBytes = 32 * 1024;
constexpr int kLineBytes = 64;
constexpr int64_t kTilesInChunk = 16;
// Columns whose accumulators, 32 a column, stay in the second-level cache together. Wider runs of
// columns cost fewer jumps from row to row.
constexpr int64_t kColumnAccumulatorBytes = 64 * 1024;
// But threads need something to share, as long as runs are some cache lines long.
constexpr int64_t kMinColumnUnits = 4, kMinColumns = 64;

class Scheduler {
 public:
  Scheduler(const LoopKernel& kernel, const Placement& placement, int vector_bytes)
      : kernel_(kernel), placement_(placement), vector_bytes_(vector_bytes) {}

  Schedule run() {
    make_accesses();
    find_in_place();
    choose_form();
    order_variables();
    collapse();
    choose_vector();
    choose_tiles();
    choose_units();
    return std::move(schedule_);
  }

 private:
  // Strides by the kernel's own variables --------------------------------------------------------

  int slot_of(const BaseAddress& base) {
    const auto found = std::find(schedule_.bases.begin(), schedule_.bases.end(), base);
    if (found == schedule_.bases.end()) schedule_.bases.push_back(base);
    return static_cast<int>(std::find(schedule_.bases.begin(), schedule_.bases.end(), base) -
                            schedule_.bases.begin());
  }

  MemoryAccess access(const hlo::Value* value, const IndexMap& index,
                      const std::optional<Dims>& shape) {
    const Place& place = placement_.of(value);
    const Dims strides = shape ? hlo::row_major_strides(*shape) : place.strides;
    const int64_t bytes = hlo::byte_width(value->type.element);
    MemoryAccess result;
    result.strides.assign(kernel_.variables.size(), 0);
    BaseAddress base{place.entry, place.offset};
    const int alias =
        placement_.alias_of_entry.empty() ? place.entry : placement_.alias_of_entry[place.entry];
    result.memory = {alias, place.offset};
    for (size_t i = 0; i < index.size(); ++i) {
      base.offset += index[i].offset * strides[i] * bytes;
      for (const IndexTerm& term : index[i].terms) {
        result.strides[term.variable] += term.coefficient * strides[i];
      }
      for (int node : index[i].dynamic_offsets) result.starts.push_back({node, strides[i]});
    }
    result.slot = slot_of(base);
    return result;
  }

  void make_accesses() {
    for (const LoopNode& node : kernel_.nodes) {
      MemoryAccess made;
      if (node.kind == LoopNode::Kind::kLoad) {
        made = access(node.value, node.index, std::nullopt);
      } else if (node.kind == LoopNode::Kind::kIota) {
        made.strides.assign(kernel_.variables.size(), 0);
        made.offset = node.index[0].offset;
        for (const IndexTerm& term : node.index[0].terms) {
          made.strides[term.variable] += term.coefficient;
        }
        for (int start : node.index[0].dynamic_offsets) made.starts.push_back({start, 1});
      }
      schedule_.nodes.push_back(std::move(made));
    }
    for (const LoopStore& store : kernel_.stores) {
      schedule_.stores.push_back(access(store.value, store.index, store.shape));
      schedule_.pass_of_store.push_back(kernel_.nodes[store.node].stage);
    }
    schedule_.passes = 1;
    for (const LoopReduction& reduction : kernel_.reductions) {
      schedule_.passes = std::max(schedule_.passes, reduction.stage + 1);
    }
    for (size_t i = 0; i < kernel_.stores.size(); ++i) {
      if (variables_of(kernel_.stores[i].index) & kernel_.reduced) {
        schedule_.passes = std::max(schedule_.passes, schedule_.pass_of_store[i] + 1);
      }
    }
  }

  void find_in_place() {
    for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
      if (kernel_.nodes[i].kind != LoopNode::Kind::kLoad) continue;
      for (const MemoryAccess& store : schedule_.stores) {
        schedule_.in_place = schedule_.in_place || store.memory == schedule_.nodes[i].memory;
      }
    }
  }

  template <class F>
  void each_access(F&& f) {
    for (size_t i = 0; i < schedule_.nodes.size(); ++i) {
      const auto kind = kernel_.nodes[i].kind;
      if (kind == LoopNode::Kind::kLoad || kind == LoopNode::Kind::kIota) f(schedule_.nodes[i]);
    }
    for (MemoryAccess& store : schedule_.stores) f(store);
  }

  bool reduced(int variable) const { return kernel_.reduced >> variable & 1; }

  // Rows or columns: which way the loads run through memory without jumps.
  void choose_form() {
    if (kernel_.reductions.empty()) return;
    schedule_.form = LoopForm::kRows;
    int innermost = -1;
    for (size_t i = 0; i < kernel_.variables.size(); ++i) {
      if (reduced(static_cast<int>(i)) && kernel_.variables[i].size > 1) {
        innermost = static_cast<int>(i);
      }
    }
    int64_t along_row = 0, across = 0;
    for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
      const LoopNode& node = kernel_.nodes[i];
      if (node.kind != LoopNode::Kind::kLoad || !(node.variables & kernel_.reduced)) continue;
      const int64_t weight = kernel_.size_of(node.variables);
      const Dims& strides = schedule_.nodes[i].strides;
      if (strides[innermost] == 1) {
        along_row += weight;
        continue;
      }
      for (size_t v = 0; v < strides.size(); ++v) {
        if (!reduced(static_cast<int>(v)) && kernel_.variables[v].size >= 4 && strides[v] == 1) {
          across += weight;
          break;
        }
      }
    }
    if (across > along_row) schedule_.form = LoopForm::kColumns;
  }

  // Kept variables first, then reduced ones in their order. Maps run as their first store lies
  // in memory; the vectorised kept variable of columns goes last of the kept ones.
  void order_variables() {
    std::vector<int> outer, inner;
    for (int i = 0; i < static_cast<int>(kernel_.variables.size()); ++i) {
      if (kernel_.variables[i].size == 1) continue;
      (reduced(i) ? inner : outer).push_back(i);
    }
    const Dims& order =
        schedule_.form == LoopForm::kColumns ? column_strides() : schedule_.stores.front().strides;
    std::stable_sort(outer.begin(), outer.end(),
                     [&](int a, int b) { return rank(order[a]) > rank(order[b]); });
    schedule_.num_outer = static_cast<int>(outer.size());
    std::vector<int> all = outer;
    all.insert(all.end(), inner.begin(), inner.end());
    for (int i : all) schedule_.sizes.push_back(kernel_.variables[i].size);
    each_access([&](MemoryAccess& access) {
      Dims strides;
      for (int i : all) strides.push_back(access.strides[i]);
      access.strides = std::move(strides);
    });
  }

  // A stride of 0 (a broadcast) belongs outside.
  static int64_t rank(int64_t stride) { return stride == 0 ? INT64_MAX : std::abs(stride); }

  // Of the largest load that columns are read from.
  const Dims& column_strides() const {
    const Dims* best = &schedule_.stores.front().strides;
    int64_t most = 0;
    for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
      const LoopNode& node = kernel_.nodes[i];
      if (node.kind != LoopNode::Kind::kLoad || !(node.variables & kernel_.reduced)) continue;
      const int64_t size = kernel_.size_of(node.variables);
      if (size > most) {
        most = size;
        best = &schedule_.nodes[i].strides;
      }
    }
    return *best;
  }

  // Two adjacent loops become one where every address steps evenly through both.
  void collapse() {
    for (int i = static_cast<int>(schedule_.sizes.size()) - 2; i >= 0; --i) {
      if (i + 1 == schedule_.num_outer) continue;  // kept and reduced stay apart
      bool even = true;
      each_access([&](const MemoryAccess& access) {
        even = even && access.strides[i] == access.strides[i + 1] * schedule_.sizes[i + 1];
      });
      if (!even) continue;
      schedule_.sizes[i + 1] *= schedule_.sizes[i];
      schedule_.sizes.erase(schedule_.sizes.begin() + i);
      each_access([&](MemoryAccess& access) { access.strides.erase(access.strides.begin() + i); });
      if (i < schedule_.num_outer) --schedule_.num_outer;
    }
  }

  // Bytes of the widest element in registers among what the kernel computes.
  int widest_lane() const {
    int widest = 1;
    for (const LoopNode& node : kernel_.nodes) {
      const bool scalar = node.variables == 0;
      if (scalar) continue;
      const hlo::ElementType part = hlo::real_part(node.type);
      const bool narrow_float = hlo::is_float(part) && hlo::byte_width(part) < 4;
      widest = std::max(widest, narrow_float ? 4 : hlo::byte_width(part));
    }
    return widest;
  }

  void choose_vector() {
    if (schedule_.sizes.empty()) return;
    schedule_.vector = schedule_.form == LoopForm::kColumns
                           ? schedule_.num_outer - 1
                           : static_cast<int>(schedule_.sizes.size()) - 1;
    const int64_t size = schedule_.sizes[schedule_.vector];
    const int lane = std::min(widest_lane(), 4);
    const int64_t lanes = std::min<int64_t>(std::max(vector_bytes_ / lane, 1), kReduceLanes);
    schedule_.width = static_cast<int>(std::min<int64_t>(lanes, std::bit_floor(uint64_t(size))));
    // With several reduced variables, a run along the last one starts at any lane of the tree.
    // Where vectors of half the lanes would start at multiples of their width, they are better.
    const int inner = static_cast<int>(schedule_.sizes.size()) - schedule_.num_outer;
    if (schedule_.form == LoopForm::kRows && inner > 1 && size % schedule_.width != 0) {
      const int64_t even = size & -size;
      schedule_.runs_wrap = even < schedule_.width / 2;
      if (schedule_.runs_wrap) {
        schedule_.width = std::min(schedule_.width, kReduceLanes / 2);
      } else {
        schedule_.width = static_cast<int>(even);
      }
    }
  }

  // A load that steps by 1 along an outer variable, but by more along the vectorised one, would
  // touch a cache line for each element.
  void choose_tiles() {
    if (schedule_.form != LoopForm::kMap || schedule_.in_place || schedule_.sizes.size() < 2)
      return;
    const int vector = schedule_.vector;
    int64_t most = 0;
    for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
      const LoopNode& node = kernel_.nodes[i];
      if (node.kind != LoopNode::Kind::kLoad || hlo::is_complex(node.type)) continue;
      const Dims& strides = schedule_.nodes[i].strides;
      if (strides[vector] == 0 || strides[vector] == 1) continue;
      const int64_t size = kernel_.size_of(node.variables);
      for (int v = 0; v < vector; ++v) {
        const int side = std::max(kLineBytes / hlo::byte_width(node.type), 8);
        const int tile = std::min(side, kReduceLanes);
        if (strides[v] != 1 || size <= most) continue;
        if (schedule_.sizes[v] < tile || schedule_.sizes[vector] < tile) continue;
        most = size;
        schedule_.cross = v;
        schedule_.tile = tile;
      }
    }
    if (schedule_.cross < 0) return;
    schedule_.form = LoopForm::kTiles;
    schedule_.width = std::min({schedule_.width, schedule_.tile, 8});
  }

  int64_t bytes_per_point() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
      if (kernel_.nodes[i].kind == LoopNode::Kind::kLoad && kernel_.nodes[i].variables) {
        bytes += hlo::byte_width(kernel_.nodes[i].type);
      }
    }
    for (const LoopStore& store : kernel_.stores)
      bytes += hlo::byte_width(store.value->type.element);
    // Arithmetic counts, too: a function costs as much as some bytes.
    for (const LoopNode& node : kernel_.nodes) {
      if (node.kind == LoopNode::Kind::kOp && node.variables)
        bytes += is_expensive(*node.op) ? 16 : 1;
    }
    return std::max<int64_t>(bytes, 1);
  }

  void choose_units() {
    int64_t outer = 1;
    for (int i = 0; i < schedule_.num_outer; ++i) outer *= schedule_.sizes[i];
    const int64_t point = bytes_per_point();
    int64_t per_unit = point * schedule_.reduced_count();
    schedule_.units = outer;
    if (schedule_.form != LoopForm::kRows && schedule_.vector >= 0) {
      const int64_t size = schedule_.sizes[schedule_.vector];
      int64_t chunk = size;
      if (schedule_.form == LoopForm::kTiles) {
        chunk = schedule_.tile * kTilesInChunk;
      } else if (schedule_.form == LoopForm::kMap) {
        chunk = std::max<int64_t>(kChunkBytes / point, 1);
      } else {
        int64_t state = 0;
        for (const LoopReduction& reduction : kernel_.reductions) {
          for (int input : reduction.inputs) {
            state += kReduceLanes * std::max(hlo::byte_width(kernel_.nodes[input].type), 4);
          }
        }
        chunk = std::max<int64_t>(kColumnAccumulatorBytes / std::max<int64_t>(state, 1), 1);
        chunk = std::min(chunk, std::max(size / kMinColumnUnits, kMinColumns));
      }
      chunk = std::max<int64_t>(chunk / schedule_.width, 1) * schedule_.width;
      const int64_t side = std::max(schedule_.width, schedule_.tile);
      schedule_.chunk = std::min(chunk, (size + side - 1) / side * side);
      schedule_.units = outer / size * ((size + schedule_.chunk - 1) / schedule_.chunk);
      per_unit *= std::min(schedule_.chunk, size);
      if (schedule_.form == LoopForm::kTiles) {
        const int64_t rows = schedule_.sizes[schedule_.cross];
        schedule_.units = schedule_.units / rows * ((rows + schedule_.tile - 1) / schedule_.tile);
        per_unit *= schedule_.tile;
      }
    }
    schedule_.grain = std::max<int64_t>((kGrainBytes + per_unit - 1) / per_unit, 1);
  }

  const LoopKernel& kernel_;
  const Placement& placement_;
  const int vector_bytes_;
  Schedule schedule_;
};

}  // namespace

int64_t Schedule::reduced_count() const {
  return std::accumulate(sizes.begin() + num_outer, sizes.end(), int64_t{1}, std::multiplies<>());
}

bool should_split_lanes(const LoopKernel& kernel, const Schedule& schedule) {
  constexpr int64_t kManyRows = 4, kLongRow = 1 << 17;
  const bool one_run = static_cast<int>(schedule.sizes.size()) == schedule.num_outer + 1;
  if (schedule.form != LoopForm::kRows || schedule.passes > 1 || !one_run) return false;
  if (schedule.units >= kManyRows || schedule.reduced_count() < kLongRow) return false;
  for (const MemoryAccess& store : schedule.stores) {
    if (store.strides.back() != 0) return false;  // writes elements of the row, too
  }
  for (const LoopNode& node : kernel.nodes) {
    if (hlo::is_complex(node.type)) return false;
  }
  return true;
}

Schedule make_schedule(const LoopKernel& kernel, const Placement& placement, int vector_bytes) {
  return Scheduler(kernel, placement, vector_bytes).run();
}

}  // namespace tpu::compiler
