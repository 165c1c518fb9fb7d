#include "emulator/compiler/passes/describe.h"

#include <algorithm>
#include <unordered_set>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Op;
using hlo::OpKind;
using hlo::Value;
using Unit = KernelDescription::Unit;

std::string op_name(const Op& op) {
  if (op.kind() == OpKind::kCustomCall) return op.attributes().get<std::string>("call_target_name");
  return std::string(hlo::mnemonic(op.kind()));
}

// Multiplications and additions of a matrix product or convolution.
double contraction_flops(const Op& op) {
  const double results = static_cast<double>(op.result()->type.num_elements());
  if (op.kind() == OpKind::kDotGeneral) {
    const auto& numbers = op.attributes().get<hlo::DotDimensionNumbers>("dot_dimension_numbers");
    double depth = 1;
    for (int64_t i : numbers.lhs_contracting_dimensions) {
      depth *= static_cast<double>(op.operand(0)->type.shape[i]);
    }
    return 2 * results * depth;
  }
  const auto& numbers = op.attributes().get<hlo::ConvDimensionNumbers>("dimension_numbers");
  const hlo::Dims& kernel = op.operand(1)->type.shape;
  double depth = static_cast<double>(kernel[numbers.kernel_input_feature_dimension]);
  for (int64_t i : numbers.kernel_spatial_dimensions) depth *= static_cast<double>(kernel[i]);
  return 2 * results * depth;
}

Unit unit_of(const Op& op) {
  switch (op.kind()) {
    case OpKind::kDotGeneral:
    case OpKind::kConvolution:
      return Unit::kMxu;
    case OpKind::kGather:
    case OpKind::kScatter:
    case OpKind::kSort:
      return Unit::kSparseCore;
    case OpKind::kBroadcastInDim:
    case OpKind::kConcatenate:
    case OpKind::kDynamicSlice:
    case OpKind::kDynamicUpdateSlice:
    case OpKind::kPad:
    case OpKind::kReverse:
    case OpKind::kSlice:
    case OpKind::kTranspose:
    case OpKind::kBitcastConvert:
      return Unit::kDma;
    default:
      return Unit::kVpu;
  }
}

void add_ops(const std::vector<const Op*>& ops, KernelDescription& description) {
  bool computes = false;
  for (const Op* op : ops) {
    description.name += (description.name.empty() ? "" : " ") + op_name(*op);
    const OpClass kind = classify(*op);
    if (kind != OpClass::kElementwise && kind != OpClass::kReduce) continue;
    computes = true;
    const Value* counted = kind == OpClass::kReduce ? op->operand(0) : op->result(0);
    const double elements = static_cast<double>(counted->type.num_elements());
    if (is_transcendental(*op)) {
      description.transcendentals += elements;
    } else if (op->kind() != OpKind::kConvert && op->kind() != OpKind::kBitcastConvert) {
      description.flops += elements;
    }
  }
  if (!computes) description.unit = Unit::kDma;
}

}  // namespace

KernelDescription describe_loops(const PlanStep& step) {
  KernelDescription description;
  add_ops(step.ops, description);
  if (step.ops.size() > 1) description.name = "fusion: " + description.name;
  std::unordered_set<const Value*> read;
  for (const LoopKernel& kernel : step.kernels) {
    for (const LoopNode& node : kernel.nodes) {
      if (node.kind != LoopNode::Kind::kLoad || !read.insert(node.value).second) continue;
      const int64_t touched = kernel.size_of(node.variables) * hlo::byte_width(node.type);
      description.bytes_read += std::min(touched, node.value->type.num_bytes());
    }
  }
  for (const Value* output : step.outputs) description.bytes_written += output->type.num_bytes();
  return description;
}

KernelDescription describe_library(const Op& op) {
  KernelDescription description;
  description.name = op_name(op);
  description.unit = unit_of(op);
  if (description.unit == Unit::kMxu) description.flops = contraction_flops(op);
  for (const Value* operand : op.operands()) description.bytes_read += operand->type.num_bytes();
  for (int i = 0; i < op.num_results(); ++i) {
    description.bytes_written += op.result(i)->type.num_bytes();
  }
  return description;
}

KernelDescription describe_copy(const hlo::TensorType& type) {
  return {.name = "copy",
          .unit = Unit::kDma,
          .bytes_read = type.num_bytes(),
          .bytes_written = type.num_bytes()};
}

}  // namespace tpu::compiler
