// The code generator's Machine: elementary functions run on it emit instructions for W lanes.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <map>
#include <span>

#include "emulator/tensorcore/vpu/value.h"

namespace tpu::compiler {

/// See tensorcore::Machine for the meaning of the operations. A width of 1 emits scalars.
class LlvmMachine {
 public:
  struct F32 {
    llvm::Value* value;
  };
  struct F64 {
    llvm::Value* value;
  };
  struct I32 {
    llvm::Value* value;
  };
  struct I64 {
    llvm::Value* value;
  };
  struct Mask {
    llvm::Value* value;
  };

  LlvmMachine(llvm::IRBuilder<>& builder, int width) : b_(builder), width_(width) {}

  int width() const { return width_; }
  llvm::Type* vector(llvm::Type* element) const {
    return width_ == 1 ? element : llvm::FixedVectorType::get(element, width_);
  }

  F32 f32(float value) { return {llvm::ConstantFP::get(vector(b_.getFloatTy()), value)}; }
  F64 f64(double value) { return {llvm::ConstantFP::get(vector(b_.getDoubleTy()), value)}; }
  I32 i32(int32_t value) { return {signed_constant(b_.getInt32Ty(), value)}; }
  I64 i64(int64_t value) { return {signed_constant(b_.getInt64Ty(), value)}; }

  F32 add(F32 a, F32 b) { return {b_.CreateFAdd(a.value, b.value)}; }
  F32 sub(F32 a, F32 b) { return {b_.CreateFSub(a.value, b.value)}; }
  F32 mul(F32 a, F32 b) { return {b_.CreateFMul(a.value, b.value)}; }
  F32 div(F32 a, F32 b) { return {b_.CreateFDiv(a.value, b.value)}; }
  F64 add(F64 a, F64 b) { return {b_.CreateFAdd(a.value, b.value)}; }
  F64 sub(F64 a, F64 b) { return {b_.CreateFSub(a.value, b.value)}; }
  F64 mul(F64 a, F64 b) { return {b_.CreateFMul(a.value, b.value)}; }
  F64 div(F64 a, F64 b) { return {b_.CreateFDiv(a.value, b.value)}; }
  F32 fma(F32 a, F32 b, F32 c) { return {call(llvm::Intrinsic::fma, {a.value, b.value, c.value})}; }
  F64 fma(F64 a, F64 b, F64 c) { return {call(llvm::Intrinsic::fma, {a.value, b.value, c.value})}; }
  F32 neg(F32 a) { return {b_.CreateFNeg(a.value)}; }
  F64 neg(F64 a) { return {b_.CreateFNeg(a.value)}; }
  F32 abs(F32 a) { return {call(llvm::Intrinsic::fabs, {a.value})}; }
  F64 abs(F64 a) { return {call(llvm::Intrinsic::fabs, {a.value})}; }
  F32 sqrt(F32 a) { return {call(llvm::Intrinsic::sqrt, {a.value})}; }
  F64 sqrt(F64 a) { return {call(llvm::Intrinsic::sqrt, {a.value})}; }
  F32 round_even(F32 a) { return {call(llvm::Intrinsic::roundeven, {a.value})}; }
  F64 round_even(F64 a) { return {call(llvm::Intrinsic::roundeven, {a.value})}; }
  F32 floor(F32 a) { return {call(llvm::Intrinsic::floor, {a.value})}; }
  F64 floor(F64 a) { return {call(llvm::Intrinsic::floor, {a.value})}; }

  I32 add(I32 a, I32 b) { return {b_.CreateAdd(a.value, b.value)}; }
  I32 sub(I32 a, I32 b) { return {b_.CreateSub(a.value, b.value)}; }
  I32 mul(I32 a, I32 b) { return {b_.CreateMul(a.value, b.value)}; }
  I64 add(I64 a, I64 b) { return {b_.CreateAdd(a.value, b.value)}; }
  I64 sub(I64 a, I64 b) { return {b_.CreateSub(a.value, b.value)}; }
  I64 mul(I64 a, I64 b) { return {b_.CreateMul(a.value, b.value)}; }
  I32 shl(I32 a, I32 b) { return {b_.CreateShl(a.value, masked(b.value, 31))}; }
  I32 shr_logical(I32 a, I32 b) { return {b_.CreateLShr(a.value, masked(b.value, 31))}; }
  I32 shr_arithmetic(I32 a, I32 b) { return {b_.CreateAShr(a.value, masked(b.value, 31))}; }
  I64 shl(I64 a, I64 b) { return {b_.CreateShl(a.value, masked(b.value, 63))}; }
  I64 shr_logical(I64 a, I64 b) { return {b_.CreateLShr(a.value, masked(b.value, 63))}; }
  I64 shr_arithmetic(I64 a, I64 b) { return {b_.CreateAShr(a.value, masked(b.value, 63))}; }
  I32 shl(I32 a, int count) { return shl(a, i32(count)); }
  I32 shr_logical(I32 a, int count) { return shr_logical(a, i32(count)); }
  I32 shr_arithmetic(I32 a, int count) { return shr_arithmetic(a, i32(count)); }
  I64 shl(I64 a, int count) { return shl(a, i64(count)); }
  I64 shr_logical(I64 a, int count) { return shr_logical(a, i64(count)); }
  I64 shr_arithmetic(I64 a, int count) { return shr_arithmetic(a, i64(count)); }

