#include "emulator/compiler/passes/fusion.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <unordered_set>

#include "emulator/base/error.h"
#include "emulator/compiler/passes/kernel_builder.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

constexpr size_t kMaxGroupOps = 64;
constexpr int kMaxCopiedDepth = 6;
constexpr int kMaxRounds = 4;
constexpr int64_t kMinSharedElements = 1024;

// Fusion of one block. Its units are groups of loop ops, and single ops of other classes.
class Fusion {
 public:
  Fusion(const Block& block, const StridesOf& strides) : block_(block), strides_(strides) {
    int position = 0;
    for (const auto& op : block.ops()) position_[op.get()] = position++;
  }

  BlockPlan run() {
    find_users();
    find_copied();
    find_sinks();
    make_units();
    // A merge can make another one possible that failed before: values one a row fit in with the
    // row's elements only once the reduction is there.
    for (int round = 0; round < kMaxRounds && merge_producers(); ++round) {
    }
    merge_siblings();
    materialize_loaded();
    return emit();
  }

 private:
  struct Unit {
    std::vector<const Op*> ops;
    std::vector<const Value*> outputs;
    std::vector<LoopKernel> kernels;
    bool is_group = false;
    bool calls_library = false;  ///< a loop op that no loop computes, but the library does
    int version = 0;             ///< changes with every merge
    int first = 0, last = 0;     ///< positions of its ops in the block
  };

  // Uses -----------------------------------------------------------------------------------------

  void add_uses(const Op& user, const Op& op) {
    for (const Value* operand : op.operands()) {
      if (operand->def && position_.contains(operand->def)) users_[operand].push_back(&user);
    }
    for (int i = 0; i < op.num_regions(); ++i) {
      for (const auto& inner : op.region(i).ops()) add_uses(user, *inner);
    }
  }

  void find_users() {
    for (const auto& op : block_.ops()) {
      add_uses(*op, *op);
      if (!fusible(*op)) need_operands(*op);
    }
  }

  // The values an op outside of all loops needs in memory. Library calls see through views, those
  // in the regions of control flow too.
  void need_operands(const Op& op) {
    const OpClass kind = classify(op);
    const bool through_views =
        !fusible(op) && (kind == OpClass::kLibrary || kind == OpClass::kAssert);
    for (const Value* operand : op.operands()) {
      needed_.insert(through_views ? view_of(operand, strides_).base : operand);
    }
    if (kind != OpClass::kControl) return;
    for (int i = 0; i < op.num_regions(); ++i) {
      for (const auto& inner : op.region(i).ops()) need_operands(*inner);
    }
  }

  static bool fusible(const Op& op) {
    if (!is_loop_op(op)) return false;
    for (int i = 0; i < op.num_results(); ++i) {
      if (op.result(i)->type.num_elements() == 0) return false;
    }
    return true;
  }

  static bool empty(const Op& op) { return is_loop_op(op) && !fusible(op); }

  // Copied ops -----------------------------------------------------------------------------------

  // Cheap ops with at most one operand of any size: computing them again reads no more memory
  // than loading their result would.
  void find_copied() {
    std::unordered_map<const Op*, int> depth;
    for (const auto& op : block_.ops()) {
      if (!fusible(*op)) continue;
      const OpClass kind = classify(*op);
      if (kind != OpClass::kLayout && kind != OpClass::kElementwise) continue;
      int deepest = 0, wide = 0;
      for (const Value* operand : op->operands()) {
        if (operand->def && depth.contains(operand->def)) {
          deepest = std::max(deepest, depth.at(operand->def));
        }
        if (!is_constant_like(operand)) ++wide;
      }
      if (kind == OpClass::kElementwise) {
        if (wide > 1 || is_expensive(*op) || ++deepest > kMaxCopiedDepth) continue;
      }
      depth[op.get()] = deepest;
      copied_.insert(op.get());
    }
  }

  // A rank-0 value, or one broadcast from a rank-0 value, or a constant or iota.
  static bool is_constant_like(const Value* value) {
    if (value->type.rank() == 0) return true;
    if (!value->def) return false;
    if (value->def->kind() == OpKind::kBroadcastInDim) {
      return is_constant_like(value->def->operand(0));
    }
    return value->def->kind() == OpKind::kIota ||
           (value->def->kind() == OpKind::kConstant &&
            value->def->attributes().get<hlo::Literal>("value").is_splat());
  }

