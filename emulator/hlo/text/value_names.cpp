#include "emulator/hlo/text/value_names.h"

#include <span>
#include <string_view>
#include <vector>

namespace tpu::hlo::text {
namespace {

using Names = std::vector<std::string_view>;

// The names that an op gives its results in the pretty form; empty if they are numbered.
Names own_names(const Op& op) {
  switch (op.kind()) {
    case OpKind::kConstant: {
      const ElementType element = op.result()->type.element;
      return {is_integer(element) || is_boolean(element) ? "c" : "cst"};
    }
    case OpKind::kRngBitGenerator:
      return {"output_state", "output"};
    case OpKind::kBatchNormTraining:
      return {"output", "batch_mean", "batch_var"};
    case OpKind::kBatchNormGrad:
      return {"grad_operand", "grad_scale", "grad_offset"};
    default:
      return {};
  }
}

bool has_own_names(const Op& op) {
  const Names names = own_names(op);
  return !names.empty() && static_cast<int>(names.size()) == op.num_results();
}

}  // namespace

ValueNames::ValueNames(const Block& body, TextForm form) : form_(form) {
  name_block(body, nullptr, {});
}

std::string ValueNames::unique(const std::string& name, Counters& counters) {
  std::string probe = name;
  while (!used_.insert(probe).second) {
    probe = name + "_" + std::to_string(counters.conflict++);
  }
  in_order_.push_back(probe);
  return probe;
}

void ValueNames::name_results(const Op& op, Counters& counters) {
  if (op.num_results() == 0) return;
  if (form_ == TextForm::kPretty && has_own_names(op)) {
    const Names names = own_names(op);
    for (int i = 0; i < op.num_results(); ++i) {
      names_[op.result(i)] = "%" + unique(std::string(names[i]), counters);
    }
    return;
  }
  const std::string name = "%" + std::to_string(counters.value++);
  for (int i = 0; i < op.num_results(); ++i) {
    names_[op.result(i)] = op.num_results() == 1 ? name : name + "#" + std::to_string(i);
  }
}

// A block's own values are named before those of the regions inside it; each region continues
// from there.
void ValueNames::name_block(const Block& block, const Op* owner, Counters counters) {
  const size_t outer = in_order_.size();
  const bool is_loop =
      form_ == TextForm::kPretty && owner != nullptr && owner->kind() == OpKind::kWhile;
  for (const auto& argument : block.arguments()) {
    const std::string name = is_loop ? "iterArg" : "arg" + std::to_string(counters.argument++);
    names_[argument.get()] = "%" + unique(name, counters);
  }
  for (const auto& op : block.ops()) name_results(*op, counters);
  for (const auto& op : block.ops()) {
    for (int i = 0; i < op->num_regions(); ++i) name_block(op->region(i), op.get(), counters);
  }
  for (; in_order_.size() > outer; in_order_.pop_back()) used_.erase(in_order_.back());
}

const std::string& ValueNames::operator[](const Value* value) const {
  static const std::string unknown = "%<unknown>";
  const auto found = names_.find(value);
  return found == names_.end() ? unknown : found->second;
}

std::string ValueNames::results(const Op& op) const {
  if (op.num_results() == 0) return "";
  const std::string& first = (*this)[op.result()];
  if (op.num_results() == 1) return first;
  const size_t mark = first.find('#');
  if (mark != std::string::npos) {
    return first.substr(0, mark) + ":" + std::to_string(op.num_results());
  }
  std::string names;
  for (int i = 0; i < op.num_results(); ++i) names += (i ? ", " : "") + (*this)[op.result(i)];
  return names;
}

}  // namespace tpu::hlo::text