  I32 and_(I32 a, I32 b) { return {b_.CreateAnd(a.value, b.value)}; }
  I32 or_(I32 a, I32 b) { return {b_.CreateOr(a.value, b.value)}; }
  I32 xor_(I32 a, I32 b) { return {b_.CreateXor(a.value, b.value)}; }
  I32 not_(I32 a) { return {b_.CreateNot(a.value)}; }
  I64 and_(I64 a, I64 b) { return {b_.CreateAnd(a.value, b.value)}; }
  I64 or_(I64 a, I64 b) { return {b_.CreateOr(a.value, b.value)}; }
  I64 xor_(I64 a, I64 b) { return {b_.CreateXor(a.value, b.value)}; }
  I64 not_(I64 a) { return {b_.CreateNot(a.value)}; }
  Mask and_(Mask a, Mask b) { return {b_.CreateAnd(a.value, b.value)}; }
  Mask or_(Mask a, Mask b) { return {b_.CreateOr(a.value, b.value)}; }
  Mask not_(Mask a) { return {b_.CreateNot(a.value)}; }

  Mask lt(F32 a, F32 b) { return {b_.CreateFCmpOLT(a.value, b.value)}; }
  Mask le(F32 a, F32 b) { return {b_.CreateFCmpOLE(a.value, b.value)}; }
  Mask gt(F32 a, F32 b) { return {b_.CreateFCmpOGT(a.value, b.value)}; }
  Mask ge(F32 a, F32 b) { return {b_.CreateFCmpOGE(a.value, b.value)}; }
  Mask eq(F32 a, F32 b) { return {b_.CreateFCmpOEQ(a.value, b.value)}; }
  Mask ne(F32 a, F32 b) { return {b_.CreateFCmpUNE(a.value, b.value)}; }
  Mask is_nan(F32 a) { return {b_.CreateFCmpUNO(a.value, a.value)}; }
  Mask lt(F64 a, F64 b) { return {b_.CreateFCmpOLT(a.value, b.value)}; }
  Mask le(F64 a, F64 b) { return {b_.CreateFCmpOLE(a.value, b.value)}; }
  Mask gt(F64 a, F64 b) { return {b_.CreateFCmpOGT(a.value, b.value)}; }
  Mask ge(F64 a, F64 b) { return {b_.CreateFCmpOGE(a.value, b.value)}; }
  Mask eq(F64 a, F64 b) { return {b_.CreateFCmpOEQ(a.value, b.value)}; }
  Mask ne(F64 a, F64 b) { return {b_.CreateFCmpUNE(a.value, b.value)}; }
  Mask is_nan(F64 a) { return {b_.CreateFCmpUNO(a.value, a.value)}; }
  Mask lt(I32 a, I32 b) { return {b_.CreateICmpSLT(a.value, b.value)}; }
  Mask le(I32 a, I32 b) { return {b_.CreateICmpSLE(a.value, b.value)}; }
  Mask gt(I32 a, I32 b) { return {b_.CreateICmpSGT(a.value, b.value)}; }
  Mask ge(I32 a, I32 b) { return {b_.CreateICmpSGE(a.value, b.value)}; }
  Mask eq(I32 a, I32 b) { return {b_.CreateICmpEQ(a.value, b.value)}; }
  Mask ne(I32 a, I32 b) { return {b_.CreateICmpNE(a.value, b.value)}; }
  Mask lt(I64 a, I64 b) { return {b_.CreateICmpSLT(a.value, b.value)}; }
  Mask le(I64 a, I64 b) { return {b_.CreateICmpSLE(a.value, b.value)}; }
  Mask gt(I64 a, I64 b) { return {b_.CreateICmpSGT(a.value, b.value)}; }
  Mask ge(I64 a, I64 b) { return {b_.CreateICmpSGE(a.value, b.value)}; }
  Mask eq(I64 a, I64 b) { return {b_.CreateICmpEQ(a.value, b.value)}; }
  Mask ne(I64 a, I64 b) { return {b_.CreateICmpNE(a.value, b.value)}; }

