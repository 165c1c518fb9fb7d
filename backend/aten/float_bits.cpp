// Operators that look at the bits of a floating-point number: its sign, its exponent, its
// neighbours.
#include <cmath>
#include <limits>

#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

constexpr Promotion kKeep = Promotion::kDefault;

Value* signbit(const Pointwise& p) {
  Value* x = p.x[0];
  if (!p.is_float()) {
    return c10::isSignedType(p.common) && p.common != DType::Bool
               ? p.b.compare(x, p.full_int(0), "LT")
               : p.mask(false);
  }
  // The sign of zeros and NaNs counts too: look at the bits.
  const bool wide = p.compute == DType::Double;
  const ElementType bits = wide ? ElementType::kSI64 : ElementType::kSI32;
  Value* pattern = p.b.bitcast_convert(x, {bits, p.shape});
  return p.b.compare(pattern, p.b.splat({bits, p.shape}, int64_t{0}), "LT");
}

Value* copysign(const Pointwise& p) {
  Builder& b = p.b;
  const bool wide = p.compute == DType::Double;
  const ElementType bits = wide ? ElementType::kSI64 : ElementType::kSI32;
  const int64_t sign =
      wide ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int32_t>::min();
  Value* sign_mask = b.splat({bits, p.shape}, sign);
  Value* magnitude = b.and_(b.bitcast_convert(p.x[0], {bits, p.shape}), b.not_(sign_mask));
  Value* sign_bit = b.and_(b.bitcast_convert(p.x[1], {bits, p.shape}), sign_mask);
  return b.bitcast_convert(b.or_(magnitude, sign_bit), p.x[0]->type);
}

// x = mantissa 2^exponent with 0.5 <= |mantissa| < 1; 0, infinities and NaN are their own mantissa.
void split_exponent(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  TORCH_CHECK(c10::isFloatingType(self.dtype), "torch.frexp() only supports floating-point dtypes");
  const bool wide = self.dtype == DType::Double;
  const int64_t mantissa_bits = wide ? 52 : 23, bias = wide ? 1022 : 126;
  Value* x = op.convert(self, wide ? DType::Double : DType::Float);
  const tpu::hlo::TensorType bits{wide ? ElementType::kSI64 : ElementType::kSI32, self.shape()};
  const auto number = [&](int64_t value) { return b.splat(bits, value); };
  // Numbers too small for a leading one are scaled up first, which is exact.
  const double smallest =
      wide ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  Value* tiny = b.compare(b.abs(x), b.splat(x->type, smallest), "LT");
  Value* scaled =
      b.multiply(x, b.splat(x->type, std::ldexp(1.0, static_cast<int>(mantissa_bits) + 1)));
  Value* pattern = b.bitcast_convert(b.select(tiny, scaled, x), bits);
  const int64_t exponent_mask = wide ? 0x7ff : 0xff;
  Value* field =
      b.and_(b.shift_right_logical(pattern, number(mantissa_bits)), number(exponent_mask));
  Value* exponent = b.subtract(field, number(bias));
  exponent = b.select(tiny, b.subtract(exponent, number(mantissa_bits + 1)), exponent);
  Value* cleared = b.and_(pattern, number(~(exponent_mask << mantissa_bits)));
  Value* mantissa = b.bitcast_convert(b.or_(cleared, number(bias << mantissa_bits)), x->type);
  Value* plain = b.or_(b.compare(x, b.splat(x->type, 0.0), "EQ"), b.not_(b.is_finite(x)));
  op.result(op.convert(b.select(plain, x, mantissa), self.dtype), ResultLayout::kOperands, {self});
  op.result(op.convert(b.select(plain, number(0), exponent), DType::Int), ResultLayout::kOperands,
            {self});
}

/// The signed integer type as wide as a float.
ElementType bits_of(ElementType type) {
  const int width = tpu::hlo::bit_width(type);
  return width == 16 ? ElementType::kSI16 : width == 32 ? ElementType::kSI32 : ElementType::kSI64;
}

// The next number towards another one: one step of the bit pattern, which orders numbers of one
// sign.
void next_after(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), other = op.tensor("other");
  const std::vector<Promoted> seen = {self.promoted(), other.promoted()};
  const DType common = result_type(seen);
  TORCH_CHECK(c10::isFloatingType(common), "\"nextafter_cpu\" not implemented for '",
              c10::toString(common), "'");
  const std::vector<Dims> shapes = {self.shape(), other.shape()};
  const Dims shape = broadcast_shapes(shapes);
  Value* x = op.broadcast_to(op.convert(self, common), shape);
  Value* y = op.broadcast_to(op.convert(other, common), shape);
  const tpu::hlo::TensorType bits{bits_of(x->type.element), shape};
  const auto number = [&](int64_t value) { return b.splat(bits, value); };
  Value* zero = b.splat(x->type, 0.0);
  Value* pattern = b.bitcast_convert(x, bits);
  Value* outwards = b.compare(b.compare(x, y, "LT"), b.compare(x, zero, "GT"), "EQ");
  Value* stepped = b.add(pattern, b.select(outwards, number(1), number(-1)));
  // From 0 to the smallest number of y's sign.
  const int64_t sign = int64_t{-1} << (tpu::hlo::bit_width(bits.element) - 1);
  Value* least = b.select(b.compare(y, zero, "LT"), number(sign | 1), number(1));
  stepped = b.select(b.compare(x, zero, "EQ"), least, stepped);
  Value* result = b.select(b.compare(x, y, "EQ"), y, b.bitcast_convert(stepped, x->type));
  Value* nan = b.or_(b.compare(x, x, "NE"), b.compare(y, y, "NE"));
  op.result(b.select(nan, b.add(x, y), result), ResultLayout::kOperands, {self, other});
}

}  // namespace

void add_float_bits(Table& table) {
  const Table rows = {
      {"signbit", unary(kKeep, signbit, PointwiseResult::kBool)},
      {"copysign.Tensor", binary(Promotion::kIntToFloat, copysign)},
      {"frexp.Tensor", split_exponent},
      {"nextafter", next_after},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
