// Conversions between element types, and between memory and registers.
#include <llvm/IR/Intrinsics.h>

#include <cmath>
#include <cstring>

#include "emulator/base/error.h"
#include "emulator/base/floats.h"
#include "emulator/compiler/codegen/element_ops.h"

namespace tpu::compiler {

using hlo::ElementType;
using llvm::Value;

namespace {

const FloatFormat& format_of(ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return kF16;
    case ElementType::kF8E4M3FN:
      return kF8E4M3FN;
    case ElementType::kF8E5M2:
      return kF8E5M2;
    case ElementType::kF8E4M3FNUZ:
      return kF8E4M3FNUZ;
    case ElementType::kF8E5M2FNUZ:
      return kF8E5M2FNUZ;
    default:
      return kF8E4M3B11FNUZ;
  }
}

bool is_narrow(ElementType type) {
  return hlo::is_float(type) && type != ElementType::kF32 && type != ElementType::kF64;
}

uint32_t float_bits(double value) {
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

}  // namespace

llvm::Type* ElementOps::widened(llvm::Type* element, int width) {
  return width == 1 ? element : llvm::FixedVectorType::get(element, width);
}

llvm::Type* ElementOps::lane_type(ElementType type) const {
  type = hlo::real_part(type);
  if (hlo::is_boolean(type)) return b_.getInt1Ty();
  if (type == ElementType::kF64) return b_.getDoubleTy();
  if (hlo::is_float(type)) return b_.getFloatTy();
  return b_.getIntNTy(8 * hlo::byte_width(type));
}

llvm::Type* ElementOps::memory_type(ElementType type) const {
  type = hlo::real_part(type);
  if (type == ElementType::kF32) return b_.getFloatTy();
  if (type == ElementType::kF64) return b_.getDoubleTy();
  return b_.getIntNTy(8 * hlo::byte_width(type));
}

Value* ElementOps::intrinsic(unsigned id, std::initializer_list<Value*> arguments) {
  return b_.CreateIntrinsic(id, {(*arguments.begin())->getType()}, arguments);
}

Value* ElementOps::integer_constant(llvm::Type* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like, value);
}

Lanes ElementOps::from_memory(ElementType type, Value* stored, int width) {
  if (hlo::is_boolean(type)) {
    return {b_.CreateICmpNE(stored, llvm::Constant::getNullValue(stored->getType()))};
  }
  return {is_narrow(type) ? decode_narrow(type, stored, width) : stored};
}

Value* ElementOps::to_memory(ElementType type, Value* lanes, int width) {
  if (hlo::is_boolean(type)) return b_.CreateZExt(lanes, widened(b_.getInt8Ty(), width));
  return is_narrow(type) ? encode_narrow(type, lanes, width) : lanes;
}

Lanes ElementOps::constant(const hlo::Literal& literal, int width) {
  const ElementType type = literal.type().element;
  const std::byte* bytes = literal.bytes().data();
  llvm::Type* memory = memory_type(type);
  const auto part = [&](const std::byte* at) -> Value* {
    if (memory->isFloatTy()) {
      float value;
      std::memcpy(&value, at, sizeof value);
      return llvm::ConstantFP::get(memory, llvm::APFloat(value));
    }
    if (memory->isDoubleTy()) {
      double value;
      std::memcpy(&value, at, sizeof value);
      return llvm::ConstantFP::get(memory, llvm::APFloat(value));
    }
    uint64_t value = 0;
    std::memcpy(&value, at, hlo::byte_width(type));
    return llvm::ConstantInt::get(memory, value);
  };
  if (hlo::is_complex(type)) {
    const int half = hlo::byte_width(type) / 2;
    return splat({part(bytes), part(bytes + half)}, width);
  }
  if (is_narrow(type)) {
    // Decoded here: the constant folder of the IR builder need not be trusted with it.
    const double value = hlo::decode_double(literal, 0);
    return splat({llvm::ConstantFP::get(b_.getFloatTy(), llvm::APFloat(static_cast<float>(value)))},
                 width);
  }
  return splat(from_memory(type, part(bytes), 1), width);
}

Lanes ElementOps::splat(Lanes scalar, int width) {
  if (width == 1) return scalar;
  return {b_.CreateVectorSplat(width, scalar.value),
          scalar.imag ? b_.CreateVectorSplat(width, scalar.imag) : nullptr};
}

Lanes ElementOps::from_index(ElementType type, Value* position, int width) {
  const bool wide = position->getType()->getScalarSizeInBits() == 64;
  return convert({position}, wide ? ElementType::kSI64 : ElementType::kSI32, type, width);
}

