// Activation functions and their gradients.
#include <cmath>
#include <numbers>

#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

constexpr Promotion kKeep = Promotion::kDefault;

LowerFunction gradient(PointwiseBody body, std::string_view saved = "self") {
  return elementwise({"grad_output", saved}, kKeep, std::move(body));
}

Value* erf(const Pointwise& p, Value* x) {
  return p.b.custom_call("chlo.erf", {x}, {x->type})[0];
}

Value* relu(const Pointwise& p) {
  TORCH_CHECK(p.common != DType::Bool, "Boolean inputs not supported for relu");
  return p.b.maximum(p.x[0], p.full_int(0));
}

// Keeps the gradient where the input is above the threshold; NaN inputs pass it on.
Value* threshold_backward(const Pointwise& p) {
  Value* zero = p.full_int(0);
  Value* below = p.b.compare(p.x[1], p.scalar("threshold"), "LE");
  return p.b.select(below, zero, p.x[0]);
}

Value* threshold(const Pointwise& p) {
  Value* below = p.b.compare(p.x[0], p.scalar("threshold"), "LE");
  return p.b.select(below, p.scalar("value"), p.x[0]);
}

Value* sigmoid_backward(const Pointwise& p) {
  Value* slope = p.b.multiply(p.b.subtract(p.full(1.0), p.x[1]), p.x[1]);
  return p.b.multiply(p.x[0], slope);
}

Value* tanh_backward(const Pointwise& p) {
  return p.b.multiply(p.x[0], p.b.subtract(p.full(1.0), p.b.multiply(p.x[1], p.x[1])));
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks & Gimpel 2016.
constexpr double kGeluBeta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double kGeluKappa = 0.044715;

Value* gelu_inner(const Pointwise& p, Value* x) {
  Value* cube = p.b.multiply(p.b.multiply(x, x), x);
  return p.b.multiply(p.full(kGeluBeta), p.b.add(x, p.b.multiply(p.full(kGeluKappa), cube)));
}

bool gelu_is_tanh(const Pointwise& p) {
  const std::string approximate = p.op.string("approximate");
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  return approximate == "tanh";
}

Value* gelu(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[0];
  Value* cdf = gelu_is_tanh(p) ? b.tanh(gelu_inner(p, x))
                               : erf(p, b.multiply(x, p.full(1 / std::numbers::sqrt2)));
  return b.multiply(b.multiply(p.full(0.5), x), b.add(p.full(1.0), cdf));
}

Value* gelu_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value *grad = p.x[0], *x = p.x[1];
  if (gelu_is_tanh(p)) {
    Value* t = b.tanh(gelu_inner(p, x));
    Value* left = b.multiply(p.full(0.5), b.add(p.full(1.0), t));
    Value* sech2 = b.subtract(p.full(1.0), b.multiply(t, t));
    Value* inner =
        b.multiply(p.full(kGeluBeta),
                   b.add(p.full(1.0), b.multiply(p.full(3 * kGeluKappa), b.multiply(x, x))));
    Value* right = b.multiply(b.multiply(p.full(0.5), x), b.multiply(sech2, inner));
    return b.multiply(grad, b.add(left, right));
  }
  Value* cdf = b.multiply(
      p.full(0.5), b.add(p.full(1.0), erf(p, b.multiply(x, p.full(1 / std::numbers::sqrt2)))));
  const double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2;  // 1 / sqrt(2 pi)
  Value* pdf = b.multiply(p.full(scale), b.exponential(b.multiply(p.full(-0.5), b.multiply(x, x))));
  return b.multiply(grad, b.add(cdf, b.multiply(x, pdf)));
}

Value* silu(const Pointwise& p) {
  return p.b.multiply(p.x[0], p.b.logistic(p.x[0]));
}

Value* silu_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* s = b.logistic(p.x[1]);
  Value* slope = b.multiply(s, b.add(p.full(1.0), b.multiply(p.x[1], b.subtract(p.full(1.0), s))));
  return b.multiply(p.x[0], slope);
}

Value* mish(const Pointwise& p) {
  Value* soft = p.b.log_plus_one(p.b.exponential(p.x[0]));
  return p.b.multiply(p.x[0], p.b.tanh(soft));
}

Value* mish_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* x = p.x[1];
  Value* t = b.tanh(b.log_plus_one(b.exponential(x)));
  Value* slope =
      b.multiply(b.multiply(x, b.logistic(x)), b.subtract(p.full(1.0), b.multiply(t, t)));
  return b.multiply(p.x[0], b.add(t, slope));
}

