// Elementwise operators of three operands, and those that choose between values.
#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

constexpr Promotion kKeep = Promotion::kDefault;

// self + value * (a op b). For integers, addcdiv's division is refused as on the CPU.
Value* add_product(const Pointwise& p) {
  Value* product = p.b.multiply(p.x[1], p.x[2]);
  return p.b.add(p.x[0], p.b.multiply(p.scalar("value"), product));
}

Value* add_quotient(const Pointwise& p) {
  TORCH_CHECK(!c10::isIntegralType(p.common, true),
              "Integer division with addcdiv is no longer supported; use true or floor division "
              "explicitly");
  Value* quotient = p.b.divide(p.x[1], p.x[2]);
  return p.b.add(p.x[0], p.b.multiply(p.scalar("value"), quotient));
}

// Computed from the nearer end, as PyTorch does it, so that weight 1 gives `end` exactly.
Value* interpolate(const Pointwise& p, Value* start, Value* end, Value* weight) {
  Builder& b = p.b;
  Value* span = b.subtract(end, start);
  Value* near_start = b.add(start, b.multiply(weight, span));
  Value* near_end = b.subtract(end, b.multiply(span, b.subtract(p.full(1.0), weight)));
  Value* low = b.compare(b.abs(weight), p.full(0.5), "LT");
  return b.select(low, near_start, near_end);
}

// where(condition, a, b): the condition takes no part in promotion.
void where(Lowering& op) {
  const Tensor condition = op.tensor("condition");
  TORCH_CHECK(condition.dtype == DType::Bool || condition.dtype == DType::Byte,
              "where expected condition to be a boolean tensor, but got a tensor with dtype ",
              c10::toString(condition.dtype));
  const Tensor a = op.tensor("self"), b = op.tensor("other");
  const std::vector<Promoted> seen = {a.promoted(), b.promoted()};
  const DType common = result_type(seen);
  const std::vector<Dims> shapes = {condition.shape(), a.shape(), b.shape()};
  const Dims shape = broadcast_shapes(shapes);
  const auto spread = [&](const Tensor& x, DType to) {
    return op.broadcast_to(op.convert(x, to), shape);
  };
  op.result(op.b.select(spread(condition, DType::Bool), spread(a, common), spread(b, common)),
            ResultLayout::kOperands, {condition, a, b});
}

// masked_fill: the value takes self's dtype.
void masked_fill(Lowering& op) {
  const Tensor self = op.tensor("self"), mask = op.tensor("mask"), value = op.tensor("value");
  TORCH_CHECK(mask.dtype == DType::Bool, "masked_fill only supports boolean masks, but got mask ",
              "with dtype ", c10::toString(mask.dtype));
  TORCH_CHECK(value.dim() == 0,
              "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with ",
              value.dim(), " dimension(s).");
  TORCH_CHECK(!c10::isComplexType(value.dtype) || c10::isComplexType(self.dtype),
              "value cannot be converted to type ", c10::toString(self.dtype), " without overflow");
  const std::vector<Dims> shapes = {self.shape(), mask.shape()};
  const Dims shape = broadcast_shapes(shapes);
  Value* fill = op.broadcast_to(op.convert(value, self.dtype), shape);
  op.result(
      op.b.select(op.broadcast_to(mask.value, shape), fill, op.broadcast_to(self.value, shape)),
      ResultLayout::kOperands, {self, mask});
}

// clamp with numbers or tensors as bounds; NaN inputs stay NaN, NaN bounds give NaN.
LowerFunction clamp(std::string_view low, std::string_view high) {
  return [=](Lowering& op) {
    std::vector<std::string_view> operands = {"self"};
    const bool has_low = !low.empty() && op.has(low), has_high = !high.empty() && op.has(high);
    TORCH_CHECK(has_low || has_high,
                "torch.clamp: At least one of 'min' or 'max' must not be None");
    if (has_low) operands.push_back(low);
    if (has_high) operands.push_back(high);
    elementwise(operands, kKeep, [=](const Pointwise& p) {
      Value* x = p.x[0];
      if (has_low) p.op.require_fits(p.op.tensor(low), p.common);
      if (has_high) p.op.require_fits(p.op.tensor(high), p.common);
      if (has_low) x = p.b.maximum(x, p.x[1]);
      if (has_high) x = p.b.minimum(x, p.x.back());
      return x;
    })(op);
  };
}

}  // namespace

void add_pointwise_ternary(Table& table) {
  const Table rows = {
      {"addcmul", elementwise({"self", "tensor1", "tensor2"}, kKeep, add_product)},
      {"addcdiv", elementwise({"self", "tensor1", "tensor2"}, kKeep, add_quotient)},
      {"lerp.Scalar", real_or_library(elementwise({"self", "end"}, kKeep,
                                                  [](const Pointwise& p) {
                                                    return interpolate(p, p.x[0], p.x[1],
                                                                       p.scalar("weight"));
                                                  }))},
      {"lerp.Tensor", real_or_library(elementwise({"self", "end", "weight"}, kKeep,
                                                  [](const Pointwise& p) {
                                                    return interpolate(p, p.x[0], p.x[1], p.x[2]);
                                                  }))},
      {"where.self", where},
      {"masked_fill.Scalar", masked_fill},
      {"masked_fill.Tensor", masked_fill},
      {"clamp", clamp("min", "max")},
      {"clamp.Tensor", clamp("min", "max")},
      {"clamp_min", clamp("min", "")},
      {"clamp_min.Tensor", clamp("min", "")},
      {"clamp_max", clamp("", "max")},
      {"clamp_max.Tensor", clamp("", "max")},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
