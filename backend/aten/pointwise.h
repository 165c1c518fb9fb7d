// Elementwise operators: promotion, broadcasting, the type arithmetic runs in, rounding once.
#pragma once

#include <functional>
#include <initializer_list>
#include <string_view>

#include "backend/aten/lowering_table.h"

namespace torch_tpu::aten {

/// From the operands' dtypes to the type that the operator works in and returns.
enum class Promotion : uint8_t {
  kDefault,     ///< torch.result_type
  kIntToFloat,  ///< as kDefault, then integers and bools become the default float type
  kBoolToLong,  ///< as kDefault, then bools become int64
};

/// What the result's dtype is.
enum class PointwiseResult : uint8_t { kCommon, kBool };

/// The operands of one elementwise call, ready to compute with: all of one shape and type.
struct Pointwise {
  Lowering& op;
  Builder& b;
  DType common;   ///< the promoted dtype
  DType compute;  ///< the type of `x`: float32 where `common` is a narrower float
  Dims shape;
  std::vector<Value*> x;  ///< the operands, in the order asked for

  ElementType element() const { return to_element(compute); }
  /// A constant of the compute type, broadcast.
  Value* full(double value) const { return b.splat({element(), shape}, value); }
  Value* full_int(int64_t value) const { return b.splat({element(), shape}, value); }
  /// A number argument in the compute type, broadcast.
  Value* scalar(std::string_view name) const;
  /// An i1 tensor of this shape.
  Value* mask(bool value) const { return b.splat({ElementType::kI1, shape}, int64_t{value}); }
  bool is_float() const { return c10::isFloatingType(common); }
  bool is_complex() const { return c10::isComplexType(common); }
  Value* is_nan(Value* v) const { return b.compare(v, v, "NE"); }
};

using PointwiseBody = std::function<Value*(const Pointwise&)>;

/// Promotes, broadcasts and widens the named operands (tensors or numbers), runs `body`, rounds
/// its value to the result's dtype, and makes it the result with TensorIterator's layout.
void pointwise(Lowering& op, std::initializer_list<std::string_view> operands, Promotion promotion,
               PointwiseResult result, const PointwiseBody& body);

/// Table rows of the common forms.
LowerFunction unary(Promotion promotion, PointwiseBody body,
                    PointwiseResult result = PointwiseResult::kCommon);
LowerFunction binary(Promotion promotion, PointwiseBody body,
                     PointwiseResult result = PointwiseResult::kCommon);
/// Any operand names. Operands that the promotion shall not see are read by `body`.
LowerFunction elementwise(std::vector<std::string_view> operands, Promotion promotion,
                          PointwiseBody body, PointwiseResult result = PointwiseResult::kCommon);

/// One operand in a pointwise computation: cast to `common`, then widened to `compute`. A Python
/// number is not rounded to `common` first, as PyTorch's kernels keep it in the compute type.
Value* to_compute(Lowering& op, const Tensor& x, DType common, DType compute);

}  // namespace torch_tpu::aten
