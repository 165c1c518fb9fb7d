#include "emulator/compiler/codegen/element_ops.h"

#include <llvm/IR/Intrinsics.h>

#include <string>
#include <unordered_map>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/llvm_machine.h"
#include "emulator/tensorcore/vpu/complex.h"

namespace tpu::compiler {

using hlo::ElementType;
using hlo::Op;
using hlo::OpKind;
using llvm::Value;
using llvm::Intrinsic::ID;

namespace {

[[noreturn]] void throw_no_op(const Op& op, ElementType type) {
  std::string name(hlo::mnemonic(op.kind()));
  if (op.kind() == OpKind::kCustomCall) name = op.attributes().get<std::string>("call_target_name");
  throw Unimplemented("the compiler has no '" + name + "' of " + std::string(hlo::name(type)) +
                      " elements");
}

bool is_signed(ElementType type) {
  return hlo::is_signed_integer(type);
}

}  // namespace

Lanes ElementOps::apply(const Op& op, std::span<const Lanes> x, int width) {
  const ElementType type = op.operand(0)->type.element;
  switch (op.kind()) {
    case OpKind::kSelect:
      return select(x[0].value, x[1], x[2]);
    case OpKind::kConvert:
      return convert(x[0], type, op.result()->type.element, width);
    case OpKind::kBitcastConvert: {
      const ElementType to = op.result()->type.element;
      if (hlo::is_complex(type) || hlo::is_complex(to)) throw_no_op(op, type);
      Value* stored = to_memory(type, x[0].value, width);
      stored = b_.CreateBitCast(stored, widened(memory_type(to), width));
      Lanes result = from_memory(to, stored, width);
      return {wrap(to, result.value)};
    }
    case OpKind::kComplex:
      return {x[0].value, x[1].value};
    case OpKind::kReal:
      return {x[0].value};
    case OpKind::kImag:
      if (x[0].imag) return {x[0].imag};
      return {llvm::Constant::getNullValue(x[0].value->getType())};
    case OpKind::kCompare:
      return {compare(op, x, type, width)};
    default:
      break;
  }
  if (hlo::is_complex(type)) return apply_complex(op, x, type, width);
  if (hlo::is_float(type)) return apply_float(op, x, type, width);
  if (hlo::is_boolean(type)) return apply_boolean(op, x, width);
  return apply_integer(op, x, type, width);
}

// Floats
// -------------------------------------------------------------------------------------------

Lanes ElementOps::apply_float(const Op& op, std::span<const Lanes> x, ElementType type, int width) {
  Value* a = x[0].value;
  Value* b = x.size() > 1 ? x[1].value : nullptr;
  switch (op.kind()) {
    case OpKind::kAdd:
      return {round_to(type, b_.CreateFAdd(a, b), width)};
    case OpKind::kSubtract:
      return {round_to(type, b_.CreateFSub(a, b), width)};
    case OpKind::kMultiply:
      return {round_to(type, b_.CreateFMul(a, b), width)};
    case OpKind::kDivide:
      return {round_to(type, b_.CreateFDiv(a, b), width)};
    case OpKind::kRemainder:
      return {round_to(type, float_remainder(a, b), width)};
    case OpKind::kMaximum:
      return {intrinsic(llvm::Intrinsic::maximum, {a, b})};
    case OpKind::kMinimum:
      return {intrinsic(llvm::Intrinsic::minimum, {a, b})};
    case OpKind::kClamp:
      return {intrinsic(llvm::Intrinsic::minimum,
                        {intrinsic(llvm::Intrinsic::maximum, {b, a}), x[2].value})};
    case OpKind::kNegate:
      return {round_to(type, b_.CreateFNeg(a), width)};
    case OpKind::kAbs:
      return {intrinsic(llvm::Intrinsic::fabs, {a})};
    case OpKind::kSign: {
      llvm::Constant* one = llvm::ConstantFP::get(a->getType(), 1.0);
      Value* signed_one = intrinsic(llvm::Intrinsic::copysign, {one, a});
      Value* keep = b_.CreateFCmpUEQ(a, llvm::Constant::getNullValue(a->getType()));
      return {b_.CreateSelect(keep, a, signed_one)};
    }
    case OpKind::kCeil:
      return {round_to(type, intrinsic(llvm::Intrinsic::ceil, {a}), width)};
    case OpKind::kFloor:
      return {round_to(type, intrinsic(llvm::Intrinsic::floor, {a}), width)};
    case OpKind::kRoundNearestAfz:
      return {round_to(type, intrinsic(llvm::Intrinsic::round, {a}), width)};
    case OpKind::kRoundNearestEven:
      return {round_to(type, intrinsic(llvm::Intrinsic::roundeven, {a}), width)};
    case OpKind::kIsFinite:
      return {b_.CreateFCmpOLT(intrinsic(llvm::Intrinsic::fabs, {a}),
                               llvm::ConstantFP::getInfinity(a->getType()))};
    case OpKind::kReducePrecision:
      return {round_to(type, reduce_precision(op, a, width), width)};
    default:
      return {round_to(type, elementary(op, x, type, width), width)};
  }
}

// Integers
// -----------------------------------------------------------------------------------------

Lanes ElementOps::apply_integer(const Op& op, std::span<const Lanes> x, ElementType type,
                                int width) {
  Value* a = x[0].value;
  Value* b = x.size() > 1 ? x[1].value : nullptr;
  llvm::Type* const t = a->getType();
  const bool sign = is_signed(type);
  const int bits = hlo::bit_width(type);
  const auto constant = [&](int64_t value) { return integer_constant(t, value); };
  // The value's bits without sign extension (4-bit values fill a byte), and shift counts.
  const auto raw = [&](Value* v) { return bits == 4 ? b_.CreateAnd(v, constant(15)) : v; };
  const auto largest = [&](Value* u, Value* v) {
    return intrinsic(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, {u, v});
  };
  const auto least = [&](Value* u, Value* v) {
    return intrinsic(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, {u, v});
  };
  switch (op.kind()) {
    case OpKind::kAdd:
      return {wrap(type, b_.CreateAdd(a, b))};
    case OpKind::kSubtract:
      return {wrap(type, b_.CreateSub(a, b))};
    case OpKind::kMultiply:
      return {wrap(type, b_.CreateMul(a, b))};
    case OpKind::kDivide:
    case OpKind::kRemainder:
      return {wrap(type, divide_integers(a, b, type, op.kind() == OpKind::kRemainder))};
    case OpKind::kMaximum:
      return {largest(a, b)};
    case OpKind::kMinimum:
      return {least(a, b)};
    case OpKind::kClamp:
      return {least(largest(b, a), x[2].value)};
    case OpKind::kPower:
      return {wrap(type, integer_power(a, b, type, width))};
    case OpKind::kNegate:
      return {wrap(type, b_.CreateNeg(a))};
    case OpKind::kAbs:
      if (!sign) return {a};
      return {wrap(type, b_.CreateSelect(b_.CreateICmpSLT(a, constant(0)), b_.CreateNeg(a), a))};
    case OpKind::kSign: {
      Value* one = b_.CreateSelect(b_.CreateICmpEQ(a, constant(0)), constant(0), constant(1));
      if (!sign) return {one};
      return {b_.CreateSelect(b_.CreateICmpSLT(a, constant(0)), constant(-1), one)};
    }
    case OpKind::kAnd:
      return {b_.CreateAnd(a, b)};
    case OpKind::kOr:
      return {b_.CreateOr(a, b)};
    case OpKind::kXor:
      return {b_.CreateXor(a, b)};
    case OpKind::kNot:
      return {wrap(type, b_.CreateNot(a))};
    case OpKind::kShiftLeft:
    case OpKind::kShiftRightLogical: {
      Value* count = raw(b);
      Value* fits = b_.CreateICmpULT(count, constant(bits));
      Value* safe = b_.CreateSelect(fits, count, constant(0));
      Value* shifted =
          op.kind() == OpKind::kShiftLeft ? b_.CreateShl(a, safe) : b_.CreateLShr(raw(a), safe);
      return {wrap(type, b_.CreateSelect(fits, shifted, constant(0)))};
    }
    case OpKind::kShiftRightArithmetic: {
      Value* extended = a;
      if (bits == 4) extended = b_.CreateAShr(b_.CreateShl(a, constant(4)), constant(4));
      Value* count =
          intrinsic(llvm::Intrinsic::umin, {raw(b), constant(8 * hlo::byte_width(type) - 1)});
      return {wrap(type, b_.CreateAShr(extended, count))};
    }
    case OpKind::kPopcnt:
      return {wrap(type, intrinsic(llvm::Intrinsic::ctpop, {raw(a)}))};
    case OpKind::kCountLeadingZeros: {
      Value* zeros = b_.CreateIntrinsic(llvm::Intrinsic::ctlz, {t}, {raw(a), b_.getFalse()});
      return {wrap(type, bits == 4 ? b_.CreateSub(zeros, constant(4)) : zeros)};
    }
    default:
      throw_no_op(op, type);
  }
}

Value* ElementOps::divide_integers(Value* x, Value* y, ElementType type, bool remainder) {
  llvm::Type* const t = x->getType();
  Value* zero = integer_constant(t, 0);
  Value* by_zero = b_.CreateICmpEQ(y, zero);
  if (!is_signed(type)) {
    Value* divisor = b_.CreateSelect(by_zero, integer_constant(t, 1), y);
    if (remainder) return b_.CreateSelect(by_zero, x, b_.CreateURem(x, divisor));
    return b_.CreateSelect(by_zero, integer_constant(t, -1), b_.CreateUDiv(x, divisor));
  }
  // The minimum divided by -1 would trap.
  Value* by_minus_one = b_.CreateICmpEQ(y, integer_constant(t, -1));
  Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), integer_constant(t, 1), y);
  if (remainder) {
    Value* rest = b_.CreateSelect(by_minus_one, zero, b_.CreateSRem(x, divisor));
    return b_.CreateSelect(by_zero, x, rest);
  }
  Value* quotient = b_.CreateSelect(by_minus_one, b_.CreateNeg(x), b_.CreateSDiv(x, divisor));
  return b_.CreateSelect(by_zero, integer_constant(t, -1), quotient);
}

