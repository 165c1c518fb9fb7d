#include "emulator/compiler/passes/simplify.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "emulator/base/seeded_fault.h"
#include "emulator/compiler/passes/inline_calls.h"
#include "emulator/compiler/passes/op_class.h"
#include "emulator/hlo/op_table.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Dims;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;

class Simplifier {
 public:
  void run(Block& block) {
    rewrite(block);
    remove_unused(block);
  }

 private:
  Value* replacement(Value* value) const {
    auto found = replaced_.find(value);
    while (found != replaced_.end()) {
      value = found->second;
      found = replaced_.find(value);
    }
    return value;
  }

  // One walk in order: operands are renamed first, so what an op sees is already simple.
  void rewrite(Block& block) {
    std::unordered_multimap<size_t, Op*> by_hash;  // of this block's ops
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops());
    block.ops().clear();
    for (auto& op : old) {
      rename(*op);
      if (folds(*op, block)) {
        retired_.push_back(std::move(op));
        continue;
      }
      Op& kept = *block.append(std::move(op));
      if (kept.num_regions() == 0 && kept.num_results() == 1 && !hlo::has_side_effects(kept)) {
        merge_equal(kept, by_hash);
      }
    }
  }

  void rename(Op& op) {
    for (size_t i = 0; i < op.operands().size(); ++i) {
      op.set_operand(static_cast<int>(i), replacement(op.operand(static_cast<int>(i))));
    }
    for (int i = 0; i < op.num_regions(); ++i) {
      if (classify(op) == OpClass::kControl) {
        rewrite(op.region(i));
      } else {
        for (auto& inner : op.region(i).ops()) rename(*inner);
      }
    }
  }

  // Ops whose results are other values, or constants or broadcasts that take their place. (A
  // barrier keeps ops apart whose order could change bits; here none can.)
  bool folds(const Op& op, Block& block) {
    const auto add = [&](OpKind kind, std::vector<Value*> operands, std::string_view attribute,
                         hlo::Attribute value, const Value* result) {
      hlo::Attributes attributes;
      attributes.set(attribute, std::move(value));
      Op* made = block.append(make(kind, std::move(operands), std::move(attributes), result->type));
      replaced_[result] = made->result();
    };
    if (op.kind() == OpKind::kOptimizationBarrier) {
      for (int i = 0; i < op.num_results(); ++i) replaced_[op.result(i)] = op.operand(i);
      return true;
    }
    if (op.kind() == OpKind::kGetDimensionSize) {
      const int64_t size = op.operand(0)->type.shape[op.attributes().get<int64_t>("dimension")];
      add(OpKind::kConstant, {}, "value", hlo::scalar(hlo::ElementType::kSI32, size), op.result());
      return true;
    }
    if (op.kind() == OpKind::kReduce && op.operand(0)->type.num_elements() == 0) {
      for (int i = 0; i < op.num_results(); ++i) {
        Value* init = op.operand(op.num_results() + i);
        add(OpKind::kBroadcastInDim, {init}, "broadcast_dimensions", Dims{}, op.result(i));
      }
      return true;
    }
    if (is_sum_of_no_products(op)) {
      hlo::Attributes zero;
      const hlo::ElementType element = op.result()->type.element;
      zero.set("value", hlo::scalar(element, int64_t{0}));
      Op* made = block.append(make(OpKind::kConstant, {}, std::move(zero), {element, {}}));
      add(OpKind::kBroadcastInDim, {made->result()}, "broadcast_dimensions", Dims{}, op.result());
      return true;
    }
    if (Value* same = identity(op)) {
      replaced_[op.result()] = same;
      return true;
    }
    return false;
  }

  static bool is_sum_of_no_products(const Op& op) {
    return op.kind() == OpKind::kDotGeneral &&
           (op.operand(0)->type.num_elements() == 0 || op.operand(1)->type.num_elements() == 0);
  }

  static std::unique_ptr<Op> make(OpKind kind, std::vector<Value*> operands,
                                  hlo::Attributes attributes, hlo::TensorType type) {
    return std::make_unique<Op>(kind, std::move(operands), std::move(attributes),
                                std::vector<std::unique_ptr<Block>>{},
                                std::vector<hlo::TensorType>{std::move(type)});
  }

  // The operand that the op passes on unchanged, if it does.
  static Value* identity(const Op& op) {
    if (op.num_results() != 1 || op.operands().empty()) return nullptr;
    Value* operand = op.operand(0);
    if (!(operand->type == op.result()->type)) return nullptr;
    const auto all = [](const Dims& values, auto&& holds) {
      for (size_t i = 0; i < values.size(); ++i) {
        if (!holds(static_cast<int64_t>(i), values[i])) return false;
      }
      return true;
    };
    const auto is_iota = [](int64_t i, int64_t value) { return value == i; };
    switch (op.kind()) {
      case OpKind::kConvert:
      case OpKind::kReshape:
      case OpKind::kBitcastConvert:
        return operand;
      case OpKind::kTranspose:
        return all(op.attributes().get<Dims>("permutation"), is_iota) ? operand : nullptr;
      case OpKind::kBroadcastInDim:
        return all(op.attributes().get<Dims>("broadcast_dimensions"), is_iota) ? operand : nullptr;
      case OpKind::kSlice:
      case OpKind::kDynamicSlice:
        return operand;  // of the same shape: all of it
      case OpKind::kReverse:
        if (seeded("simplify.reverse_dropped")) return operand;
        return all(op.attributes().get<Dims>("dimensions"),
                   [&](int64_t, int64_t d) { return operand->type.shape[d] <= 1; })
                   ? operand
                   : nullptr;
      case OpKind::kDynamicUpdateSlice:
        if (op.operand(1)->type == operand->type) return op.operand(1);
        return op.operand(1)->type.num_elements() == 0 ? operand : nullptr;
      case OpKind::kConcatenate:
        return op.operands().size() == 1 ? operand : nullptr;
      default:
        return nullptr;
    }
  }

  static size_t hash(const Op& op) {
    size_t h = static_cast<size_t>(op.kind());
    for (const Value* operand : op.operands()) {
      h = h * 31 + std::hash<const Value*>()(operand);
    }
    for (int64_t size : op.result()->type.shape) h = h * 31 + static_cast<size_t>(size);
    return h;
  }

  void merge_equal(Op& op, std::unordered_multimap<size_t, Op*>& by_hash) {
    if (classify(op) > OpClass::kLibrary) return;
    const size_t key = hash(op);
    const auto [first, last] = by_hash.equal_range(key);
    for (auto it = first; it != last; ++it) {
      const Op& other = *it->second;
      if (other.kind() == op.kind() && std::ranges::equal(other.operands(), op.operands()) &&
          other.result()->type == op.result()->type &&
          (other.attributes() == op.attributes() || seeded("simplify.attributes_not_compared"))) {
        replaced_[op.result()] = other.result();
        return;
      }
    }
    by_hash.emplace(key, &op);
  }

  // Unused ops -----------------------------------------------------------------------------------

  void remove_unused(Block& block) {
    std::unordered_set<const Value*> used;
    mark(block, used);
  }

  // Backwards: an op stays if it has effects or if something that stays uses it.
  void mark(Block& block, std::unordered_set<const Value*>& used) {
    std::vector<std::unique_ptr<Op>> kept;
    for (auto it = block.ops().rbegin(); it != block.ops().rend(); ++it) {
      Op& op = **it;
      bool stays = op.kind() == OpKind::kReturn || hlo::has_side_effects(op);
      for (int i = 0; i < op.num_results(); ++i) stays = stays || used.contains(op.result(i));
      if (!stays) {
        retired_.push_back(std::move(*it));
        continue;
      }
      for (int i = 0; i < op.num_regions(); ++i) mark(op.region(i), used);
      for (const Value* operand : op.operands()) used.insert(operand);
      kept.push_back(std::move(*it));
    }
    std::reverse(kept.begin(), kept.end());
    block.ops() = std::move(kept);
  }

  std::unordered_map<const Value*, Value*> replaced_;
  std::vector<std::unique_ptr<Op>> retired_;
};

}  // namespace

void simplify(hlo::Module& module) {
  inline_calls(module);
  Simplifier().run(module.main().body);
}

}  // namespace tpu::compiler
