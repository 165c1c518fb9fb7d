// Gated linear units: [a, b] along a dimension becomes a * sigmoid(b). Dauphin et al., Language
// Modeling with Gated Convolutional Networks, 2017.
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// The halves of a tensor along the gated dimension, in the compute type.
struct Halves {
  Value *a, *b;
};

int64_t gated_dim(Lowering& op, const Tensor& x) {
  TORCH_CHECK(x.dim() > 0, "glu does not support 0-dimensional tensors");
  const int64_t dim = wrap_dim(op.integer("dim"), x.dim());
  TORCH_CHECK(x.size(dim) % 2 == 0, "Halving dimension must be even, but dimension ", dim,
              " is size ", x.size(dim));
  return dim;
}

Halves halves(Lowering& op, const Tensor& x, int64_t dim) {
  Value* wide = widened(op, x);
  const int64_t half = x.size(dim) / 2;
  const auto part = [&](int64_t begin) {
    Dims low(x.dim(), 0), high = x.shape();
    low[dim] = begin;
    high[dim] = begin + half;
    return op.b.slice(wide, low, high, Dims(x.dim(), 1));
  };
  return {part(0), part(half)};
}

/// sigmoid(b) and its slope.
struct Gate {
  Value *value, *slope, *complement;
};

Gate gate(Builder& b, Value* x) {
  Value* s = b.logistic(x);
  Value* complement = b.subtract(b.splat(s->type, 1.0), s);
  return {s, b.multiply(s, complement), complement};
}

void glu(Lowering& op) {
  const Tensor self = op.tensor("self");
  const Halves x = halves(op, self, gated_dim(op, self));
  op.result(op.convert(op.b.multiply(x.a, op.b.logistic(x.b)), self.dtype));
}

void glu_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t dim = gated_dim(op, self);
  const Halves x = halves(op, self, dim);
  const Gate s = gate(b, x.b);
  Value* grad = widened(op, op.tensor("grad_output"));
  Value* db = b.multiply(b.multiply(s.slope, x.a), grad);
  op.result(op.convert(b.concatenate({b.multiply(s.value, grad), db}, dim), self.dtype));
}

// The tangent of glu: da s + glu (1 - s) db.
void glu_jvp(Lowering& op) {
  Builder& b = op.b;
  const Tensor x = op.tensor("x");
  const int64_t dim = gated_dim(op, x);
  const Halves tangent = halves(op, op.tensor("dx"), dim);
  const Gate s = gate(b, halves(op, x, dim).b);
  Value* through_gate =
      b.multiply(b.multiply(widened(op, op.tensor("glu")), s.complement), tangent.b);
  op.result(op.convert(b.add(b.multiply(tangent.a, s.value), through_gate), x.dtype));
}

// The tangent of glu_backward: of g s, which grad_x begins with, and of g a s (1 - s).
void glu_backward_jvp(Lowering& op) {
  Builder& b = op.b;
  const Tensor x = op.tensor("x");
  const int64_t dim = gated_dim(op, x);
  const Halves primal = halves(op, x, dim), tangent = halves(op, op.tensor("dx"), dim);
  const Gate s = gate(b, primal.b);
  Value* gated = halves(op, op.tensor("grad_x"), dim).a;  // g s
  Value* closing = b.multiply(tangent.b, s.complement);   // the tangent of s, over s
  Value* da =
      b.add(b.multiply(widened(op, op.tensor("dgrad_glu")), s.value), b.multiply(gated, closing));
  Value* open = b.multiply(primal.a, s.complement);
  Value* bend = b.subtract(b.multiply(tangent.a, s.complement),
                           b.multiply(b.multiply(primal.a, s.value), closing));
  Value* db = b.add(b.multiply(da, open), b.multiply(gated, bend));
  op.result(op.convert(b.concatenate({da, db}, dim), x.dtype));
}

}  // namespace

void add_glu(Table& table) {
  const Table rows = {
      {"glu", glu},
      {"glu_backward", glu_backward},
      {"glu_jvp", glu_jvp},
      {"glu_backward_jvp", glu_backward_jvp},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