Lanes ElementOps::select(Value* mask, Lanes on_true, Lanes on_false) {
  return {b_.CreateSelect(mask, on_true.value, on_false.value),
          on_true.imag ? b_.CreateSelect(mask, on_true.imag, on_false.imag) : nullptr};
}

Value* ElementOps::wrap(ElementType type, Value* x) {
  if (hlo::bit_width(type) != 4) return x;
  Value* four = integer_constant(x->getType(), 4);
  Value* high = b_.CreateShl(x, four);
  return type == ElementType::kSI4 ? b_.CreateAShr(high, four) : b_.CreateLShr(high, four);
}

// Rounding
// -----------------------------------------------------------------------------------------

Value* ElementOps::round_to(ElementType type, Value* x, int width) {
  if (!is_narrow(type)) return x;
  if (type == ElementType::kBF16) return round_to_bf16(x, width);
  return decode_narrow(type, encode_narrow(type, x, width), width);
}

Value* ElementOps::round_to_bf16(Value* x, int width) {
  llvm::Type* integer = widened(b_.getInt32Ty(), width);
  Value* bits = b_.CreateBitCast(x, integer);
  Value* odd = b_.CreateAnd(b_.CreateLShr(bits, uint64_t{16}), uint64_t{1});
  Value* rounded = b_.CreateAdd(b_.CreateAdd(bits, integer_constant(integer, 0x7fff)), odd);
  Value* quiet = b_.CreateOr(bits, uint64_t{0x400000});
  Value* chosen = b_.CreateSelect(b_.CreateFCmpUNO(x, x), quiet, rounded);
  Value* kept = b_.CreateAnd(chosen, integer_constant(integer, int32_t(0xffff0000)));
  return b_.CreateBitCast(kept, x->getType());
}

// See encode_float in base/floats.h; here for a float that is rounded once, without branches.
Value* ElementOps::encode_narrow(ElementType type, Value* x, int width) {
  llvm::Type* integer = widened(b_.getInt32Ty(), width);
  if (type == ElementType::kBF16) {  // already a bf16 number
    Value* high = b_.CreateLShr(b_.CreateBitCast(x, integer), uint64_t{16});
    return b_.CreateTrunc(high, widened(b_.getInt16Ty(), width));
  }
  if (type == ElementType::kF16 && has_f16c()) {
    Value* half = b_.CreateFPTrunc(x, widened(b_.getHalfTy(), width));
    return b_.CreateBitCast(half, widened(b_.getInt16Ty(), width));
  }
  const FloatFormat& format = format_of(type);
  const auto constant = [&](int64_t value) { return integer_constant(integer, int32_t(value)); };
  Value* bits = b_.CreateBitCast(x, integer);
  Value* magnitude = b_.CreateAnd(bits, constant(0x7fffffff));
  Value* sign = b_.CreateAnd(
      b_.CreateLShr(bits, uint64_t(31 - (format.exponent_bits + format.mantissa_bits))),
      constant(format.sign_bit()));
  // Normal numbers: rebias the exponent, then round away the low bits.
  const int drop = 23 - format.mantissa_bits;
  Value* rebiased = b_.CreateSub(magnitude, constant(int64_t{127 - format.bias} << 23));
  Value* odd = b_.CreateAnd(b_.CreateLShr(rebiased, uint64_t(drop)), constant(1));
  Value* carried = b_.CreateAdd(rebiased, constant((int64_t{1} << (drop - 1)) - 1));
  Value* normal = b_.CreateLShr(b_.CreateAdd(carried, odd), uint64_t(drop));
  // Subnormal numbers: adding a power of two whose spacing is the format's rounds for us.
  const int min_exponent = 1 - format.bias;
  const float magic = std::ldexp(1.0f, min_exponent - format.mantissa_bits + 23);
  Value* shifted = b_.CreateFAdd(b_.CreateBitCast(magnitude, x->getType()),
                                 llvm::ConstantFP::get(x->getType(), llvm::APFloat(magic)));
  Value* subnormal = b_.CreateSub(b_.CreateBitCast(shifted, integer), constant(float_bits(magic)));
  Value* small = b_.CreateICmpULT(magnitude, constant(float_bits(std::ldexp(1.0, min_exponent))));
  Value* code = b_.CreateSelect(small, subnormal, normal);
  Value* zero = b_.CreateICmpEQ(code, constant(0));
  code = b_.CreateOr(code, sign);
  if (format.specials == FloatSpecials::kUnsigned) {
    code = b_.CreateSelect(zero, constant(0), code);
  }
  Value* unsigned_code = b_.CreateSelect(small, subnormal, normal);
  Value* too_large = b_.CreateICmpUGT(unsigned_code, constant(format.max_finite()));
  const bool single_nan = format.specials == FloatSpecials::kUnsigned;
  const auto special = [&](uint64_t positive) {
    return single_nan ? constant(positive) : b_.CreateOr(sign, constant(positive));
  };
  code = b_.CreateSelect(too_large, special(format.overflow(false)), code);
  Value* nan = b_.CreateICmpUGT(magnitude, constant(0x7f800000));
  code = b_.CreateSelect(nan, special(format.nan(false)), code);
  return b_.CreateTrunc(code, widened(b_.getIntNTy(8 * hlo::byte_width(type)), width));
}

