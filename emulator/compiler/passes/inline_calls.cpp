#include "emulator/compiler/passes/inline_calls.h"

#include <unordered_map>

#include "emulator/base/error.h"

namespace tpu::compiler {
namespace {

using hlo::Block;
using hlo::Op;
using hlo::OpKind;
using hlo::Value;
using ValueMap = std::unordered_map<const Value*, Value*>;

constexpr int kMaxDepth = 100;

class Inliner {
 public:
  explicit Inliner(const hlo::Module& module) : module_(module) {}

  /// Rebuilds the block's ops with the bodies of callees in place of calls.
  void run(Block& block) {
    ValueMap map;
    std::vector<std::unique_ptr<Op>> old = std::move(block.ops());
    block.ops().clear();
    for (auto& op : old) {
      if (op->kind() == OpKind::kCall) {
        expand(*op, block, map, 1);
        retired_.push_back(std::move(op));
        continue;
      }
      rename(*op, map);
      block.append(std::move(op));
    }
  }

 private:
  static Value* mapped(const ValueMap& map, Value* value) {
    const auto found = map.find(value);
    return found == map.end() ? value : found->second;
  }

  // Uses, in the op and in its regions, of values that calls made; and calls in its regions.
  void rename(Op& op, ValueMap& map) {
    for (size_t i = 0; i < op.operands().size(); ++i) {
      op.set_operand(static_cast<int>(i), mapped(map, op.operand(static_cast<int>(i))));
    }
    for (int i = 0; i < op.num_regions(); ++i) {
      run(op.region(i));
      for (auto& inner : op.region(i).ops()) rename(*inner, map);
    }
  }

  void expand(const Op& call, Block& block, ValueMap& map, int depth) {
    const std::string& name = call.attributes().get<hlo::SymbolRef>("callee").name;
    const hlo::Function* callee = module_.find(name);
    if (!callee) throw InvalidArgument("call of @" + name + ", which is not in the module");
    if (depth > kMaxDepth) throw InvalidArgument("@" + name + " calls itself");
    ValueMap inner;
    for (size_t i = 0; i < call.operands().size(); ++i) {
      inner[callee->body.argument(static_cast<int>(i))] =
          mapped(map, call.operand(static_cast<int>(i)));
    }
    for (const auto& op : callee->body.ops()) {
      if (op->kind() == OpKind::kCall) {
        expand(*op, block, inner, depth + 1);
      } else if (op->kind() == OpKind::kReturn) {
        for (int i = 0; i < call.num_results(); ++i) {
          map[call.result(i)] = mapped(inner, op->operand(i));
        }
      } else {
        copy(*op, block, inner, depth);
      }
    }
  }

  void copy(const Op& op, Block& block, ValueMap& map, int depth) {
    std::vector<Value*> operands;
    for (Value* operand : op.operands()) operands.push_back(mapped(map, operand));
    std::vector<std::unique_ptr<Block>> regions;
    for (int i = 0; i < op.num_regions(); ++i) {
      regions.push_back(std::make_unique<Block>());
      const Block& from = op.region(i);
      for (const auto& argument : from.arguments()) {
        map[argument.get()] = regions.back()->add_argument(argument->type);
      }
      for (const auto& inner : from.ops()) {
        if (inner->kind() == OpKind::kCall) {
          expand(*inner, *regions.back(), map, depth + 1);
        } else {
          copy(*inner, *regions.back(), map, depth);
        }
      }
    }
    std::vector<hlo::TensorType> types;
    for (int i = 0; i < op.num_results(); ++i) types.push_back(op.result(i)->type);
    Op* made = block.append(std::make_unique<Op>(op.kind(), std::move(operands), op.attributes(),
                                                 std::move(regions), std::move(types)));
    for (int i = 0; i < op.num_results(); ++i) map[op.result(i)] = made->result(i);
  }

  const hlo::Module& module_;
  std::vector<std::unique_ptr<Op>> retired_;  // their results are keys of maps until the end
};

}  // namespace

void inline_calls(hlo::Module& module) {
  Inliner(module).run(module.main().body);
}

}  // namespace tpu::compiler
