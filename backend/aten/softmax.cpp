// Softmax, its logarithm, and their gradients.
#include <limits>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

struct SoftmaxInput {
  Value* x;  ///< in the compute type
  Dims dims;
  DType out;
};

SoftmaxInput read(Lowering& op) {
  const Tensor self = op.tensor("self");
  TORCH_CHECK(c10::isFloatingType(self.dtype), "\"softmax_kernel_impl\" not implemented for '",
              c10::toString(self.dtype), "'");
  SoftmaxInput in{widened(op, self), {}, self.dtype};
  // half_to_float: the result of a half input is asked for in float32.
  if (op.boolean("half_to_float")) in.out = DType::Float;
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  if (self.dim() > 0) in.dims = {dim};
  return in;
}

Value* reduce_broadcast(Lowering& op, Value* x, OpKind kind, const Dims& dims) {
  return op.broadcast_to(op.reduce(x, kind, dims, /*keepdim=*/true), x->type.shape);
}

void softmax(Lowering& op) {
  Builder& b = op.b;
  const SoftmaxInput in = read(op);
  Value* exps =
      b.exponential(b.subtract(in.x, reduce_broadcast(op, in.x, OpKind::kMaximum, in.dims)));
  Value* total = reduce_broadcast(op, exps, OpKind::kAdd, in.dims);
  op.result(op.convert(b.divide(exps, total), in.out));
}

void log_softmax(Lowering& op) {
  Builder& b = op.b;
  const SoftmaxInput in = read(op);
  Value* shifted = b.subtract(in.x, reduce_broadcast(op, in.x, OpKind::kMaximum, in.dims));
  Value* total = op.reduce(b.exponential(shifted), OpKind::kAdd, in.dims, true);
  Value* log_total = op.broadcast_to(b.log(total), in.x->type.shape);
  op.result(op.convert(b.subtract(shifted, log_total), in.out));
}

// softmax, but a row in which everything is masked (-inf) gives zeros where softmax gives NaN.
void safe_softmax(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const DType out = op.dtype("dtype").value_or(self.dtype);
  Value* x = op.convert(op.convert(self, out), compute_type(out));
  const Dims dims = self.dim() == 0 ? Dims{} : Dims{wrap_dim(op.integer("dim"), self.dim())};
  Value* largest = op.reduce(x, OpKind::kMaximum, dims, /*keepdim=*/true);
  const double lowest = -std::numeric_limits<double>::infinity();
  Value* masked = b.compare(largest, b.splat(largest->type, lowest), "EQ");
  Value* exps = b.exponential(b.subtract(x, op.broadcast_to(largest, x->type.shape)));
  Value* total = reduce_broadcast(op, exps, OpKind::kAdd, dims);
  Value* zero = b.splat(x->type, 0.0);
  op.result(op.convert(
      b.select(op.broadcast_to(masked, x->type.shape), zero, b.divide(exps, total)), out));
}

struct SoftmaxGradient {
  Value *grad, *output;  ///< in the compute type
  Dims dims;
  DType out;
};

SoftmaxGradient read_gradient(Lowering& op) {
  const Tensor grad = op.tensor("grad_output"), output = op.tensor("output");
  SoftmaxGradient in{widened(op, grad), widened(op, output), {}, *op.dtype("input_dtype")};
  if (output.dim() > 0) in.dims = {wrap_dim(op.integer("dim"), output.dim())};
  return in;
}

// dx = y (dy - sum(dy y))
void softmax_backward(Lowering& op) {
  Builder& b = op.b;
  const SoftmaxGradient in = read_gradient(op);
  Value* product = b.multiply(in.grad, in.output);
  Value* total = reduce_broadcast(op, product, OpKind::kAdd, in.dims);
  op.result(op.convert(b.multiply(in.output, b.subtract(in.grad, total)), in.out));
}

// dx = dy - exp(y) sum(dy)
void log_softmax_backward(Lowering& op) {
  Builder& b = op.b;
  const SoftmaxGradient in = read_gradient(op);
  Value* total = reduce_broadcast(op, in.grad, OpKind::kAdd, in.dims);
  op.result(op.convert(b.subtract(in.grad, b.multiply(b.exponential(in.output), total)), in.out));
}

/// Attention's mask, true where nothing is attended to, in the shape of the scores [B, H, T, T].
/// mask_type 0: [T, T] for all; 1: [B, T], the keys that are padding; else of the scores' shape.
Value* attention_mask(Lowering& op, const Dims& scores) {
  Builder& b = op.b;
  const Tensor mask = op.tensor("mask");
  TORCH_CHECK(mask.dtype == DType::Bool, "Mask should be a boolean tensor");
  const int64_t type = op.has("mask_type") ? op.integer("mask_type") : 2;
  if (type == 1) {
    TORCH_CHECK(scores.size() == 4 && mask.shape() == (Dims{scores[0], scores[3]}),
                "For mask_type == 1 mask shape should be (B, L), got ",
                c10::IntArrayRef(mask.shape()));
    return b.broadcast_in_dim(mask.value, scores, {0, 3});
  }
  const std::vector<Dims> shapes = {mask.shape(), scores};
  TORCH_CHECK(broadcast_shapes(shapes) == scores, "the mask ", c10::IntArrayRef(mask.shape()),
              " does not fit the scores ", c10::IntArrayRef(scores));
  return op.broadcast_to(mask.value, scores);
}

Dims masked_dims(Lowering& op, int64_t rank) {
  return rank == 0 ? Dims{} : Dims{wrap_dim(op.has("dim") ? op.integer("dim") : -1, rank)};
}

// Softmax over what is not masked; 0 elsewhere. A row of nothing but masked scores is NaN.
void masked_softmax(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Dims dims = masked_dims(op, self.dim());
  Value* mask = attention_mask(op, self.shape());
  Value* wide = widened(op, self);
  Value* lowest = b.splat(wide->type, -std::numeric_limits<double>::infinity());
  Value* x = b.select(mask, lowest, wide);
  Value* exps = b.exponential(b.subtract(x, reduce_broadcast(op, x, OpKind::kMaximum, dims)));
  op.result(op.convert(b.divide(exps, reduce_broadcast(op, exps, OpKind::kAdd, dims)), self.dtype));
}

void masked_softmax_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad_output"), output = op.tensor("output");
  Value* mask = attention_mask(op, output.shape());
  Value* y = widened(op, output);
  Value* dy = widened(op, grad);
  Value* zero = b.splat(y->type, 0.0);
  Value* product = b.select(mask, zero, b.multiply(dy, y));
  Value* total = reduce_broadcast(op, product, OpKind::kAdd, masked_dims(op, output.dim()));
  Value* dx = b.multiply(y, b.subtract(dy, total));
  op.result(op.convert(b.select(mask, zero, dx), grad.dtype));
}

}  // namespace

void add_softmax(Table& table) {
  const Table rows = {
      {"_softmax", softmax},
      {"_log_softmax", log_softmax},
      {"_safe_softmax", safe_softmax},
      {"_masked_softmax", masked_softmax},
      {"_masked_softmax_backward", masked_softmax_backward},
      {"_softmax_backward_data", softmax_backward},
      {"_log_softmax_backward_data", log_softmax_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