Value* ElementOps::decode_narrow(ElementType type, Value* stored, int width) {
  llvm::Type* integer = widened(b_.getInt32Ty(), width);
  llvm::Type* real = widened(b_.getFloatTy(), width);
  if (type == ElementType::kBF16) {
    return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(stored, integer), uint64_t{16}), real);
  }
  if (type == ElementType::kF16 && has_f16c()) {
    return b_.CreateFPExt(b_.CreateBitCast(stored, widened(b_.getHalfTy(), width)), real);
  }
  const FloatFormat& format = format_of(type);
  const auto constant = [&](int64_t value) { return integer_constant(integer, int32_t(value)); };
  Value* code = b_.CreateZExt(stored, integer);
  Value* magnitude = b_.CreateAnd(code, constant(format.sign_bit() - 1));
  Value* sign = b_.CreateShl(b_.CreateAnd(code, constant(format.sign_bit())),
                             uint64_t(31 - (format.exponent_bits + format.mantissa_bits)));
  Value* normal = b_.CreateAdd(b_.CreateShl(magnitude, uint64_t(23 - format.mantissa_bits)),
                               constant(int64_t{127 - format.bias} << 23));
  const float unit = std::ldexp(1.0f, 1 - format.bias - format.mantissa_bits);
  Value* counted = b_.CreateFMul(b_.CreateSIToFP(magnitude, real),
                                 llvm::ConstantFP::get(real, llvm::APFloat(unit)));
  Value* small = b_.CreateICmpULT(magnitude, constant(int64_t{1} << format.mantissa_bits));
  Value* bits = b_.CreateSelect(small, b_.CreateBitCast(counted, integer), normal);
  if (format.specials == FloatSpecials::kUnsigned) {
    Value* nan = b_.CreateICmpEQ(code, constant(format.sign_bit()));
    bits = b_.CreateSelect(nan, constant(0x7fc00000), bits);
  } else {
    Value* special = b_.CreateICmpUGT(magnitude, constant(format.max_finite()));
    Value* value = constant(0x7fc00000);
    if (format.specials == FloatSpecials::kIeee) {
      Value* infinite = b_.CreateICmpEQ(magnitude, constant(format.max_finite() + 1));
      value = b_.CreateSelect(infinite, constant(0x7f800000), constant(0x7fc00000));
    }
    bits = b_.CreateSelect(special, value, bits);
  }
  return b_.CreateBitCast(b_.CreateOr(bits, sign), real);
}

// Conversions
// --------------------------------------------------------------------------------------

Lanes ElementOps::convert(Lanes x, ElementType from, ElementType to, int width) {
  if (from == to) return x;
  if (hlo::is_complex(from)) {
    const ElementType part = hlo::real_part(from);
    if (hlo::is_boolean(to)) {
      return {b_.CreateOr(convert_real(x.value, part, to, width),
                          convert_real(x.imag, part, to, width))};
    }
    if (hlo::is_complex(to)) {
      return {convert_real(x.value, part, hlo::real_part(to), width),
              convert_real(x.imag, part, hlo::real_part(to), width)};
    }
    return {convert_real(x.value, part, to, width)};
  }
  if (hlo::is_complex(to)) {
    llvm::Type* part = widened(lane_type(to), width);
    return {convert_real(x.value, from, hlo::real_part(to), width),
            llvm::Constant::getNullValue(part)};
  }
  return {convert_real(x.value, from, to, width)};
}

