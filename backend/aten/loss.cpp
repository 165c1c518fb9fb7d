// Loss functions and their gradients.
#include "backend/aten/loss.h"

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/pointwise.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
using tpu::hlo::OpKind;

Value* reduced(Lowering& op, Value* loss) {
  const int64_t reduction = op.integer("reduction");
  if (reduction == kNone) return loss;
  const Dims dims = iota_dims(loss->type.rank());
  Value* total = op.reduce(loss, OpKind::kAdd, dims, false);
  if (reduction == kSum) return total;
  const double count = static_cast<double>(loss->type.num_elements());
  return op.b.divide(total, op.b.splat(total->type, count));
}

namespace {

LowerFunction pointwise_loss(PointwiseBody body,
                             std::vector<std::string_view> operands = {"self", "target"}) {
  return [=](Lowering& op) {
    std::vector<Tensor> tensors;
    std::vector<Promoted> seen;
    std::vector<Dims> shapes;
    for (std::string_view name : operands) {
      tensors.push_back(op.tensor(name));
      seen.push_back(tensors.back().promoted());
      shapes.push_back(tensors.back().shape());
    }
    const DType common = result_type(seen);
    Pointwise p{op, op.b, common, compute_type(common), broadcast_shapes(shapes), {}};
    for (const Tensor& t : tensors) {
      p.x.push_back(op.broadcast_to(to_compute(op, t, common, p.compute), p.shape));
    }
    Value* loss = body(p);
    if (op.integer("reduction") == kNone) {
      op.result(op.convert(loss, common), ResultLayout::kOperands, tensors);
    } else {
      op.result(op.convert(reduced(op, loss), common));
    }
  };
}

/// d self: the incoming gradient (a scalar under mean and sum) times `slope`.
LowerFunction pointwise_loss_backward(PointwiseBody slope,
                                      std::vector<std::string_view> operands = {"grad_output",
                                                                                "self", "target"}) {
  return [=](Lowering& op) {
    const bool mean = op.integer("reduction") == kMean;
    elementwise(operands, Promotion::kDefault, [&](const Pointwise& p) {
      Value* grad = p.b.multiply(p.x[0], slope(p));
      if (!mean) return grad;
      const double count = static_cast<double>(tpu::hlo::num_elements(p.shape));
      return p.b.multiply(grad, p.full(1.0 / count));
    })(op);
  };
}

Value* squared_error(const Pointwise& p) {
  Value* d = p.b.subtract(p.x[0], p.x[1]);
  return p.b.multiply(d, d);
}

Value* squared_error_slope(const Pointwise& p) {
  return p.b.multiply(p.full(2.0), p.b.subtract(p.x[1], p.x[2]));
}

// Quadratic within beta of the target, linear outside.
Value* smooth_l1(const Pointwise& p) {
  Builder& b = p.b;
  Value* beta = p.scalar("beta");
  Value* d = b.abs(b.subtract(p.x[0], p.x[1]));
  Value* near = b.divide(b.multiply(p.full(0.5), b.multiply(d, d)), beta);
  Value* far = b.subtract(d, b.multiply(p.full(0.5), beta));
  return b.select(b.compare(d, beta, "LT"), near, far);
}

Value* sign_of(const Pointwise& p, Value* x) {
  Value* below = p.b.select(p.b.compare(x, p.full(0.0), "LT"), p.full(-1.0), p.full(0.0));
  return p.b.select(p.b.compare(x, p.full(0.0), "GT"), p.full(1.0), below);
}

Value* smooth_l1_slope(const Pointwise& p) {
  Builder& b = p.b;
  Value* beta = p.scalar("beta");
  Value* d = b.subtract(p.x[1], p.x[2]);
  return b.select(b.compare(b.abs(d), beta, "LT"), b.divide(d, beta), sign_of(p, d));
}

Value* huber(const Pointwise& p) {
  Builder& b = p.b;
  p.op.assert_number("delta", "GT", 0,
                     "huber_loss does not support non-positive values for delta.");
  Value* delta = p.scalar("delta");
  Value* d = b.abs(b.subtract(p.x[0], p.x[1]));
  Value* near = b.multiply(p.full(0.5), b.multiply(d, d));
  Value* far = b.multiply(delta, b.subtract(d, b.multiply(p.full(0.5), delta)));
  return b.select(b.compare(d, delta, "LE"), near, far);
}

Value* huber_slope(const Pointwise& p) {
  Builder& b = p.b;
  Value* delta = p.scalar("delta");
  Value* d = b.subtract(p.x[1], p.x[2]);
  return b.select(b.compare(b.abs(d), delta, "LE"), d, b.multiply(delta, sign_of(p, d)));
}

// Logarithms are clamped at -100, as PyTorch does, so that a certain but wrong guess costs 100.
Value* cross_entropy_of_probability(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[0];
  Value* y = p.x[1];
  Value* floor = p.full(-100.0);
  Value* log_x = b.maximum(b.log(x), floor);
  Value* log_not = b.maximum(b.log_plus_one(b.negate(x)), floor);
  Value* loss = b.subtract(b.multiply(b.subtract(y, p.full(1.0)), log_not), b.multiply(y, log_x));
  if (p.op.has("weight")) {
    loss = b.multiply(loss,
                      p.op.broadcast_to(p.op.convert(p.op.tensor("weight"), p.compute), p.shape));
  }
  return loss;
}

Value* cross_entropy_of_probability_slope(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[1];
  Value* denominator = b.maximum(b.multiply(b.subtract(p.full(1.0), x), x), p.full(1e-12));
  Value* slope = b.divide(b.subtract(x, p.x[2]), denominator);
  if (p.op.has("weight")) {
    slope = b.multiply(slope,
                       p.op.broadcast_to(p.op.convert(p.op.tensor("weight"), p.compute), p.shape));
  }
  return slope;
}

/// Negative log-likelihood over classes in dimension 1 (or 0 of a single sample): log-probabilities
/// [N, C, ...], classes [N, ...].
struct ClassTargets {
  Value* log_probability;  ///< compute type, [N, C, ...]
  Value* classes;          ///< i64, [N, ...]; ignored ones replaced by class 0
  Value* weight;           ///< compute type, [N, ...]: the class's weight, 0 where ignored
  int64_t class_dim;
};

ClassTargets read_targets(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), target = op.tensor("target");
  TORCH_CHECK(self.dim() >= 1 && self.dim() != 3, "input tensor should be 1D or 2D, got ",
              self.dim(), "D");
  ClassTargets t{};
  t.class_dim = self.dim() == 1 ? 0 : 1;
  Dims expected = self.shape();
  expected.erase(expected.begin() + t.class_dim);
  TORCH_CHECK(target.shape() == expected || (self.dim() == 1 && target.numel() == 1),
              "size mismatch (got input: ", c10::IntArrayRef(self.shape()),
              ", target: ", c10::IntArrayRef(target.shape()), ")");
  const int64_t classes = self.size(t.class_dim);
  t.log_probability = widened(op, self);
  Value* raw = op.convert(b.reshape(target.value, expected), DType::Long);
  Value* ignored = b.compare(raw, b.splat(raw->type, op.integer("ignore_index")), "EQ");
  t.classes = b.select(ignored, b.splat(raw->type, int64_t{0}), raw);
  assert_in_range(op, t.classes, 0, classes, "Target is out of bounds");
  Value* weight = b.splat({t.log_probability->type.element, expected}, 1.0);
  if (op.has("weight")) {
    weight = take(op, widened(op, op.tensor("weight")), 0, t.classes);
  }
  t.weight = b.select(ignored, b.splat(weight->type, 0.0), weight);
  return t;
}

