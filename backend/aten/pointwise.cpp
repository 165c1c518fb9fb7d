#include "backend/aten/pointwise.h"

#include <c10/core/DefaultDtype.h>

namespace torch_tpu::aten {
namespace {

DType promote(std::span<const Tensor> operands, Promotion promotion) {
  std::vector<Promoted> seen;
  for (const Tensor& operand : operands) seen.push_back(operand.promoted());
  const DType common = result_type(seen);
  if (promotion == Promotion::kIntToFloat && c10::isIntegralType(common, /*includeBool=*/true)) {
    return c10::get_default_dtype_as_scalartype();
  }
  if (promotion == Promotion::kBoolToLong && common == DType::Bool) return DType::Long;
  return common;
}

}  // namespace

Value* to_compute(Lowering& op, const Tensor& x, DType common, DType compute) {
  Value* value = x.wrapped_number ? x.value : op.convert(x, common);
  return op.convert(value, compute);
}

Value* Pointwise::scalar(std::string_view name) const {
  return op.broadcast_to(op.convert(op.scalar(name), compute), shape);
}

void pointwise(Lowering& op, std::initializer_list<std::string_view> operands, Promotion promotion,
               PointwiseResult result, const PointwiseBody& body) {
  elementwise({operands.begin(), operands.end()}, promotion, body, result)(op);
}

LowerFunction elementwise(std::vector<std::string_view> names, Promotion promotion,
                          PointwiseBody body, PointwiseResult result) {
  return [=](Lowering& op) {
    std::vector<Tensor> operands;
    std::vector<Dims> shapes;
    for (std::string_view name : names) {
      operands.push_back(op.tensor(name));
      shapes.push_back(operands.back().shape());
    }
    const DType common = promote(operands, promotion);
    Pointwise p{op, op.b, common, compute_type(common), broadcast_shapes(shapes), {}};
    for (const Tensor& operand : operands) {
      p.x.push_back(op.broadcast_to(to_compute(op, operand, common, p.compute), p.shape));
    }
    Value* value = body(p);
    const DType out = result == PointwiseResult::kBool ? DType::Bool : common;
    op.result(op.convert(value, out), ResultLayout::kOperands, std::move(operands));
  };
}

LowerFunction unary(Promotion promotion, PointwiseBody body, PointwiseResult result) {
  return elementwise({"self"}, promotion, std::move(body), result);
}

LowerFunction binary(Promotion promotion, PointwiseBody body, PointwiseResult result) {
  return elementwise({"self", "other"}, promotion, std::move(body), result);
}

}  // namespace torch_tpu::aten
