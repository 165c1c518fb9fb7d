#include "emulator/compiler/passes/op_class.h"

#include <string>

#include "emulator/hlo/op_table.h"

namespace tpu::compiler {

using hlo::OpKind;

bool is_chlo(const hlo::Op& op) {
  return op.kind() == OpKind::kCustomCall &&
         op.attributes().get<std::string>("call_target_name").starts_with("chlo.");
}

namespace {

bool same_width(const hlo::Op& op) {
  return hlo::bit_width(op.operand(0)->type.element) == hlo::bit_width(op.result()->type.element);
}

OpClass classify_custom_call(const hlo::Op& op) {
  if (is_chlo(op)) return OpClass::kElementwise;
  if (op.attributes().get<std::string>("call_target_name") == "tpu.assert") return OpClass::kAssert;
  return OpClass::kLibrary;
}

}  // namespace

OpClass classify(const hlo::Op& op) {
  switch (op.kind()) {
    case OpKind::kConstant:
    case OpKind::kIota:
    case OpKind::kBroadcastInDim:
    case OpKind::kReshape:
    case OpKind::kTranspose:
    case OpKind::kSlice:
    case OpKind::kReverse:
    case OpKind::kDynamicSlice:
      return OpClass::kLayout;
    case OpKind::kConcatenate:
    case OpKind::kPad:
      return OpClass::kJoin;
    case OpKind::kReduce:
      return OpClass::kReduce;
    case OpKind::kDynamicUpdateSlice:
      return OpClass::kUpdate;
    case OpKind::kBitcastConvert:
      return same_width(op) ? OpClass::kElementwise : OpClass::kLibrary;
    case OpKind::kMap:
      return OpClass::kElementwise;
    case OpKind::kWhile:
    case OpKind::kCase:
    case OpKind::kIf:
      return OpClass::kControl;
    case OpKind::kCustomCall:
      return classify_custom_call(op);
    case OpKind::kReturn:
      return OpClass::kReturn;
    case OpKind::kCall:
      return OpClass::kUnsupported;
    default:
      return hlo::op_info(op.kind()).elementwise ? OpClass::kElementwise : OpClass::kLibrary;
  }
}

bool is_loop_op(const hlo::Op& op) {
  return classify(op) <= OpClass::kUpdate;
}

bool is_transcendental(const hlo::Op& op) {
  switch (op.kind()) {
    case OpKind::kAtan2:
    case OpKind::kCbrt:
    case OpKind::kCosine:
    case OpKind::kExponential:
    case OpKind::kExponentialMinusOne:
    case OpKind::kLog:
    case OpKind::kLogPlusOne:
    case OpKind::kLogistic:
    case OpKind::kPower:
    case OpKind::kRsqrt:
    case OpKind::kSine:
    case OpKind::kSqrt:
    case OpKind::kTan:
    case OpKind::kTanh:
      return true;
    default:
      return is_chlo(op);
  }
}

bool is_expensive(const hlo::Op& op) {
  return op.kind() == OpKind::kDivide || op.kind() == OpKind::kRemainder || is_transcendental(op);
}

}  // namespace tpu::compiler