  bool copied(const Op* op) const { return copied_.contains(op); }

  // The ops, other than copied ones, that a value reaches through copied ones.
  void find_sinks() {
    for (auto it = block_.ops().rbegin(); it != block_.ops().rend(); ++it) {
      for (int i = 0; i < (*it)->num_results(); ++i) {
        const Value* value = (*it)->result(i);
        std::vector<const Op*> sinks;
        for (const Op* user : users_[value]) {
          if (!copied(user)) sinks.push_back(user);
          if (!copied(user)) continue;
          for (int r = 0; r < user->num_results(); ++r) {
            const auto& more = sinks_[user->result(r)];
            sinks.insert(sinks.end(), more.begin(), more.end());
            if (needed_.contains(user->result(r))) sinks.push_back(user);
          }
        }
        std::sort(sinks.begin(), sinks.end());
        sinks.erase(std::unique(sinks.begin(), sinks.end()), sinks.end());
        sinks_[value] = std::move(sinks);
      }
    }
  }

  // The ops, other than copied ones, that an operand comes from.
  void add_sources(const Value* value, std::vector<const Op*>& sources) const {
    if (!value->def || !position_.contains(value->def)) return;
    if (!copied(value->def)) {
      sources.push_back(value->def);
      return;
    }
    for (const Value* operand : value->def->operands()) add_sources(operand, sources);
  }

  // Units ----------------------------------------------------------------------------------------

  void make_units() {
    for (const auto& op : block_.ops()) {
      if (empty(*op)) continue;
      const bool owned = !copied(op.get()) || is_needed(*op);
      if (owned) add_unit(*op);
    }
  }

  bool is_needed(const Op& op) const {
    for (int i = 0; i < op.num_results(); ++i) {
      if (needed_.contains(op.result(i))) return true;
    }
    return false;
  }

  int add_unit(const Op& op) {
    const int id = static_cast<int>(units_.size());
    const int at = position_.at(&op);
    units_.push_back({.ops = {&op},
                      .outputs = {},
                      .kernels = {},
                      .is_group = fusible(op),
                      .first = at,
                      .last = at});
    unit_of_[&op] = id;
    if (!units_[id].is_group) return id;
    if (is_needed_constant(op)) {  // lives in the constant pool
      units_[id].is_group = false;
      return id;
    }
    units_[id].outputs = outputs_of(units_[id].ops);
    if (!build(units_[id])) build_otherwise(units_[id]);
    return id;
  }

  static bool is_needed_constant(const Op& op) { return op.kind() == OpKind::kConstant; }

  std::vector<const Value*> outputs_of(const std::vector<const Op*>& ops) const {
    std::vector<const Value*> outputs;
    for (const Op* op : ops) {
      for (int i = 0; i < op->num_results(); ++i) {
        if (leaves(op->result(i), ops)) outputs.push_back(op->result(i));
      }
    }
    // A group that nobody needs still has to be something: keep its last value.
    if (outputs.empty()) outputs.push_back(ops.back()->result(0));
    return outputs;
  }

  bool leaves(const Value* value, const std::vector<const Op*>& ops) const {
    if (needed_.contains(value) || materialized_.contains(value)) return true;
    const auto sinks = sinks_.find(value);
    if (sinks == sinks_.end()) return false;
    for (const Op* sink : sinks->second) {
      if (std::find(ops.begin(), ops.end(), sink) == ops.end()) return true;
    }
    return false;
  }

  bool build(Unit& unit) const {
    const auto membership = [&](const Op& op) {
      if (std::find(unit.ops.begin(), unit.ops.end(), &op) != unit.ops.end()) {
        return Membership::kOwned;
      }
      return copied(&op) ? Membership::kCopied : Membership::kOutside;
    };
    std::optional<std::vector<LoopKernel>> kernels = build_kernels(unit.outputs, membership);
    if (!kernels) return false;
    unit.kernels = std::move(*kernels);
    return true;
  }