Value* hardtanh(const Pointwise& p) {
  return p.b.minimum(p.b.maximum(p.x[0], p.scalar("min_val")), p.scalar("max_val"));
}

Value* hardtanh_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* outside = b.or_(b.compare(p.x[1], p.scalar("min_val"), "LE"),
                         b.compare(p.x[1], p.scalar("max_val"), "GE"));
  return b.select(outside, p.full(0.0), p.x[0]);
}

// relu6(x + 3)
Value* relu6_shifted(const Pointwise& p, Value* x) {
  return p.b.minimum(p.b.maximum(p.b.add(x, p.full(3.0)), p.full(0.0)), p.full(6.0));
}

Value* hardsigmoid(const Pointwise& p) {
  return p.b.divide(relu6_shifted(p, p.x[0]), p.full(6.0));
}

Value* hardsigmoid_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* inside =
      b.and_(b.compare(p.x[1], p.full(-3.0), "GT"), b.compare(p.x[1], p.full(3.0), "LT"));
  return b.select(inside, b.multiply(p.x[0], p.full(1.0 / 6.0)), p.full(0.0));
}

Value* hardswish(const Pointwise& p) {
  return p.b.divide(p.b.multiply(p.x[0], relu6_shifted(p, p.x[0])), p.full(6.0));
}

Value* hardswish_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value *grad = p.x[0], *x = p.x[1];
  Value* middle = b.multiply(grad, b.add(b.divide(x, p.full(3.0)), p.full(0.5)));
  Value* result = b.select(b.compare(x, p.full(3.0), "LT"), middle, grad);
  return b.select(b.compare(x, p.full(-3.0), "LE"), p.full(0.0), result);
}

Value* leaky_relu(const Pointwise& p) {
  Value* positive = p.b.compare(p.x[0], p.full(0.0), "GT");
  return p.b.select(positive, p.x[0], p.b.multiply(p.x[0], p.scalar("negative_slope")));
}

Value* leaky_relu_backward(const Pointwise& p) {
  Value* positive = p.b.compare(p.x[1], p.full(0.0), "GT");
  return p.b.select(positive, p.x[0], p.b.multiply(p.x[0], p.scalar("negative_slope")));
}

Value* elu(const Pointwise& p) {
  Builder& b = p.b;
  Value* negative = b.multiply(b.exponential_minus_one(b.multiply(p.x[0], p.scalar("input_scale"))),
                               b.multiply(p.scalar("alpha"), p.scalar("scale")));
  Value* positive = b.multiply(p.x[0], p.scalar("scale"));
  return b.select(b.compare(p.x[0], p.full(0.0), "LE"), negative, positive);
}

Value* elu_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value *grad = p.x[0], *x = p.x[1];
  Value* coefficient =
      b.multiply(p.scalar("input_scale"), b.multiply(p.scalar("alpha"), p.scalar("scale")));
  Value* slope;
  if (p.op.boolean("is_result")) {
    slope = b.multiply(p.scalar("input_scale"),
                       b.add(x, b.multiply(p.scalar("alpha"), p.scalar("scale"))));
  } else {
    slope = b.multiply(coefficient, b.exponential(b.multiply(x, p.scalar("input_scale"))));
  }
  Value* negative = b.multiply(grad, slope);
  Value* positive = b.multiply(grad, p.scalar("scale"));
  return b.select(b.compare(x, p.full(0.0), "LE"), negative, positive);
}

Value* softplus(const Pointwise& p) {
  Builder& b = p.b;
  Value* scaled = b.multiply(p.x[0], p.scalar("beta"));
  Value* soft = b.divide(b.log_plus_one(b.exponential(scaled)), p.scalar("beta"));
  return b.select(b.compare(scaled, p.scalar("threshold"), "GT"), p.x[0], soft);
}

Value* softplus_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* scaled = b.multiply(p.x[1], p.scalar("beta"));
  Value* soft = b.multiply(p.x[0], b.logistic(scaled));
  return b.select(b.compare(scaled, p.scalar("threshold"), "GT"), p.x[0], soft);
}

// min(0, x) - log1p(exp(-|x|)); the second result is a buffer only the CPU's backward reads.
void log_sigmoid_forward(Lowering& op) {
  const Tensor self = op.tensor("self");
  pointwise(op, {"self"}, kKeep, PointwiseResult::kCommon, [](const Pointwise& p) {
    Value* tail = p.b.log_plus_one(p.b.exponential(p.b.negate(p.b.abs(p.x[0]))));
    return p.b.subtract(p.b.minimum(p.x[0], p.full(0.0)), tail);
  });
  op.result(op.full({0}, self.dtype, 0.0));
}

