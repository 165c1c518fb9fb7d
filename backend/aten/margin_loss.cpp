// Hinge losses over classes, and their gradients.
#include "backend/aten/indexing.h"
#include "backend/aten/loss.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// Scores [N, C] in the compute type, whatever the rank (a vector is one sample).
struct Scores {
  Value* x;
  int64_t samples, classes;
  Dims leading;  ///< the shape of a loss for each sample: [N], or [] of a vector
};

Scores read_scores(Lowering& op, std::string_view name) {
  const Tensor self = op.tensor("self");
  const int64_t classes = self.dim() == 0 ? 1 : self.size(self.dim() - 1);
  const bool valid = self.dim() <= 2 && classes != 0;
  TORCH_CHECK(valid,
              "Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              c10::IntArrayRef(self.shape()));
  Scores s{nullptr, self.dim() == 2 ? self.size(0) : 1, classes, {}};
  if (self.dim() == 2) s.leading = {s.samples};
  s.x = op.b.reshape(widened(op, self), {s.samples, s.classes});
  TORCH_CHECK(c10::isFloatingType(self.dtype), "\"", name, "\" not implemented for '",
              c10::toString(self.dtype), "'");
  return s;
}

/// The incoming gradient for each sample, [N], with the mean's factor.
Value* sample_gradients(Lowering& op, const Scores& s, double factor) {
  Value* grad = widened(op, op.tensor("grad_output"));
  if (op.integer("reduction") == kMean) factor /= static_cast<double>(s.samples);
  Value* each = op.broadcast_to(op.b.reshape(grad, grad->type.num_elements() == 1 && s.samples != 1
                                                       ? Dims{}
                                                       : Dims{grad->type.num_elements()}),
                                {s.samples});
  return op.b.multiply(each, op.b.splat(each->type, factor));
}

/// How far each other class comes too close to the target's: margin - x[target] + x[class], 0 for
/// the target and for classes far enough.
struct Margins {
  Scores scores;
  Value* excess;     ///< [N, C]
  Value* is_target;  ///< i1 [N, C]
  Value* weight;     ///< [N, C], the target class's weight
  bool squared;
};

Margins read_margins(Lowering& op) {
  Builder& b = op.b;
  const Tensor target = op.tensor("target");
  Scores s = read_scores(op, "multi_margin_loss");
  TORCH_CHECK(target.dim() <= 1 && target.numel() == s.samples,
              "inconsistent target size, expected ", s.samples, " but got ",
              c10::IntArrayRef(target.shape()));
  const double p = op.number_as_double("p");
  TORCH_CHECK(p == 1 || p == 2, "only p == 1 and p == 2 supported");
  Value* classes = b.reshape(op.convert(target, DType::Long), {s.samples});
  assert_all_between(op, classes, 0, s.classes, "target out of range");
  const Dims& shape = s.x->type.shape;
  const auto each_class = [&](Value* x) { return b.broadcast_in_dim(x, shape, {0}); };
  Value* of_target = each_class(pick_along(op, s.x, 1, classes));
  Value* margin = op.broadcast_to(b.convert(op.scalar("margin").value, s.x->type.element), shape);
  Value* excess = b.add(b.subtract(margin, of_target), s.x);
  Value* is_target = b.compare(b.iota({ElementType::kSI64, shape}, 1), each_class(classes), "EQ");
  Value* zero = b.splat(s.x->type, 0.0);
  Value* counts = b.and_(b.not_(is_target), b.compare(excess, zero, "GT"));
  Value* weight = b.splat(s.x->type, 1.0);
  if (op.has("weight")) {
    weight = each_class(take(op, widened(op, op.tensor("weight")), 0, classes));
  }
  return {s, b.select(counts, excess, zero), is_target, weight, p == 2};
}

// sum over the other classes of weight * max(0, excess)^p / C
void multi_margin_loss(Lowering& op) {
  Builder& b = op.b;
  const Margins m = read_margins(op);
  Value* terms = b.multiply(m.squared ? b.multiply(m.excess, m.excess) : m.excess, m.weight);
  Value* sums = op.reduce(terms, OpKind::kAdd, {1}, false);
  Value* losses = b.divide(sums, b.splat(sums->type, static_cast<double>(m.scores.classes)));
  op.result(op.convert(reduced(op, b.reshape(losses, m.scores.leading)), op.tensor("self").dtype));
}

void multi_margin_loss_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Margins m = read_margins(op);
  Value* zero = b.splat(m.excess->type, 0.0);
  Value* slope =
      m.squared ? b.multiply(b.splat(m.excess->type, 2.0), m.excess)
                : b.select(b.compare(m.excess, zero, "GT"), b.splat(m.excess->type, 1.0), zero);
  Value* grad = sample_gradients(op, m.scores, 1.0 / static_cast<double>(m.scores.classes));
  Value* others =
      b.multiply(b.multiply(slope, m.weight), b.broadcast_in_dim(grad, m.excess->type.shape, {0}));
  Value* target = b.negate(op.reduce(others, OpKind::kAdd, {1}, false));
  Value* dx = b.select(m.is_target, b.broadcast_in_dim(target, m.excess->type.shape, {0}), others);
  op.result(op.convert(b.reshape(dx, self.shape()), self.dtype));
}