  void build_otherwise(Unit& unit) const {
    const Op& op = *unit.ops[0];
    if (op.kind() == OpKind::kReshape) return build_reshape(unit);
    unit.is_group = false;
    unit.calls_library = true;
  }

  // A reshape whose index is not affine: its memory, seen with the operand's shape, is written.
  void build_reshape(Unit& unit) const {
    const Op& op = *unit.ops[0];
    const auto membership = [&](const Op& other) {
      return copied(&other) ? Membership::kCopied : Membership::kOutside;
    };
    const Value* operand = op.operand(0);
    if (std::optional<LoopKernel> kernel = build_copy(operand, membership)) {
      kernel->stores[0].value = op.result();
      kernel->stores[0].shape = operand->type.shape;
      unit.kernels = {std::move(*kernel)};
      return;
    }
    throw Unimplemented("no loop computes '" + std::string(hlo::mnemonic(op.kind())) + "' of " +
                        hlo::to_string(op.result()->type));
  }

  // Merging --------------------------------------------------------------------------------------

  bool merge_producers() {
    bool any = false;
    const auto& ops = block_.ops();
    for (auto it = ops.rbegin(); it != ops.rend(); ++it) {
      const auto found = unit_of_.find(it->get());
      if (found == unit_of_.end() || !units_[found->second].is_group) continue;
      std::vector<const Op*> sources;
      for (const Value* operand : (*it)->operands()) add_sources(operand, sources);
      std::sort(sources.begin(), sources.end(),
                [&](const Op* a, const Op* b) { return position_.at(a) > position_.at(b); });
      for (const Op* source : sources) {
        const auto at = unit_of_.find(source);  // arrays without elements have no unit
        if (at != unit_of_.end()) any = try_merge(at->second, unit_of_.at(it->get())) || any;
      }
    }
    return any;
  }

  // Groups that read the same large value, and do not depend on each other, read it once.
  void merge_siblings() {
    std::unordered_map<const Value*, std::vector<int>> readers;
    std::vector<const Value*> order;
    for (size_t id = 0; id < units_.size(); ++id) {
      if (!units_[id].is_group) continue;
      for (const Value* value : inputs_of(units_[id])) {
        if (value->type.num_elements() < kMinSharedElements) continue;
        auto& of_value = readers[value];
        if (of_value.empty()) order.push_back(value);
        if (of_value.empty() || of_value.back() != static_cast<int>(id)) {
          of_value.push_back(static_cast<int>(id));
        }
      }
    }
    for (const Value* value : order) {
      std::vector<int>& ids = readers.at(value);
      for (size_t i = 1; i < ids.size(); ++i) {
        for (size_t j = 0; j < i && units_[ids[i]].is_group; ++j) {
          if (!units_[ids[j]].is_group || ids[i] == ids[j]) continue;
          if (reaches(ids[i], ids[j]) || reaches(ids[j], ids[i])) continue;
          try_merge(ids[j], ids[i], value);
        }
      }
    }
  }

  bool reaches(int from, int to) const {
    if (path_around(from, to)) return true;
    for (const Op* op : units_[from].ops) {
      for (int i = 0; i < op->num_results(); ++i) {
        const auto sinks = sinks_.find(op->result(i));
        if (sinks == sinks_.end()) continue;
        for (const Op* sink : sinks->second) {
          const auto at = unit_of_.find(sink);
          if (at != unit_of_.end() && at->second == to) return true;
        }
      }
    }
    return false;
  }

  static size_t loads_of(const Unit& unit, const Value* value) {
    size_t count = 0;
    for (const LoopKernel& kernel : unit.kernels) {
      for (const LoopNode& node : kernel.nodes) {
        count += node.kind == LoopNode::Kind::kLoad && node.value == value;
      }
    }
    return count;
  }

