// Arithmetic that only integers have: bits, shifts, divisors.
#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

constexpr Promotion kKeep = Promotion::kDefault;

LowerFunction bitwise(OpKind kind, std::string_view name) {
  return binary(kKeep, [kind, name](const Pointwise& p) {
    TORCH_CHECK(c10::isIntegralType(p.common, true), "\"", name, "_cpu\" not implemented for '",
                c10::toString(p.common), "'");
    return p.b.binary(kind, p.x[0], p.x[1]);
  });
}

LowerFunction shift(bool left) {
  return binary(kKeep, [left](const Pointwise& p) {
    TORCH_CHECK(c10::isIntegralType(p.common, true) && p.common != DType::Bool,
                "shift is not implemented for '", c10::toString(p.common), "'");
    if (left) return p.b.shift_left(p.x[0], p.x[1]);
    return c10::isSignedType(p.common) ? p.b.shift_right_arithmetic(p.x[0], p.x[1])
                                       : p.b.shift_right_logical(p.x[0], p.x[1]);
  });
}

// Euclid's algorithm on all elements at once, until none has a remainder.
Value* greatest_common_divisor(const Pointwise& p) {
  Builder& b = p.b;
  TORCH_CHECK(c10::isIntegralType(p.common, true) && p.common != DType::Bool,
              "\"gcd_cpu\" not implemented for '", c10::toString(p.common), "'");
  const bool is_signed = c10::isSignedType(p.common);
  const auto magnitude = [&](Value* x) { return is_signed ? b.abs(x) : x; };
  const auto zeros = [](Builder& r, Value* x) { return r.splat(x->type, int64_t{0}); };
  const Dims all = iota_dims(static_cast<int64_t>(p.shape.size()));
  return b.while_(
      {magnitude(p.x[0]), magnitude(p.x[1])},
      [&](Builder& r, std::span<Value* const> a) {
        Value* left = r.compare(a[1], zeros(r, a[1]), "NE");
        Value* none = r.constant(ElementType::kI1, int64_t{0});
        r.ret({all.empty() ? left
                           : r.reduce({left}, {none}, all, Builder::combiner(OpKind::kOr))[0]});
      },
      [&](Builder& r, std::span<Value* const> a) {
        Value* done = r.compare(a[1], zeros(r, a[1]), "EQ");
        Value* divisor = r.select(done, r.splat(a[1]->type, int64_t{1}), a[1]);
        r.ret({r.select(done, a[0], a[1]), r.remainder(a[0], divisor)});
      })[0];
}

Value* least_common_multiple(const Pointwise& p) {
  Builder& b = p.b;
  Value* divisor = greatest_common_divisor(p);
  Value* none = b.compare(divisor, p.full_int(0), "EQ");
  Value* quotient = b.divide(p.x[0], b.select(none, p.full_int(1), divisor));
  Value* product = b.multiply(quotient, p.x[1]);
  return b.select(none, p.full_int(0), c10::isSignedType(p.common) ? b.abs(product) : product);
}

}  // namespace

void add_integer(Table& table) {
  const Table rows = {
      {"bitwise_and.Tensor", bitwise(OpKind::kAnd, "bitwise_and")},
      {"bitwise_or.Tensor", bitwise(OpKind::kOr, "bitwise_or")},
      {"bitwise_xor.Tensor", bitwise(OpKind::kXor, "bitwise_xor")},
      {"bitwise_left_shift.Tensor", shift(/*left=*/true)},
      {"bitwise_right_shift.Tensor", shift(/*left=*/false)},
      {"__lshift__.Scalar", shift(true)},
      {"__lshift__.Tensor", shift(true)},
      {"__rshift__.Scalar", shift(false)},
      {"__rshift__.Tensor", shift(false)},
      {"__ilshift__.Scalar", shift(true)},
      {"__ilshift__.Tensor", shift(true)},
      {"__irshift__.Scalar", shift(false)},
      {"__irshift__.Tensor", shift(false)},
      {"gcd", binary(kKeep, greatest_common_divisor)},
      {"lcm", binary(kKeep, least_common_multiple)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