// x - y trunc(x / y) in float64, which is exact for float32 numbers while the quotient has 29 bits
// or fewer: its product with y then fits, and a quotient that rounding has lifted by one shows as a
// remainder of the wrong sign. Lanes that need more (or are not finite) send all to fmod, which
// takes ten times as long.
Value* ElementOps::float_remainder(Value* x, Value* y) {
  if (!x->getType()->getScalarType()->isFloatTy()) return b_.CreateFRem(x, y);
  llvm::Type* const wide = x->getType()->getWithNewType(b_.getDoubleTy());
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  Value* dividend = b_.CreateFPExt(intrinsic(llvm::Intrinsic::fabs, {x}), wide);
  Value* divisor = b_.CreateFPExt(intrinsic(llvm::Intrinsic::fabs, {y}), wide);
  Value* quotient = intrinsic(llvm::Intrinsic::trunc, {b_.CreateFDiv(dividend, divisor)});
  Value* rest = b_.CreateFSub(dividend, b_.CreateFMul(quotient, divisor));
  Value* negative = b_.CreateFCmpOLT(rest, llvm::Constant::getNullValue(wide));
  rest = b_.CreateSelect(negative, b_.CreateFAdd(rest, divisor), rest);
  Value* quick = intrinsic(llvm::Intrinsic::copysign, {b_.CreateFPTrunc(rest, x->getType()), x});
  Value* exact = b_.CreateAnd(b_.CreateFCmpOLT(quotient, llvm::ConstantFP::get(wide, 0x1p29)),
                              b_.CreateFCmpOLT(divisor, llvm::ConstantFP::getInfinity(wide)));
  if (x->getType()->isVectorTy()) exact = b_.CreateAndReduce(exact);

  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* slow = llvm::BasicBlock::Create(b_.getContext(), "remainder.slow", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "remainder", function);
  b_.CreateCondBr(exact, after, slow);
  b_.SetInsertPoint(slow);
  Value* any = b_.CreateFRem(x, y);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* result = b_.CreatePHI(x->getType(), 2);
  result->addIncoming(quick, before);
  result->addIncoming(any, slow);
  return result;
}