  // Makes one group of two. With `shared`, only if that value is then loaded less often.
  bool try_merge(int producer, int consumer, const Value* shared = nullptr) {
    if (producer == consumer) return false;
    const Unit& a = units_[producer];
    const Unit& b = units_[consumer];
    if (!a.is_group || !b.is_group || a.ops.size() + b.ops.size() > kMaxGroupOps) return false;
    // A pair that failed fails again until one of the two has changed.
    const auto [tried, fresh] = tried_.try_emplace({producer, consumer}, -1, -1);
    const std::pair versions(a.version, b.version);
    if (!fresh && tried->second == versions) return false;
    tried->second = versions;
    if (a.kernels.empty() || b.kernels.empty() || path_around(producer, consumer)) return false;
    Unit merged{.ops = a.ops,
                .outputs = {},
                .kernels = {},
                .is_group = true,
                .version = std::max(a.version, b.version) + 1,
                .first = std::min(a.first, b.first),
                .last = std::max(a.last, b.last)};
    merged.ops.insert(merged.ops.end(), b.ops.begin(), b.ops.end());
    std::sort(merged.ops.begin(), merged.ops.end(),
              [&](const Op* x, const Op* y) { return position_.at(x) < position_.at(y); });
    merged.outputs = outputs_of(merged.ops);
    if (!build(merged) || loads_itself(merged)) return false;
    if (shared && loads_of(merged, shared) >= loads_of(a, shared) + loads_of(b, shared)) {
      return false;
    }
    for (const Op* op : merged.ops) unit_of_[op] = consumer;
    units_[consumer] = std::move(merged);
    units_[producer] = Unit{};
    return true;
  }

  // True if the group would load a copied value that comes from the group.
  bool loads_itself(const Unit& unit) const {
    for (const LoopKernel& kernel : unit.kernels) {
      for (const LoopNode& node : kernel.nodes) {
        if (node.kind != LoopNode::Kind::kLoad || !node.value->def) continue;
        if (!copied(node.value->def)) continue;
        std::vector<const Op*> sources;
        add_sources(node.value, sources);
        for (const Op* source : sources) {
          if (std::find(unit.ops.begin(), unit.ops.end(), source) != unit.ops.end()) return true;
        }
      }
    }
    return false;
  }

  // True if some path from the producer to the consumer runs through another unit.
  bool path_around(int producer, int consumer) const {
    std::unordered_set<int> seen;
    std::vector<int> work;
    const auto visit = [&](int unit) {
      for (const Op* op : units_[unit].ops) {
        for (int i = 0; i < op->num_results(); ++i) {
          const auto sinks = sinks_.find(op->result(i));
          if (sinks == sinks_.end()) continue;
          for (const Op* sink : sinks->second) {
            const auto at = unit_of_.find(sink);
            if (at == unit_of_.end() || units_[at->second].first > units_[consumer].last) continue;
            if (seen.insert(at->second).second) work.push_back(at->second);
          }
        }
      }
    };
    seen.insert(producer);
    seen.insert(consumer);
    visit(producer);
    while (!work.empty()) {
      const int unit = work.back();
      work.pop_back();
      // A step from here into the consumer closes a way around it.
      for (const Op* op : units_[unit].ops) {
        for (int i = 0; i < op->num_results(); ++i) {
          const auto sinks = sinks_.find(op->result(i));
          if (sinks == sinks_.end()) continue;
          for (const Op* sink : sinks->second) {
            const auto at = unit_of_.find(sink);
            if (at != unit_of_.end() && at->second == consumer) return true;
          }
        }
      }
      visit(unit);
    }
    return false;
  }

  // Copied values that some kernel could only load get a unit of their own.
  void materialize_loaded() {
    for (size_t id = 0; id < units_.size(); ++id) {
      if (units_[id].ops.empty() || !(units_[id].is_group || units_[id].calls_library)) continue;
      for (const Value* value : inputs_of(units_[id])) {
        if (!value->def || !position_.contains(value->def) || !fusible(*value->def)) continue;
        if (unit_of_.contains(value->def)) continue;
        materialized_.insert(value);
        add_unit(*value->def);
      }
    }
  }

  // Order ----------------------------------------------------------------------------------------

