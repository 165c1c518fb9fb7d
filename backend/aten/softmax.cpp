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

}  // namespace

void add_softmax(Table& table) {
  const Table rows = {
      {"_softmax", softmax},
      {"_log_softmax", log_softmax},
      {"_safe_softmax", safe_softmax},
      {"_softmax_backward_data", softmax_backward},
      {"_log_softmax_backward_data", log_softmax_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