Value* ElementOps::integer_power(Value* x, Value* y, ElementType type, int) {
  llvm::Type* const t = x->getType();
  llvm::Function* function = b_.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b_.getContext(), "power", function);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "power.done", function);
  Value* one = integer_constant(t, 1);
  Value* zero = integer_constant(t, 0);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* step = b_.CreatePHI(b_.getInt32Ty(), 2);
  llvm::PHINode* result = b_.CreatePHI(t, 2);
  llvm::PHINode* base = b_.CreatePHI(t, 2);
  llvm::PHINode* exponent = b_.CreatePHI(t, 2);
  Value* odd = b_.CreateICmpNE(b_.CreateAnd(exponent, one), zero);
  Value* next = b_.CreateSelect(odd, b_.CreateMul(result, base), result);
  Value* next_base = b_.CreateMul(base, base);
  Value* next_exponent = b_.CreateLShr(exponent, one);
  Value* next_step = b_.CreateAdd(step, b_.getInt32(1));
  step->addIncoming(b_.getInt32(0), before);
  step->addIncoming(next_step, loop);
  result->addIncoming(one, before);
  result->addIncoming(next, loop);
  base->addIncoming(x, before);
  base->addIncoming(next_base, loop);
  exponent->addIncoming(y, before);
  exponent->addIncoming(next_exponent, loop);
  Value* more = b_.CreateICmpULT(next_step, b_.getInt32(8 * hlo::byte_width(type)));
  b_.CreateCondBr(more, loop, after);
  b_.SetInsertPoint(after);
  if (!is_signed(type)) return next;
  // A negative exponent: the reciprocal truncated, which is not 0 only for 1 and -1.
  Value* minus_one = integer_constant(t, -1);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(y, one), zero);
  Value* of_minus_one = b_.CreateSelect(even, one, x);
  Value* reciprocal =
      b_.CreateSelect(b_.CreateICmpEQ(x, one), x,
                      b_.CreateSelect(b_.CreateICmpEQ(x, minus_one), of_minus_one, zero));
  return b_.CreateSelect(b_.CreateICmpSLT(y, zero), reciprocal, next);
}