  F32 select(Mask m, F32 a, F32 b) { return {b_.CreateSelect(m.value, a.value, b.value)}; }
  F64 select(Mask m, F64 a, F64 b) { return {b_.CreateSelect(m.value, a.value, b.value)}; }
  I32 select(Mask m, I32 a, I32 b) { return {b_.CreateSelect(m.value, a.value, b.value)}; }
  I64 select(Mask m, I64 a, I64 b) { return {b_.CreateSelect(m.value, a.value, b.value)}; }

  I32 bits(F32 a) { return {b_.CreateBitCast(a.value, vector(b_.getInt32Ty()))}; }
  I64 bits(F64 a) { return {b_.CreateBitCast(a.value, vector(b_.getInt64Ty()))}; }
  F32 float_of(I32 a) { return {b_.CreateBitCast(a.value, vector(b_.getFloatTy()))}; }
  F64 float_of(I64 a) { return {b_.CreateBitCast(a.value, vector(b_.getDoubleTy()))}; }
  // What does not fit gives an unspecified value, but not poison.
  I32 to_i32(F32 a) { return {b_.CreateFreeze(b_.CreateFPToSI(a.value, vector(b_.getInt32Ty())))}; }
  I32 to_i32(F64 a) { return {b_.CreateFreeze(b_.CreateFPToSI(a.value, vector(b_.getInt32Ty())))}; }
  F32 to_f32(I32 a) { return {b_.CreateSIToFP(a.value, vector(b_.getFloatTy()))}; }
  F64 to_f64(I32 a) { return {b_.CreateSIToFP(a.value, vector(b_.getDoubleTy()))}; }
  F64 widen(F32 a) { return {b_.CreateFPExt(a.value, vector(b_.getDoubleTy()))}; }
  F32 narrow(F64 a) { return {b_.CreateFPTrunc(a.value, vector(b_.getFloatTy()))}; }
  I64 sign_extend(I32 a) { return {b_.CreateSExt(a.value, vector(b_.getInt64Ty()))}; }
  I32 truncate(I64 a) { return {b_.CreateTrunc(a.value, vector(b_.getInt32Ty()))}; }

  F64 lookup(std::span<const double> table, I32 index);

  /// See where_any in trigonometric.h: jumps over compute() if no lane wants it.
  template <typename Bool, typename Values, typename Compute>
  Values where_any(Bool mask, const Values& otherwise, Compute compute) {
    llvm::Value* lanes = mask.native().value;
    llvm::Function* function = b_.GetInsertBlock()->getParent();
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* some = llvm::BasicBlock::Create(b_.getContext(), "some_lane", function);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "after_lanes", function);
    b_.CreateCondBr(width_ == 1 ? lanes : b_.CreateOrReduce(lanes), some, after);
    b_.SetInsertPoint(some);
    const Values computed = compute();
    llvm::BasicBlock* last = b_.GetInsertBlock();
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    Values result = otherwise;
    for (size_t i = 0; i < result.size(); ++i) {
      llvm::Value* kept = otherwise[i].native().value;
      llvm::PHINode* phi = b_.CreatePHI(kept->getType(), 2);
      phi->addIncoming(kept, before);
      phi->addIncoming(computed[i].native().value, last);
      result[i] = {*this, {phi}};
    }
    for (auto& one : result) {
      const size_t i = static_cast<size_t>(&one - result.data());
      one = tensorcore::select(mask, one, otherwise[i]);
    }
    return result;
  }

 private:
  llvm::Value* signed_constant(llvm::Type* element, int64_t value) {
    return llvm::ConstantInt::getSigned(vector(element), value);
  }
  llvm::Value* masked(llvm::Value* count, int64_t mask) {
    return b_.CreateAnd(count, llvm::ConstantInt::getSigned(count->getType(), mask));
  }
  llvm::Value* call(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value*> arguments) {
    return b_.CreateIntrinsic(id, {arguments[0]->getType()}, arguments);
  }

  llvm::IRBuilder<>& b_;
  int width_;
};

static_assert(tensorcore::Machine<LlvmMachine>);

}  // namespace tpu::compiler
