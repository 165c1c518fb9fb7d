// Control flow, calls, and ops that only order others.
#include <algorithm>

#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_while(const OpView& op) {
  const std::vector<TensorType> carried = operand_types(op);
  const TensorType predicate[] = {{ElementType::kI1, {}}};
  require_signature(op, 0, carried, predicate, "c1");
  require_signature(op, 1, carried, carried, "c2");
  return carried;
}

// Branches take nothing and return the same types.
std::vector<TensorType> infer_branches(const OpView& op, std::string_view inputs_label,
                                       std::string_view outputs_label) {
  const std::vector<TensorType> results = block_result_types(op, 0);
  for (size_t i = 0; i < op.regions.size(); ++i) {
    require(op, op.regions[i]->arguments().empty(), inputs_label,
            "branches must not take arguments");
    require_signature(op, static_cast<int>(i), {}, results, outputs_label);
  }
  return results;
}

std::vector<TensorType> infer_case(const OpView& op) {
  require(op, type_of(op, 0) == TensorType{ElementType::kSI32, {}}, "i1",
          "index must be a scalar i32");
  return infer_branches(op, "c2", "c3");
}

std::vector<TensorType> infer_if(const OpView& op) {
  require(op, type_of(op, 0) == TensorType{ElementType::kI1, {}}, "i1", "pred must be a scalar i1");
  return infer_branches(op, "c1", "c2");
}

std::vector<TensorType> infer_optimization_barrier(const OpView& op) {
  return operand_types(op);
}

std::vector<TensorType> infer_after_all(const OpView& op) {
  for (size_t i = 0; i < op.operands.size(); ++i) require_class(op, static_cast<int>(i), kToken);
  return single({ElementType::kToken, {}});
}

std::vector<TensorType> infer_given(const OpView& op) {
  return {op.result_types.begin(), op.result_types.end()};
}

std::vector<TensorType> infer_return(const OpView& op) {
  require(op, op.result_types.empty(), "", "return has no results");
  return {};
}

// Functions that CHLO has and StableHLO has not: elementwise, all operands of one type.
std::vector<TensorType> infer_chlo(const OpView& op) {
  require(op, !op.operands.empty(), "", "a chlo function takes at least one operand");
  for (const Value* operand : op.operands) {
    require(op, operand->type == type_of(op, 0), "",
            "the operands of a chlo function must have the same type");
  }
  return single(type_of(op, 0));
}

std::vector<TensorType> infer_assert(const OpView& op) {
  require(op, op.operands.size() == 1 && type_of(op, 0) == TensorType{ElementType::kI1, {}}, "",
          "tpu.assert takes one scalar i1");
  op.attributes.get<std::string>("message");
  return {};
}

std::vector<TensorType> infer_custom_call(const OpView& op) {
  const std::string& target = op.attributes.get<std::string>("call_target_name");
  if (target.starts_with("chlo.")) return infer_chlo(op);
  if (target == "tpu.assert") return infer_assert(op);
  return infer_given(op);
}

}  // namespace

Rows control_rows() {
  return {
      {.kind = OpKind::kWhile, .num_regions = 2, .implemented = true, .infer = infer_while},
      {.kind = OpKind::kCase,
       .min_operands = 1,
       .max_operands = 1,
       .num_regions = -1,
       .implemented = true,
       .infer = infer_case},
      {.kind = OpKind::kIf,
       .min_operands = 1,
       .max_operands = 1,
       .num_regions = 2,
       .implemented = true,
       .infer = infer_if},
      {.kind = OpKind::kOptimizationBarrier,
       .implemented = true,
       .infer = infer_optimization_barrier},
      {.kind = OpKind::kAfterAll, .infer = infer_after_all},
      // The callee's signature is the verifier's business: an op does not see its module.
      {.kind = OpKind::kCall,
       .attributes = {{"callee", AttributeKind::kSymbol}},
       .implemented = true,
       .infer = infer_given},
      {.kind = OpKind::kReturn, .implemented = true, .infer = infer_return},
      {.kind = OpKind::kCustomCall,
       .attributes = {{"call_target_name", AttributeKind::kString},
                      {"has_side_effect", AttributeKind::kBool, false},
                      {"backend_config", AttributeKind::kString, false},
                      {"api_version", AttributeKind::kI32, false},
                      {"called_computations", AttributeKind::kSymbolArray, false},
                      {"message", AttributeKind::kString, false}},
       .implemented = true,
       .infer = infer_custom_call},
      {.kind = OpKind::kComposite,
       .attributes = {{"name", AttributeKind::kString},
                      {"decomposition", AttributeKind::kSymbol},
                      {"version", AttributeKind::kI32, false}},
       .infer = infer_given},
  };
}

}  // namespace tpu::hlo::ops
