#include "emulator/hlo/testing/rewrite.h"

#include <algorithm>
#include <unordered_set>

#include "emulator/base/error.h"
#include "emulator/hlo/op_table.h"

namespace tpu::hlo::testing {
namespace {

TensorType retyped(const Edit& edit, const TensorType& type) {
  return edit.retype ? edit.retype(type) : type;
}

void copy_op(const Op& op, Builder& to, ValueMap& map, const Edit& edit) {
  if (edit.replace && edit.replace(op, to, map)) return;
  std::vector<Value*> operands;
  for (const Value* operand : op.operands()) operands.push_back(map.at(operand));
  std::vector<std::unique_ptr<Block>> regions;
  for (int i = 0; i < op.num_regions(); ++i) {
    regions.push_back(std::make_unique<Block>());
    Builder inner(*regions.back());
    for (const auto& argument : op.region(i).arguments()) {
      map[argument.get()] = inner.parameter(retyped(edit, argument->type));
    }
    copy_ops(op.region(i), inner, map, edit);
    std::vector<Value*> results;
    for (const Value* value : op.region(i).terminator().operands()) {
      results.push_back(map.at(value));
    }
    inner.ret(results);
  }
  std::vector<TensorType> types;
  for (int i = 0; i < op.num_results(); ++i) types.push_back(retyped(edit, op.result(i)->type));
  const Op* copy =
      to.create(op.kind(), operands, edit.attributes ? edit.attributes(op) : op.attributes(),
                std::move(regions), std::move(types));
  for (int i = 0; i < op.num_results(); ++i) map[op.result(i)] = copy->result(i);
}

void copy_function(const Function& from, Function& to, const Edit& edit) {
  to.is_public = from.is_public;
  Builder builder(to.body);
  ValueMap map;
  for (const auto& argument : from.body.arguments()) {
    map[argument.get()] = builder.parameter(retyped(edit, argument->type));
  }
  copy_ops(from.body, builder, map, edit);
  const auto operands = from.body.terminator().operands();
  std::vector<Value*> results;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool kept = from.name != "main" || !edit.results ||
                      std::ranges::find(*edit.results, i) != edit.results->end();
    if (kept) results.push_back(map.at(operands[i]));
  }
  builder.ret(results);
}

template <class T>
std::vector<T> kept_results(const std::vector<T>& items, const Edit& edit) {
  if (!edit.results) return items;
  std::vector<T> kept;
  for (size_t i = 0; i < items.size(); ++i) {
    if (std::ranges::find(*edit.results, i) != edit.results->end()) kept.push_back(items[i]);
  }
  return kept;
}

// A layout or an alias that no longer fits the type is dropped.
void fit_layouts(Program& program) {
  const std::vector<TensorType> parameters = program.module.main().parameter_types();
  const std::vector<TensorType> results = program.module.main().result_types();
  program.parameter_strides.resize(parameters.size());
  program.result_strides.resize(results.size());
  program.aliases.resize(results.size(), -1);
  for (size_t r = 0; r < results.size(); ++r) {
    const int p = program.aliases[r];
    if (p < 0) continue;
    if (parameters[p] != results[r] || program.parameter_strides[p] != program.result_strides[r]) {
      program.aliases[r] = -1;
    }
  }
}

}  // namespace

void copy_ops(const Block& from, Builder& to, ValueMap& map, const Edit& edit) {
  for (const auto& op : from.ops()) {
    if (op->kind() != OpKind::kReturn) copy_op(*op, to, map, edit);
  }
}

Program rewrite(const Program& program, const Edit& edit, std::vector<Literal> added_arguments) {
  Program result;
  for (const auto& function : program.module.functions()) {
    copy_function(*function, result.module.add_function(function->name), edit);
  }
  verify(result.module);
  result.arguments = program.arguments;
  for (Literal& literal : added_arguments) result.arguments.push_back(std::move(literal));
  result.parameter_strides = program.parameter_strides;
  result.result_strides = kept_results(program.result_strides, edit);
  result.aliases = kept_results(program.aliases, edit);
  fit_layouts(result);
  return result;
}

namespace {

// Which ops and values a function's results need.
class Liveness {
 public:
  explicit Liveness(const Block& block) { visit(block); }
  bool is_live(const Value* value) const { return values_.contains(value); }
  bool is_live(const Op& op) const { return ops_.contains(&op); }

 private:
  void visit(const Block& block) {
    for (const Value* value : block.terminator().operands()) values_.insert(value);
    for (auto at = block.ops().rbegin(); at != block.ops().rend(); ++at) {
      const Op& op = **at;
      if (op.kind() == OpKind::kReturn) continue;
      bool live = has_effect(op);
      for (int i = 0; i < op.num_results(); ++i) live |= is_live(op.result(i));
      if (!live) continue;
      ops_.insert(&op);
      for (const Value* operand : op.operands()) values_.insert(operand);
      for (int i = 0; i < op.num_regions(); ++i) visit(op.region(i));
    }
  }

  // An op without results is there for its effect.
  static bool has_effect(const Op& op) {
    if (op.num_results() == 0) return op.kind() != OpKind::kReturn;
    for (int i = 0; i < op.num_regions(); ++i) {
      for (const auto& inner : op.region(i).ops()) {
        if (inner->kind() != OpKind::kReturn && has_effect(*inner)) return true;
      }
    }
    return op.kind() == OpKind::kCall;
  }

  std::unordered_set<const Value*> values_;
  std::unordered_set<const Op*> ops_;
};

void collect_callees(const Block& block, std::unordered_set<std::string>& names) {
  for (const auto& op : block.ops()) {
    if (op->kind() == OpKind::kCall) names.insert(op->attributes().get<SymbolRef>("callee").name);
    for (int i = 0; i < op->num_regions(); ++i) collect_callees(op->region(i), names);
  }
}

}  // namespace

Program sweep(const Program& program) {
  Program result;
  std::unordered_set<std::string> called = {"main"};
  for (const auto& function : program.module.functions()) collect_callees(function->body, called);

  std::vector<int> new_index(program.arguments.size(), -1);
  for (const auto& function : program.module.functions()) {
    if (!called.contains(function->name)) continue;
    const Liveness live(function->body);
    Function& to = result.module.add_function(function->name);
    to.is_public = function->is_public;
    Builder builder(to.body);
    ValueMap map;
    for (const auto& argument : function->body.arguments()) {
      const bool is_main = function->name == "main";
      if (is_main && !live.is_live(argument.get())) continue;
      if (is_main) {
        new_index[argument->index] = static_cast<int>(result.arguments.size());
        result.arguments.push_back(program.arguments[argument->index]);
        result.parameter_strides.push_back(program.parameter_strides[argument->index]);
      }
      map[argument.get()] = builder.parameter(argument->type);
    }
    Edit edit;
    edit.replace = [&](const Op& op, Builder&, ValueMap&) { return !live.is_live(op); };
    copy_ops(function->body, builder, map, edit);
    std::vector<Value*> results;
    for (const Value* value : function->body.terminator().operands()) {
      results.push_back(map.at(value));
    }
    builder.ret(results);
  }
  result.result_strides = program.result_strides;
  for (int alias : program.aliases) result.aliases.push_back(alias < 0 ? -1 : new_index[alias]);
  fit_layouts(result);
  return result;
}

}  // namespace tpu::hlo::testing