/// The targets of a sample are the classes listed before the first -1.
struct LabelPairs {
  Scores scores;
  Value* classes;    ///< i64 [N, C], 0 where there is no target
  Value* listed;     ///< i1 [N, C]
  Value* is_target;  ///< [N, C], 1 or 0 by class
  Value* excess;     ///< [N, C targets, C classes]: max(0, 1 - x[target] + x[class])
};

/// `known`: is_target, if the forward pass has left it.
LabelPairs read_label_pairs(Lowering& op, const Tensor* known) {
  Builder& b = op.b;
  const Tensor target = op.tensor("target");
  Scores s = read_scores(op, "multilabel_margin_loss");
  TORCH_CHECK(target.shape() == op.tensor("self").shape(),
              "inconsistent target size: ", c10::IntArrayRef(target.shape()),
              " for input of size: ", c10::IntArrayRef(op.tensor("self").shape()));
  const Dims& shape = s.x->type.shape;
  Value* raw = b.reshape(op.convert(target, DType::Long), shape);
  Value* none = b.splat(raw->type, int64_t{0});
  assert_all_between(op, raw, -1, s.classes, "target out of range");
  Value* ended = op.convert(b.compare(raw, none, "LT"), DType::Long);
  LabelPairs pairs{s, nullptr, nullptr, nullptr, nullptr};
  pairs.listed = b.compare(cumulative(op, ended, 1, OpKind::kMaximum), none, "EQ");
  pairs.classes = b.select(pairs.listed, raw, none);
  const Dims cube = {s.samples, s.classes, s.classes};
  if (known) {
    pairs.is_target = b.reshape(op.convert(*known, compute_type(known->dtype)), shape);
  } else {
    Value* numbers = b.iota({ElementType::kSI64, cube}, 2);
    Value* hit = b.and_(b.compare(numbers, b.broadcast_in_dim(pairs.classes, cube, {0, 1}), "EQ"),
                        b.broadcast_in_dim(pairs.listed, cube, {0, 1}));
    pairs.is_target = b.convert(op.reduce(hit, OpKind::kOr, {1}, false), s.x->type.element);
  }
  Value* of_target = b.broadcast_in_dim(gather_along(op, s.x, 1, pairs.classes), cube, {0, 1});
  Value* gap = b.subtract(b.splat(of_target->type, 1.0), of_target);
  Value* excess = b.add(gap, b.broadcast_in_dim(s.x, cube, {0, 2}));
  Value* zero = b.splat(excess->type, 0.0);
  Value* other = b.compare(pairs.is_target, b.splat(s.x->type, 0.0), "EQ");
  Value* counts = b.and_(b.and_(b.broadcast_in_dim(pairs.listed, cube, {0, 1}),
                                b.broadcast_in_dim(other, cube, {0, 2})),
                         b.compare(excess, zero, "GT"));
  pairs.excess = b.select(counts, excess, zero);
  return pairs;
}

void multilabel_margin_loss(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const LabelPairs pairs = read_label_pairs(op, nullptr);
  Value* sums = op.reduce(pairs.excess, OpKind::kAdd, {1, 2}, false);
  Value* losses = b.divide(sums, b.splat(sums->type, static_cast<double>(pairs.scores.classes)));
  op.result(op.convert(reduced(op, b.reshape(losses, pairs.scores.leading)), self.dtype));
  op.result(op.convert(b.reshape(pairs.is_target, op.tensor("target").shape()), self.dtype));
}

void multilabel_margin_loss_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), is_target = op.tensor("is_target");
  const LabelPairs pairs = read_label_pairs(op, &is_target);
  const Scores& s = pairs.scores;
  Value* zero = b.splat(pairs.excess->type, 0.0);
  Value* active = b.convert(b.compare(pairs.excess, zero, "GT"), s.x->type.element);
  Value* pulled = op.reduce(active, OpKind::kAdd, {2}, false);  // [N, targets]
  Value* pushed = op.reduce(active, OpKind::kAdd, {1}, false);  // [N, classes]
  // Each listed target's pull goes to its class.
  const Dims cube = pairs.excess->type.shape;
  Value* hit = b.and_(b.compare(b.iota({ElementType::kSI64, cube}, 2),
                                b.broadcast_in_dim(pairs.classes, cube, {0, 1}), "EQ"),
                      b.broadcast_in_dim(pairs.listed, cube, {0, 1}));
  Value* spread = b.select(hit, b.broadcast_in_dim(pulled, cube, {0, 1}), zero);
  Value* net = b.subtract(pushed, op.reduce(spread, OpKind::kAdd, {1}, false));
  Value* grad = sample_gradients(op, s, 1.0 / static_cast<double>(s.classes));
  Value* dx = b.multiply(net, b.broadcast_in_dim(grad, net->type.shape, {0}));
  op.result(op.convert(b.reshape(dx, self.shape()), self.dtype));
}

}  // namespace

void add_margin_loss(Table& table) {
  const Table rows = {
      {"multi_margin_loss", multi_margin_loss},
      {"multi_margin_loss_backward", multi_margin_loss_backward},
      {"multilabel_margin_loss_forward", multilabel_margin_loss},
      {"multilabel_margin_loss_backward", multilabel_margin_loss_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