Value* ElementOps::convert_real(Value* x, ElementType from, ElementType to, int width) {
  if (from == to) return x;
  llvm::Type* type = widened(lane_type(to), width);
  if (hlo::is_boolean(to)) {
    llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
    return hlo::is_float(from) ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero);
  }
  if (hlo::is_float(from)) {
    if (!hlo::is_float(to)) return float_to_integer(x, to, width);
    if (to == ElementType::kF64) return b_.CreateFPExt(x, type);
    if (from == ElementType::kF64) x = b_.CreateFPTrunc(x, type);
    const bool exact = from == ElementType::kF32 || from == ElementType::kF64;
    return exact || to != ElementType::kF32 ? round_to(to, x, width) : x;
  }
  if (hlo::is_float(to)) {
    Value* real =
        hlo::is_signed_integer(from) ? b_.CreateSIToFP(x, type) : b_.CreateUIToFP(x, type);
    return round_to(to, real, width);
  }
  const bool extend_sign = hlo::is_signed_integer(from);
  return wrap(to, extend_sign ? b_.CreateSExtOrTrunc(x, type) : b_.CreateZExtOrTrunc(x, type));
}

Value* ElementOps::float_to_integer(Value* x, ElementType to, int width) {
  llvm::Type* type = widened(lane_type(to), width);
  const bool is_signed = hlo::is_signed_integer(to);
  const auto id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  Value* result = b_.CreateIntrinsic(id, {type, x->getType()}, {x});
  if (hlo::bit_width(to) != 4) return result;
  const int64_t low = is_signed ? -8 : 0, high = is_signed ? 7 : 15;
  Value* least = integer_constant(type, low);
  Value* most = integer_constant(type, high);
  if (is_signed) {
    result = b_.CreateSelect(b_.CreateICmpSLT(result, least), least, result);
    return b_.CreateSelect(b_.CreateICmpSGT(result, most), most, result);
  }
  return b_.CreateSelect(b_.CreateICmpUGT(result, most), most, result);
}

Value* ElementOps::reduce_precision(const hlo::Op& op, Value* x, int width) {
  const int64_t exponent_bits = op.attributes().get<int64_t>("exponent_bits");
  const int64_t mantissa_bits = op.attributes().get<int64_t>("mantissa_bits");
  const bool is_double = x->getType()->getScalarType()->isDoubleTy();
  const int width_bits = is_double ? 64 : 32;
  const int own_exponent = is_double ? 11 : 8, own_mantissa = is_double ? 52 : 23;
  llvm::Type* type = widened(b_.getIntNTy(width_bits), width);
  const auto constant = [&](uint64_t value) { return llvm::ConstantInt::get(type, value); };
  const uint64_t sign_mask = uint64_t{1} << (width_bits - 1);
  const uint64_t infinity = ((uint64_t{1} << own_exponent) - 1) << own_mantissa;
  Value* all = b_.CreateBitCast(x, type);
  Value* sign = b_.CreateAnd(all, constant(sign_mask));
  Value* bits = b_.CreateAnd(all, constant(sign_mask - 1));
  Value* nan = b_.CreateICmpUGT(bits, constant(infinity));
  if (mantissa_bits < own_mantissa) {
    const uint64_t drop = own_mantissa - mantissa_bits;
    Value* odd = b_.CreateAnd(b_.CreateLShr(bits, drop), constant(1));
    bits = b_.CreateAdd(b_.CreateAdd(bits, constant((uint64_t{1} << (drop - 1)) - 1)), odd);
    bits = b_.CreateAnd(bits, constant(~((uint64_t{1} << drop) - 1)));
  }
  if (exponent_bits < own_exponent) {
    const int64_t bias = (int64_t{1} << (own_exponent - 1)) - 1;
    const int64_t reduced = (int64_t{1} << (exponent_bits - 1)) - 1;
    // Exponents above `reduced` become infinite, those at or below -reduced zero.
    Value* high = constant(uint64_t(bias + reduced + 1) << own_mantissa);
    Value* low = constant(uint64_t(bias - reduced + 1) << own_mantissa);
    bits = b_.CreateSelect(b_.CreateICmpUGE(bits, high), constant(infinity), bits);
    bits = b_.CreateSelect(b_.CreateICmpULT(bits, low), constant(0), bits);
  }
  Value* result = b_.CreateBitCast(b_.CreateOr(bits, sign), x->getType());
  Value* of_nan =
      mantissa_bits > 0 ? x : b_.CreateBitCast(b_.CreateOr(sign, constant(infinity)), x->getType());
  return b_.CreateSelect(nan, of_nan, result);
}

}  // namespace tpu::compiler
