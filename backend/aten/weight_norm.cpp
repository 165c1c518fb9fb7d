// Weights bounded or parametrised by their norm.
#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

Dims all_but(int64_t rank, int64_t dim) {
  Dims dims = iota_dims(rank);
  dims.erase(dims.begin() + dim);
  return dims;
}

void check_outer_dim(const Tensor& v, int64_t dim) {
  TORCH_CHECK(dim == 0 || dim == v.dim() - 1,
              "fused kernels can only be applied for first or last "
              "dim, got ",
              dim, " of ", v.dim());
}

// w = v g / |v|, the norm over all dimensions but one. Salimans & Kingma, Weight Normalization,
// 2016. The norms go to the backward pass, in float32 where g is bfloat16.
void weight_norm(Lowering& op) {
  Builder& b = op.b;
  const Tensor v = op.tensor("v"), g = op.tensor("g");
  const int64_t dim = wrap_dim(op.integer("dim"), v.dim());
  check_outer_dim(v, dim);
  Value* x = widened(op, v);
  Value* norm = vector_norm(op, x, all_but(v.dim(), dim), /*keepdim=*/true, 2);
  Value* factor = b.divide(b.reshape(widened(op, g), norm->type.shape), norm);
  op.result(op.convert(b.multiply(x, op.broadcast_to(factor, v.shape())), v.dtype));
  op.result(
      op.convert(b.reshape(norm, g.shape()), g.dtype == DType::BFloat16 ? DType::Float : g.dtype));
}

// dv = g / |v| (dw - v (dw . v) / |v|^2), dg = dw . v / |v|
void weight_norm_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor v = op.tensor("saved_v"), g = op.tensor("saved_g");
  const int64_t dim = wrap_dim(op.integer("dim"), v.dim());
  check_outer_dim(v, dim);
  Value* x = widened(op, v);
  Value* grad = widened(op, op.tensor("grad_w"));
  Value* dot = op.reduce(b.multiply(grad, x), OpKind::kAdd, all_but(v.dim(), dim), true);
  Value* norm =
      b.reshape(op.convert(op.tensor("saved_norms"), compute_type(v.dtype)), dot->type.shape);
  Value* along = b.divide(dot, b.multiply(norm, norm));
  Value* across = b.subtract(grad, b.multiply(x, op.broadcast_to(along, v.shape())));
  Value* factor = b.divide(b.reshape(widened(op, g), norm->type.shape), norm);
  op.result(op.convert(b.multiply(across, op.broadcast_to(factor, v.shape())), v.dtype));
  op.result(op.convert(b.reshape(b.divide(dot, norm), g.shape()), g.dtype));
}

/// `x` with the parts whose norm is above `bound` scaled down to it. PyTorch adds 1e-7 to the norm.
Value* bounded(Lowering& op, Value* x, const Dims& dims, double p, Value* bound) {
  Builder& b = op.b;
  Value* norm = vector_norm(op, x, dims, /*keepdim=*/true, p);
  Value* limit = op.broadcast_to(bound, norm->type.shape);
  Value* scale = b.divide(limit, b.add(norm, b.splat(norm->type, 1e-7)));
  Value* factor = b.select(b.compare(norm, limit, "GT"), scale, b.splat(norm->type, 1.0));
  return b.multiply(x, op.broadcast_to(factor, x->type.shape));
}

void renorm(Lowering& op) {
  const Tensor self = op.tensor("self");
  const double p = op.number_as_double("p");
  TORCH_CHECK(p > 0, "renorm: non-positive-norm not supported");
  TORCH_CHECK(op.number_as_double("maxnorm") >= 0, "renorm: expected maxnorm to be >= 0 but got ",
              op.number_as_double("maxnorm"));
  TORCH_CHECK(self.dim() > 1, "renorm: input needs at least 2 dimensions, got ", self.dim(),
              " dimensions");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  const DType compute = compute_type(self.dtype);
  op.result(op.convert(bounded(op, op.convert(self, compute), all_but(self.dim(), dim), p,
                               op.convert(op.scalar("maxnorm"), compute)),
                       self.dtype));
}

// The rows that are about to be looked up. A row named twice is scaled once: both write the same.
void embedding_renorm(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), indices = op.tensor("indices");
  TORCH_CHECK(self.dim() == 2, "embedding_renorm_: Expected 2-dimensional tensor, got ",
              self.dim());
  TORCH_CHECK(indices.dtype == DType::Long || indices.dtype == DType::Int,
              "Expected tensor for argument #2 'indices' to have one of the following scalar "
              "types: Long, Int; but got ",
              c10::toString(indices.dtype), " instead");
  Value* flat = b.reshape(indices.value, {indices.numel()});
  Value* index = checked_index(op, flat, self.size(0), /*wrap=*/false, 0);
  const DType compute = compute_type(self.dtype);
  Value* rows = op.convert(take(op, self.value, 0, index), compute);
  Value* scaled = bounded(op, rows, {1}, op.number_as_double("norm_type"),
                          op.convert(op.scalar("max_norm"), compute));
  op.result(
      scatter_slices(op, self.value, 0, index, op.convert(scaled, self.dtype), OpKind::kReturn));
}

}  // namespace

void add_weight_norm(Table& table) {
  const Table rows = {
      {"_weight_norm_interface", weight_norm},
      {"_weight_norm_interface_backward", weight_norm_backward},
      {"renorm", real_or_library(renorm)},
      {"embedding_renorm", embedding_renorm},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