Lanes ElementOps::apply_boolean(const Op& op, std::span<const Lanes> x, int) {
  Value* a = x[0].value;
  Value* b = x.size() > 1 ? x[1].value : nullptr;
  switch (op.kind()) {
    case OpKind::kAdd:
    case OpKind::kOr:
    case OpKind::kMaximum:
      return {b_.CreateOr(a, b)};
    case OpKind::kMultiply:
    case OpKind::kAnd:
    case OpKind::kMinimum:
      return {b_.CreateAnd(a, b)};
    case OpKind::kXor:
      return {b_.CreateXor(a, b)};
    case OpKind::kNot:
      return {b_.CreateNot(a)};
    case OpKind::kClamp:
      return {b_.CreateAnd(b_.CreateOr(b, a), x[2].value)};
    default:
      throw_no_op(op, ElementType::kI1);
  }
}

// Complex numbers
// ----------------------------------------------------------------------------------

template <class F>
Lanes ElementOps::complex_parts(std::span<const Lanes> x, ElementType type, int width, F&& f) {
  LlvmMachine machine(b_, width);
  const auto run = [&]<class T>(T) -> Lanes {
    using Complex = tensorcore::Complex<T>;
    const Complex a{T{x[0].value}, T{x[0].imag}};
    const Complex b = x.size() > 1 ? Complex{T{x[1].value}, T{x[1].imag}} : a;
    const Complex result = f(machine, a, b);
    return {result.re.value, result.im.value};
  };
  if (type == ElementType::kComplexF64) return run(LlvmMachine::F64{});
  return run(LlvmMachine::F32{});
}

Lanes ElementOps::apply_complex(const Op& op, std::span<const Lanes> x, ElementType type,
                                int width) {
  const auto with = [&](auto&& f) { return complex_parts(x, type, width, f); };
  switch (op.kind()) {
    case OpKind::kAdd:
      return with([](auto& m, auto a, auto b) { return complex_add(m, a, b); });
    case OpKind::kSubtract:
      return with([](auto& m, auto a, auto b) { return complex_subtract(m, a, b); });
    case OpKind::kMultiply:
      return with([](auto& m, auto a, auto b) { return complex_multiply(m, a, b); });
    case OpKind::kDivide:
      return with([](auto& m, auto a, auto b) { return complex_divide(m, a, b); });
    case OpKind::kNegate:
      return with([](auto& m, auto a, auto) { return complex_negate(m, a); });
    default:
      return complex_elementary(op, x, type, width);
  }
}

