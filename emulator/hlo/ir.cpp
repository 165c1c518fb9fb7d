#include "emulator/hlo/ir.h"

#include <unordered_map>

#include "emulator/base/error.h"

namespace tpu::hlo {

Op::Op(OpKind kind, std::vector<Value*> operands, Attributes attributes,
       std::vector<std::unique_ptr<Block>> regions, std::vector<TensorType> result_types)
    : kind_(kind),
      operands_(std::move(operands)),
      attributes_(std::move(attributes)),
      regions_(std::move(regions)) {
  for (TensorType& type : result_types) {
    auto value = std::make_unique<Value>();
    value->type = std::move(type);
    value->def = this;
    value->index = static_cast<int>(results_.size());
    results_.push_back(std::move(value));
  }
}

Op::~Op() = default;

Value* Block::add_argument(TensorType type) {
  auto value = std::make_unique<Value>();
  value->type = std::move(type);
  value->block = this;
  value->index = static_cast<int>(arguments_.size());
  arguments_.push_back(std::move(value));
  return arguments_.back().get();
}

Op* Block::append(std::unique_ptr<Op> op) {
  op->parent = this;
  ops_.push_back(std::move(op));
  return ops_.back().get();
}

Op& Block::terminator() const {
  if (ops_.empty() || ops_.back()->kind() != OpKind::kReturn) {
    throw InvalidArgument("a block must end in 'return'");
  }
  return *ops_.back();
}

std::vector<TensorType> Function::parameter_types() const {
  std::vector<TensorType> types;
  for (const auto& argument : body.arguments()) types.push_back(argument->type);
  return types;
}

std::vector<TensorType> Function::result_types() const {
  std::vector<TensorType> types;
  for (const Value* value : body.terminator().operands()) types.push_back(value->type);
  return types;
}

Function& Module::add_function(std::string name) {
  if (find(name)) throw InvalidArgument("function @" + name + " is defined twice");
  functions_.push_back(std::make_unique<Function>());
  functions_.back()->name = std::move(name);
  return *functions_.back();
}

Function* Module::find(std::string_view name) const {
  for (const auto& function : functions_) {
    if (function->name == name) return function.get();
  }
  return nullptr;
}

Function& Module::main() const {
  if (Function* function = find("main")) return *function;
  throw InvalidArgument("module '" + name_ + "' has no function @main");
}

namespace {

using ValueMap = std::unordered_map<const Value*, Value*>;

void clone_into(const Block& from, Block& to, ValueMap& map) {
  for (const auto& argument : from.arguments()) {
    map[argument.get()] = to.add_argument(argument->type);
  }
  for (const auto& op : from.ops()) {
    std::vector<Value*> operands;
    for (const Value* operand : op->operands()) operands.push_back(map.at(operand));
    std::vector<std::unique_ptr<Block>> regions;
    for (int i = 0; i < op->num_regions(); ++i) {
      regions.push_back(std::make_unique<Block>());
      clone_into(op->region(i), *regions.back(), map);
    }
    std::vector<TensorType> types;
    for (int i = 0; i < op->num_results(); ++i) types.push_back(op->result(i)->type);
    Op* copy = to.append(std::make_unique<Op>(op->kind(), std::move(operands), op->attributes(),
                                              std::move(regions), std::move(types)));
    for (int i = 0; i < op->num_results(); ++i) map[op->result(i)] = copy->result(i);
  }
}

}  // namespace

Module Module::clone() const {
  Module copy(name_);
  for (const auto& function : functions_) {
    Function& to = copy.add_function(function->name);
    to.is_public = function->is_public;
    ValueMap map;
    clone_into(function->body, to.body, map);
  }
  return copy;
}

}  // namespace tpu::hlo