Value* log_sigmoid_backward(const Pointwise& p) {
  // d/dx log(sigmoid(x)) = sigmoid(-x)
  return p.b.multiply(p.x[0], p.b.logistic(p.b.negate(p.x[1])));
}

Value* softshrink(const Pointwise& p) {
  Builder& b = p.b;
  p.op.assert_number("lambd", "GE", 0, "softshrink: lambda must not be negative");
  Value* lambd = p.scalar("lambd");
  Value* zero = p.full(0.0);
  Value* high =
      b.select(b.compare(p.x[0], lambd, "GT"), b.subtract(p.x[0], lambd), b.multiply(p.x[0], zero));
  return b.select(b.compare(p.x[0], b.negate(lambd), "LT"), b.add(p.x[0], lambd), high);
}

Value* hardshrink(const Pointwise& p) {
  Builder& b = p.b;
  Value* inside = b.and_(b.compare(p.x[0], b.negate(p.scalar("lambd")), "GE"),
                         b.compare(p.x[0], p.scalar("lambd"), "LE"));
  return b.select(inside, p.full(0.0), p.x[0]);
}

Value* shrink_backward(const Pointwise& p) {
  Builder& b = p.b;
  Value* inside = b.and_(b.compare(p.x[1], b.negate(p.scalar("lambd")), "GE"),
                         b.compare(p.x[1], p.scalar("lambd"), "LE"));
  return b.select(inside, p.full(0.0), p.x[0]);
}

// One weight, or one a channel (dimension 1).
void prelu(Lowering& op) {
  pointwise(op, {"self", "weight"}, kKeep, PointwiseResult::kCommon, [](const Pointwise& p) {
    Value* positive = p.b.compare(p.x[0], p.full(0.0), "GT");
    return p.b.select(positive, p.x[0], p.b.multiply(p.x[0], p.x[1]));
  });
}

void prelu_backward(Lowering& op) {
  for (const bool of_weight : {false, true}) {
    elementwise({"grad_output", "self", "weight"}, kKeep, [of_weight](const Pointwise& p) {
      Value* positive = p.b.compare(p.x[1], p.full(0.0), "GT");
      if (of_weight) return p.b.select(positive, p.full(0.0), p.b.multiply(p.x[0], p.x[1]));
      return p.b.select(positive, p.x[0], p.b.multiply(p.x[0], p.x[2]));
    })(op);
  }
}

}  // namespace

void add_activation(Table& table) {
  const Table rows = {
      {"relu", unary(kKeep, relu)},
      {"threshold", unary(kKeep, threshold)},
      {"threshold_backward", gradient(threshold_backward)},
      {"sigmoid_backward", gradient(sigmoid_backward, "output")},
      {"tanh_backward", gradient(tanh_backward, "output")},
      {"gelu", unary(kKeep, gelu)},
      {"gelu_backward", gradient(gelu_backward)},
      {"silu", unary(kKeep, silu)},
      {"silu_backward", gradient(silu_backward)},
      {"mish", unary(kKeep, mish)},
      {"mish_backward", gradient(mish_backward)},
      {"hardtanh", unary(kKeep, hardtanh)},
      {"hardtanh_backward", gradient(hardtanh_backward)},
      {"hardsigmoid", unary(kKeep, hardsigmoid)},
      {"hardsigmoid_backward", gradient(hardsigmoid_backward)},
      {"hardswish", unary(kKeep, hardswish)},
      {"hardswish_backward", gradient(hardswish_backward)},
      {"leaky_relu", unary(kKeep, leaky_relu)},
      {"leaky_relu_backward", gradient(leaky_relu_backward)},
      {"elu", unary(kKeep, elu)},
      {"elu_backward", gradient(elu_backward, "self_or_result")},
      {"softplus", unary(kKeep, softplus)},
      {"softplus_backward", gradient(softplus_backward)},
      {"log_sigmoid_forward", log_sigmoid_forward},
      {"log_sigmoid_backward", gradient(log_sigmoid_backward)},
      {"softshrink", unary(kKeep, softshrink)},
      {"softshrink_backward", gradient(shrink_backward)},
      {"hardshrink", unary(kKeep, hardshrink)},
      {"hardshrink_backward", elementwise({"grad_out", "self"}, kKeep, shrink_backward)},
      {"_prelu_kernel", prelu},
      {"_prelu_kernel_backward", prelu_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