// Comparisons
// --------------------------------------------------------------------------------------

// An integer that orders as totalOrder does, with all NaNs equal and largest.
Value* ElementOps::total_order_key(Value* x, int width) {
  const bool is_double = x->getType()->getScalarType()->isDoubleTy();
  llvm::Type* type = widened(b_.getIntNTy(is_double ? 64 : 32), width);
  const int64_t largest = is_double ? INT64_MAX : INT32_MAX;
  Value* bits = b_.CreateBitCast(x, type);
  Value* negative = b_.CreateICmpSLT(bits, integer_constant(type, 0));
  Value* key = b_.CreateSelect(negative, b_.CreateXor(bits, integer_constant(type, largest)), bits);
  return b_.CreateSelect(b_.CreateFCmpUNO(x, x), integer_constant(type, largest), key);
}

Value* ElementOps::compare(const Op& op, std::span<const Lanes> x, ElementType type, int width) {
  const std::string& direction = op.attributes().get_enum("comparison_direction");
  const hlo::EnumValue order = op.attributes().get_or("compare_type", hlo::EnumValue{});
  Value* a = x[0].value;
  Value* b = x[1].value;
  if (hlo::is_complex(type)) {
    if (direction == "EQ") {
      return b_.CreateAnd(b_.CreateFCmpOEQ(a, b), b_.CreateFCmpOEQ(x[0].imag, x[1].imag));
    }
    if (direction == "NE") {
      return b_.CreateOr(b_.CreateFCmpUNE(a, b), b_.CreateFCmpUNE(x[0].imag, x[1].imag));
    }
    throw_no_op(op, type);
  }
  using Predicate = llvm::CmpInst::Predicate;
  struct Row {
    const char* direction;
    Predicate real, with_sign, without_sign;
  };
  static constexpr Row kRows[] = {
      {"EQ", Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {"NE", Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {"GE", Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
      {"GT", Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {"LE", Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {"LT", Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
  };
  for (const Row& row : kRows) {
    if (direction != row.direction) continue;
    if (hlo::is_float(type) && order.value == "TOTALORDER") {
      return b_.CreateICmp(row.with_sign, total_order_key(a, width), total_order_key(b, width));
    }
    if (hlo::is_float(type)) return b_.CreateFCmp(row.real, a, b);
    return b_.CreateICmp(is_signed(type) ? row.with_sign : row.without_sign, a, b);
  }
  throw InvalidArgument("comparison direction '" + direction +
                        "'; expected EQ, NE, GE, GT, LE or LT");
}

// Regions
// ------------------------------------------------------------------------------------------

std::vector<Lanes> ElementOps::apply_region(const hlo::Block& block,
                                            std::span<const Lanes> arguments, int width) {
  std::unordered_map<const hlo::Value*, Lanes> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values[block.argument(static_cast<int>(i))] = arguments[i];
  }
  std::vector<Lanes> operands;
  for (const auto& op : block.ops()) {
    operands.clear();
    for (const hlo::Value* operand : op->operands()) {
      const auto found = values.find(operand);
      if (found == values.end()) {
        throw Unimplemented("the region of an op uses a value from outside of it, in '" +
                            std::string(hlo::mnemonic(op->kind())) + "'");
      }
      operands.push_back(found->second);
    }
    switch (op->kind()) {
      case OpKind::kReturn:
        return operands;
      case OpKind::kConstant:
        values[op->result()] = constant(op->attributes().get<hlo::Literal>("value"), width);
        break;
      case OpKind::kOptimizationBarrier:
        for (size_t i = 0; i < operands.size(); ++i) {
          values[op->result(static_cast<int>(i))] = operands[i];
        }
        break;
      case OpKind::kBroadcastInDim:
      case OpKind::kReshape:
        values[op->result()] = operands[0];  // rank 0 to rank 0
        break;
      default:
        if (op->num_regions() > 0 || op->operands().empty()) {
          throw Unimplemented("'" + std::string(hlo::mnemonic(op->kind())) +
                              "' in the region of an op");
        }
        values[op->result()] = apply(*op, operands, width);
    }
  }
  throw InvalidArgument("a region must end in 'return'");
}

}  // namespace tpu::compiler
