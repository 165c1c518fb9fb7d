// Checks whole modules: SSA dominance, terminators, calls, and each op against its row of the
// table.
#include <algorithm>
#include <unordered_set>

#include "emulator/base/error.h"
#include "emulator/hlo/op_table.h"

namespace tpu::hlo {
namespace {

std::string join(std::span<const TensorType> types) {
  std::string text;
  for (const TensorType& type : types) text += (text.empty() ? "" : ", ") + to_string(type);
  return text;
}

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  void run() {
    for (const auto& function : module_.functions()) {
      function_ = function.get();
      visible_.clear();
      check_block(function->body);
    }
    check_recursion();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InvalidArgument("in function @" + function_->name + ": " + what);
  }

  // Values defined inside a block are visible to later ops of it and to their regions only.
  void check_block(const Block& block) {
    std::vector<const Value*> defined;
    const auto define = [&](const Value* value) {
      visible_.insert(value);
      defined.push_back(value);
    };
    for (const auto& argument : block.arguments()) {
      if (argument->block != &block) fail("a block argument names another block as its owner");
      define(argument.get());
    }
    if (block.ops().empty() || block.ops().back()->kind() != OpKind::kReturn) {
      fail("a block must end in 'return'");
    }
    for (const auto& op : block.ops()) {
      if (op->parent != &block) fail(describe(*op) + " names another block as its parent");
      if (op->kind() == OpKind::kReturn && op != block.ops().back()) {
        fail("'return' must be a block's last op");
      }
      check_op(*op);
      for (int i = 0; i < op->num_results(); ++i) define(op->result(i));
    }
    for (const Value* value : defined) visible_.erase(value);
  }

  void check_op(const Op& op) {
    for (const Value* operand : op.operands()) {
      if (!operand) fail(describe(op) + " has a null operand");
      if (!visible_.contains(operand)) {
        fail(describe(op) + " uses a value before its definition, or from another scope");
      }
    }
    for (int i = 0; i < op.num_regions(); ++i) check_block(op.region(i));
    check_types(op);
    if (op.kind() == OpKind::kCall) check_call(op);
  }

  void check_types(const Op& op) {
    std::vector<TensorType> given;
    for (int i = 0; i < op.num_results(); ++i) given.push_back(op.result(i)->type);
    try {
      const std::vector<TensorType> inferred =
          infer_types({op.kind(), op.operands(), op.attributes(), op.regions(), given});
      if (inferred != given) {
        fail(describe(op) + " must have results (" + join(inferred) + "), has (" + join(given) +
             ")");
      }
    } catch (const InvalidArgument& error) {
      fail(error.what());
    }
  }

  void check_call(const Op& op) {
    const std::string& callee = op.attributes().get<SymbolRef>("callee").name;
    const Function* function = module_.find(callee);
    if (!function) fail("call of @" + callee + ", which the module does not define");
    std::vector<TensorType> arguments, results;
    for (const Value* operand : op.operands()) arguments.push_back(operand->type);
    for (int i = 0; i < op.num_results(); ++i) results.push_back(op.result(i)->type);
    const std::vector<TensorType> parameters = function->parameter_types();
    const std::vector<TensorType> returned = function->result_types();
    if (parameters == arguments && returned == results) return;
    fail("call of @" + callee + " must have type (" + join(parameters) + ") -> (" + join(returned) +
         "), has (" + join(arguments) + ") -> (" + join(results) + ")");
  }

  // A chip has no call stack: no function may reach itself.
  void check_recursion() {
    std::unordered_set<const Function*> done, active;
    for (const auto& function : module_.functions()) visit(*function, done, active);
  }

  void visit(const Function& function, std::unordered_set<const Function*>& done,
             std::unordered_set<const Function*>& active) {
    if (done.contains(&function)) return;
    function_ = &function;
    if (!active.insert(&function).second) fail("the function calls itself");
    visit_calls(function.body, done, active);
    active.erase(&function);
    done.insert(&function);
  }

  void visit_calls(const Block& block, std::unordered_set<const Function*>& done,
                   std::unordered_set<const Function*>& active) {
    for (const auto& op : block.ops()) {
      if (op->kind() == OpKind::kCall) {
        visit(*module_.find(op->attributes().get<SymbolRef>("callee").name), done, active);
      }
      for (int i = 0; i < op->num_regions(); ++i) visit_calls(op->region(i), done, active);
    }
  }

  static std::string describe(const Op& op) {
    return "'stablehlo." + std::string(mnemonic(op.kind())) + "'";
  }

  const Module& module_;
  const Function* function_ = nullptr;
  std::unordered_set<const Value*> visible_;
};

}  // namespace

void verify(const Module& module) {
  Verifier(module).run();
}

}  // namespace tpu::hlo