  BlockPlan emit() {
    const int n = static_cast<int>(units_.size());
    std::vector<std::vector<int>> after(n);
    std::vector<int> waits(n, 0), first(n, 0);
    for (int id = 0; id < n; ++id) {
      if (units_[id].ops.empty()) continue;
      first[id] = position_.at(units_[id].ops.front());
      std::unordered_set<int> before;
      for (const Value* value : inputs_of(units_[id])) {
        const auto at = value->def ? unit_of_.find(value->def) : unit_of_.end();
        if (at != unit_of_.end() && at->second != id) before.insert(at->second);
      }
      for (int other : before) after[other].push_back(id);
      waits[id] = static_cast<int>(before.size());
    }
    using Entry = std::pair<int, int>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    for (int id = 0; id < n; ++id) {
      if (!units_[id].ops.empty() && waits[id] == 0) ready.push({first[id], id});
    }
    BlockPlan plan{.block = &block_, .steps = {}};
    while (!ready.empty()) {
      const int id = ready.top().second;
      ready.pop();
      emit_unit(units_[id], plan);
      for (int next : after[id]) {
        if (--waits[next] == 0) ready.push({first[next], next});
      }
    }
    return plan;
  }

  std::vector<const Value*> inputs_of(const Unit& unit) const {
    std::vector<const Value*> inputs;
    if (unit.is_group) {
      for (const LoopKernel& kernel : unit.kernels) {
        for (const LoopNode& node : kernel.nodes) {
          if (node.kind == LoopNode::Kind::kLoad) inputs.push_back(node.value);
        }
      }
      return inputs;
    }
    const Op& op = *unit.ops.front();
    add_operands(op, inputs);
    const OpClass kind = classify(op);
    if (unit.calls_library || kind == OpClass::kLibrary || kind == OpClass::kAssert) {
      for (const Value*& input : inputs) input = view_of(input, strides_).base;
    }
    return inputs;
  }

  static void add_operands(const Op& op, std::vector<const Value*>& inputs) {
    for (const Value* operand : op.operands()) inputs.push_back(operand);
    for (int i = 0; i < op.num_regions(); ++i) {
      for (const auto& inner : op.region(i).ops()) add_operands(*inner, inputs);
    }
  }

  void emit_unit(Unit& unit, BlockPlan& plan) const {
    const Op& op = *unit.ops.front();
    if (unit.is_group) {
      plan.steps.push_back({.kind = PlanStep::Kind::kLoops,
                            .op = nullptr,
                            .ops = unit.ops,
                            .kernels = std::move(unit.kernels),
                            .outputs = unit.outputs,
                            .operands = {},
                            .regions = {}});
      return;
    }
    PlanStep step{.kind = PlanStep::Kind::kLibrary,
                  .op = &op,
                  .ops = {},
                  .kernels = {},
                  .outputs = {},
                  .operands = {},
                  .regions = {}};
    for (int i = 0; i < op.num_results(); ++i) step.outputs.push_back(op.result(i));
    switch (unit.calls_library ? OpClass::kLibrary : classify(op)) {
      case OpClass::kLibrary:
        break;
      case OpClass::kAssert:
        step.kind = PlanStep::Kind::kAssert;
        break;
      case OpClass::kControl:
        step.kind = PlanStep::Kind::kControl;
        for (int i = 0; i < op.num_regions(); ++i) {
          step.regions.push_back(std::make_unique<BlockPlan>(plan_block(op.region(i), strides_)));
        }
        plan.steps.push_back(std::move(step));
        return;
      case OpClass::kReturn:
      case OpClass::kLayout:  // a constant of the pool
        return;
      default:
        throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) + "'");
    }
    for (const Value* operand : op.operands()) {
      step.operands.push_back(view_of(operand, strides_));
    }
    plan.steps.push_back(std::move(step));
  }

  const Block& block_;
  const StridesOf& strides_;
  std::unordered_map<const Op*, int> position_;
  std::unordered_map<const Value*, std::vector<const Op*>> users_;
  std::unordered_set<const Value*> needed_;        // by ops that are not loops
  std::unordered_set<const Value*> materialized_;  // copied, but loaded by some kernel
  std::unordered_set<const Op*> copied_;
  std::unordered_map<const Value*, std::vector<const Op*>> sinks_;
  std::vector<Unit> units_;
  std::unordered_map<const Op*, int> unit_of_;
  std::map<std::pair<int, int>, std::pair<int, int>> tried_;  // versions of pairs that failed
};

}  // namespace

BlockPlan plan_block(const Block& block, const StridesOf& strides) {
  return Fusion(block, strides).run();
}

}  // namespace tpu::compiler
