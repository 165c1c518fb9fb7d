// Rounding to an affine grid of integers and back, for training with quantization in mind:
// q = clamp(zero_point + round(x / scale)), result (q - zero_point) scale. The second result is
// where q was inside the range, which is where the gradient passes.
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// Scale and zero point, spread over the tensor's shape, in float32 as the CPU computes.
struct Grid {
  Value *scale, *zero_point;
};

struct Quantized {
  Value *result, *inside;
};

Quantized fake_quantize(Lowering& op, Value* x, const Grid& grid) {
  Builder& b = op.b;
  const int64_t low = op.integer("quant_min"), high = op.integer("quant_max");
  TORCH_CHECK(low <= high, "`quant_min` should be less than or equal to `quant_max`.");
  const auto number = [&](int64_t value) { return b.splat(x->type, static_cast<double>(value)); };
  Value* steps = b.multiply(x, b.divide(number(1), grid.scale));
  Value* q = b.add(grid.zero_point, b.round_nearest_even(steps));
  Value* inside = b.and_(b.compare(q, number(low), "GE"), b.compare(q, number(high), "LE"));
  Value* clamped = b.minimum(b.maximum(q, number(low)), number(high));
  return {b.multiply(b.subtract(clamped, grid.zero_point), grid.scale), inside};
}

Value* in_float(Lowering& op, const Tensor& x) {
  TORCH_CHECK(c10::isFloatingType(x.dtype), "fake_quantize expects a floating-point tensor, got ",
              c10::toString(x.dtype));
  return op.convert(x, compute_type(x.dtype));
}

void give(Lowering& op, const Tensor& self, const Quantized& q) {
  op.result(op.convert(q.result, self.dtype), ResultLayout::kOperands, {self});
  op.result(q.inside, ResultLayout::kOperands, {self});
}

/// One number or one element for all.
Value* for_all(Lowering& op, std::string_view name, const Value* x) {
  const Tensor number = op.tensor(name);
  TORCH_CHECK(number.numel() == 1, name, " must have 1 element, got ", number.numel());
  Value* scalar = op.b.reshape(number.value, {});
  return op.broadcast_to(op.b.convert(scalar, x->type.element), x->type.shape);
}

void per_tensor(Lowering& op) {
  const Tensor self = op.tensor("self");
  Value* x = in_float(op, self);
  const auto zero_point = static_cast<double>(op.integer("zero_point"));
  give(op, self, fake_quantize(op, x, {for_all(op, "scale", x), op.b.splat(x->type, zero_point)}));
}

// The same with scale and zero point on the device, and a switch.
void per_tensor_of_tensors(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  Value* x = in_float(op, self);
  Quantized q = fake_quantize(op, x, {for_all(op, "scale", x), for_all(op, "zero_point", x)});
  Value* enabled = for_all(op, "fake_quant_enabled", x);
  Value* on = b.compare(enabled, b.splat(x->type, 0.0), "NE");
  q.result = b.select(on, q.result, x);
  q.inside = b.or_(b.not_(on), q.inside);
  give(op, self, q);
}

void per_channel(Lowering& op) {
  const Tensor self = op.tensor("self"), scale = op.tensor("scale"),
               zero_point = op.tensor("zero_point");
  const int64_t axis = op.integer("axis");
  TORCH_CHECK(axis >= 0 && axis < self.dim(),
              "`axis` must be between 0 and number of dimensions of "
              "input");
  TORCH_CHECK(scale.dim() == 1 && zero_point.dim() == 1,
              "scale and zero point need to be 1-D "
              "tensors");
  TORCH_CHECK(scale.size(0) == self.size(axis) && zero_point.size(0) == self.size(axis),
              "dimensions of scale and zero-point are not consistent with input tensor");
  Value* x = in_float(op, self);
  const auto spread = [&](const Tensor& numbers) {
    return op.b.broadcast_in_dim(op.b.convert(numbers.value, x->type.element), self.shape(),
                                 {axis});
  };
  give(op, self, fake_quantize(op, x, {spread(scale), spread(zero_point)}));
}

}  // namespace

void add_quantization(Table& table) {
  const Table rows = {
      {"fake_quantize_per_tensor_affine_cachemask", per_tensor},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", per_tensor_of_tensors},
      {"fake_quantize_per_channel_affine_cachemask", per_channel},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