void nll_loss(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const ClassTargets t = read_targets(op);
  Value* picked = pick_along(op, t.log_probability, t.class_dim, t.classes);
  Value* loss = b.negate(b.multiply(picked, t.weight));
  // 0 * -inf must not reach the sum where a target is ignored.
  Value* zero = b.splat(loss->type, 0.0);
  loss = b.select(b.compare(t.weight, zero, "EQ"), zero, loss);
  const Dims dims = iota_dims(loss->type.rank());
  Value* total_weight = op.reduce(t.weight, OpKind::kAdd, dims, false);
  const int64_t reduction = op.integer("reduction");
  if (reduction == kNone) {
    op.result(op.convert(loss, self.dtype));
    return op.result(op.full({}, self.dtype, 0.0));
  }
  Value* total = op.reduce(loss, OpKind::kAdd, dims, false);
  if (reduction == kMean) total = b.divide(total, total_weight);
  op.result(op.convert(total, self.dtype));
  op.result(op.convert(total_weight, self.dtype));
}

void nll_loss_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const ClassTargets t = read_targets(op);
  Value* grad = op.broadcast_to(widened(op, op.tensor("grad_output")), t.weight->type.shape);
  Value* scale = b.negate(b.multiply(grad, t.weight));
  if (op.integer("reduction") == kMean) {
    Value* total = op.convert(op.tensor("total_weight"), compute_type(self.dtype));
    scale = b.divide(scale, op.broadcast_to(total, scale->type.shape));
  }
  // Spread over the class dimension: only the target's class gets it.
  const Dims& shape = self.shape();
  Dims others = iota_dims(self.dim());
  others.erase(others.begin() + t.class_dim);
  Value* wide = b.broadcast_in_dim(scale, shape, others);
  Value* wanted = b.broadcast_in_dim(t.classes, shape, others);
  Value* hit = b.compare(b.iota({ElementType::kSI64, shape}, t.class_dim), wanted, "EQ");
  op.result(op.convert(b.select(hit, wide, b.splat(wide->type, 0.0)), self.dtype));
}

}  // namespace

void add_loss(Table& table) {
  const Table rows = {
      {"mse_loss", pointwise_loss(squared_error)},
      {"mse_loss_backward", pointwise_loss_backward(squared_error_slope)},
      {"smooth_l1_loss", pointwise_loss(smooth_l1)},
      {"smooth_l1_loss_backward", pointwise_loss_backward(smooth_l1_slope)},
      {"huber_loss", pointwise_loss(huber)},
      {"huber_loss_backward", pointwise_loss_backward(huber_slope)},
      {"binary_cross_entropy", pointwise_loss(cross_entropy_of_probability)},
      {"binary_cross_entropy_backward",
       pointwise_loss_backward(cross_entropy_of_probability_slope)},
      {"nll_loss_forward", nll_loss},
      {"nll_loss_backward", nll_loss_backward},
      {"nll_loss2d_forward", nll_loss},
      {"nll_loss2d_backward", nll_loss_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
