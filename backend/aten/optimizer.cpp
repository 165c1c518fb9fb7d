// Optimizer steps over lists of parameters (`fused=True`), and the gradient scaler's two operators.
//
// A step that found an infinite gradient changes nothing: every new value is selected, so that
// nobody waits for the device to learn whether it did.
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// One parameter, its gradient and its states in the compute type, as the step changes them.
struct Parameter {
  Value* parameter;
  Value* gradient;
  std::vector<Value*> states;
};

/// The step's list arguments and numbers.
class Step {
 public:
  /// `states`: names of the state lists, in the schema's order. A list may be empty (a momentum of
  /// 0 has no buffers).
  Step(Lowering& op, std::vector<std::string_view> states) : op_(op), b_(op.b) {
    lists_.push_back(op.tensors("self"));
    lists_.push_back(op.tensors("grads"));
    for (std::string_view name : states) lists_.push_back(op.tensors(name));
    for (const TensorList& list : lists_) {
      TORCH_CHECK(list.empty() || list.size() == lists_[0].size(), op.op_name(),
                  ": lists of different lengths: ", list.size(), " and ", lists_[0].size());
    }
    weight_decay_ = op.number_as_double("weight_decay");
  }

  Builder& b() const { return b_; }
  int64_t size() const { return static_cast<int64_t>(lists_[0].size()); }
  bool has_state(size_t state) const { return !lists_[state + 2].empty(); }

  /// A number (or 0-d tensor) argument in float64, rank 0.
  Value* number(std::string_view name) const {
    return b_.reshape(op_.convert(op_.tensor(name), DType::Double), {});
  }
  /// A rank 0 value in the type and shape of `like`.
  Value* like(Value* number, const Value* like) const {
    return op_.broadcast_to(b_.convert(number, like->type.element), like->type.shape);
  }

  Parameter read(int64_t i) {
    const auto widen = [&](size_t list) {
      const Tensor& x = *lists_[list][i];
      return op_.convert(x, compute_type(lists_[0][i]->dtype));
    };
    Parameter p{widen(0), widen(1), {}};
    for (size_t list = 2; list < lists_.size(); ++list) {
      p.states.push_back(lists_[list].empty() ? nullptr : widen(list));
    }
    if (op_.has("grad_scale")) {
      p.gradient = b_.divide(p.gradient, like(number("grad_scale"), p.gradient));
      // The caller sees the unscaled gradient.
      gradients_.push_back(op_.convert(p.gradient, lists_[1][i]->dtype));
    } else {
      gradients_.push_back(lists_[1][i]->value);
    }
    if (op_.boolean("maximize")) p.gradient = b_.negate(p.gradient);
    return p;
  }

  /// Weight decay as a penalty: its gradient joins the loss's.
  void decay_gradient(Parameter& p) const {
    if (weight_decay_ == 0) return;
    Value* decay = b_.multiply(p.parameter, like(number("weight_decay"), p.parameter));
    p.gradient = b_.add(p.gradient, decay);
  }
  /// Weight decay of its own (Loshchilov & Hutter, Decoupled Weight Decay Regularization, 2019).
  void decay_parameter(Parameter& p, Value* rate) const {
    if (weight_decay_ == 0) return;
    Value* decay = b_.multiply(rate, number("weight_decay"));
    p.parameter = b_.subtract(p.parameter, b_.multiply(p.parameter, like(decay, p.parameter)));
  }

  void keep(Parameter p) { done_.push_back(std::move(p)); }

  /// The written lists, one after the other.
  void write() {
    const auto list = [&](size_t n, auto&& value_of) {
      for (size_t i = 0; i < lists_[n].size(); ++i) {
        const Tensor& old = *lists_[n][i];
        op_.result(unless_infinite(op_.convert(value_of(i), old.dtype), old.value));
      }
    };
    list(0, [&](size_t i) { return done_[i].parameter; });
    list(1, [&](size_t i) { return gradients_[i]; });
    for (size_t n = 2; n < lists_.size(); ++n) {
      list(n, [&](size_t i) { return done_[i].states[n - 2]; });
    }
  }

 private:
  Value* unless_infinite(Value* fresh, Value* old) const {
    if (!op_.has("found_inf") || fresh == old) return fresh;
    Value* found = number("found_inf");
    Value* skip = b_.compare(found, b_.constant(ElementType::kF64, 1.0), "EQ");
    return b_.select(op_.broadcast_to(skip, fresh->type.shape), old, fresh);
  }

  Lowering& op_;
  Builder& b_;
  std::vector<TensorList> lists_;
  std::vector<Value*> gradients_;
  std::vector<Parameter> done_;
  double weight_decay_ = 0;
};

/// 1 - beta^step, in float64.
Value* bias_correction(Step& step, std::string_view beta, Value* count) {
  Builder& b = step.b();
  return b.subtract(b.constant(ElementType::kF64, 1.0), b.power(step.number(beta), count));
}

// Kingma & Ba, Adam, 2015; amsgrad: Reddi et al., On the Convergence of Adam and Beyond, 2018.
LowerFunction adam(bool decoupled) {
  return [decoupled](Lowering& op) {
    Builder& b = op.b;
    Step step(op, {"exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"});
    const TensorList counts = op.tensors("state_steps");
    const bool amsgrad = op.boolean("amsgrad");
    Value* rate = step.number("lr");
    Value* one = b.constant(ElementType::kF64, 1.0);
    for (int64_t i = 0; i < step.size(); ++i) {
      Parameter p = step.read(i);
      Value* count = b.reshape(op.convert(*counts[i], DType::Double), {});
      decoupled ? step.decay_parameter(p, rate) : step.decay_gradient(p);
      const auto blend = [&](Value* average, Value* fresh, std::string_view beta) {
        Value* share = step.like(b.subtract(one, step.number(beta)), average);
        return b.add(average, b.multiply(share, b.subtract(fresh, average)));
      };
      p.states[0] = blend(p.states[0], p.gradient, "beta1");
      Value* kept = b.multiply(p.states[1], step.like(step.number("beta2"), p.gradient));
      Value* share = step.like(b.subtract(one, step.number("beta2")), p.gradient);
      p.states[1] = b.add(kept, b.multiply(b.multiply(p.gradient, p.gradient), share));
      Value* square = p.states[1];
      if (amsgrad) square = p.states[2] = b.maximum(p.states[2], p.states[1]);
      Value* deviation = b.sqrt(bias_correction(step, "beta2", count));
      Value* divisor = b.add(b.divide(b.sqrt(square), step.like(deviation, square)),
                             step.like(step.number("eps"), square));
      Value* size = b.divide(rate, bias_correction(step, "beta1", count));
      Value* change = b.divide(b.multiply(step.like(size, square), p.states[0]), divisor);
      p.parameter = b.subtract(p.parameter, change);
      step.keep(std::move(p));
    }
    step.write();
  };
}

void sgd(Lowering& op) {
  Builder& b = op.b;
  Step step(op, {"momentum_buffer_list"});
  Value* rate = step.number("lr");
  Value* fresh_share = b.subtract(b.constant(ElementType::kF64, 1.0), step.number("dampening"));
  for (int64_t i = 0; i < step.size(); ++i) {
    Parameter p = step.read(i);
    step.decay_gradient(p);
    if (step.has_state(0)) {
      const auto times_momentum = [&](Value* x) {
        return b.multiply(x, step.like(step.number("momentum"), x));
      };
      Value* share = b.multiply(p.gradient, step.like(fresh_share, p.gradient));
      p.states[0] =
          op.boolean("is_first_step") ? p.gradient : b.add(times_momentum(p.states[0]), share);
      p.gradient =
          op.boolean("nesterov") ? b.add(p.gradient, times_momentum(p.states[0])) : p.states[0];
    }
    Value* change = b.multiply(p.gradient, step.like(rate, p.gradient));
    p.parameter = b.subtract(p.parameter, change);
    step.keep(std::move(p));
  }
  step.write();
}

// Duchi, Hazan & Singer, Adaptive Subgradient Methods, 2011. One schema counts the steps among what
// it writes, the other (with the rate in a tensor) does not; no kernel changes them.
LowerFunction adagrad(bool writes_steps) {
  return [writes_steps](Lowering& op) {
    Builder& b = op.b;
    Step step(op, {"state_sums"});
    const TensorList counts = op.tensors("state_steps");
    Value* one = b.constant(ElementType::kF64, 1.0);
    for (int64_t i = 0; i < step.size(); ++i) {
      Parameter p = step.read(i);
      step.decay_gradient(p);
      Value* past = b.subtract(b.reshape(op.convert(*counts[i], DType::Double), {}), one);
      Value* slowed = b.add(one, b.multiply(past, step.number("lr_decay")));
      Value* rate = b.divide(step.number("lr"), slowed);
      p.states[0] = b.add(p.states[0], b.multiply(p.gradient, p.gradient));
      Value* divisor = b.add(b.sqrt(p.states[0]), step.like(step.number("eps"), p.states[0]));
      Value* change = b.divide(b.multiply(p.gradient, step.like(rate, p.gradient)), divisor);
      p.parameter = b.subtract(p.parameter, change);
      step.keep(std::move(p));
    }
    step.write();
    if (!writes_steps) return;
    for (const auto& count : counts) op.result(count->value);
  };
}

void check_single(const Tensor& x, std::string_view name, DType dtype,
                  std::string_view dtype_name) {
  TORCH_CHECK(x.numel() == 1, name, " must be a 1-element tensor.");
  TORCH_CHECK(x.dtype == dtype, name, " must be ", dtype_name, " tensor.");
}

// Gradients times `inv_scale`; `found_inf` becomes 1 if one was not finite.
void unscale(Lowering& op) {
  Builder& b = op.b;
  const Tensor found = op.tensor("found_inf"), inverse = op.tensor("inv_scale");
  check_single(found, "found_inf", DType::Float, "a float");
  check_single(inverse, "inv_scale", DType::Float, "a float");
  Value* all_finite = b.constant(ElementType::kI1, int64_t{1});
  for (const auto& item : op.tensors("self")) {
    const DType compute = compute_type(item->dtype);
    Value* x = op.convert(*item, compute);
    const Dims dims = iota_dims(item->dim());
    all_finite = b.and_(all_finite, op.reduce(b.is_finite(x), OpKind::kAnd, dims, false));
    Value* factor = op.broadcast_to(b.reshape(op.convert(inverse, compute), {}), item->shape());
    // A factor of 1 leaves NaNs and infinities as they are, like any other.
    op.result(op.convert(b.multiply(x, factor), item->dtype));
  }
  Value* finite = op.broadcast_to(all_finite, found.shape());
  op.result(b.select(finite, found.value, b.splat(found.value->type, 1.0)));
}

// After an overflow the scale shrinks; after `growth_interval` steps without one it grows, unless
// it would overflow itself.
void update_scale(Lowering& op) {
  Builder& b = op.b;
  const Tensor scale = op.tensor("self"), tracker = op.tensor("growth_tracker");
  check_single(scale, "current_scale", DType::Float, "a float");
  check_single(tracker, "growth_tracker", DType::Int, "an int");
  const auto times = [&](std::string_view name) {
    Value* wide = op.convert(scale, DType::Double);
    Value* factor = op.broadcast_to(op.convert(op.scalar(name), DType::Double), scale.shape());
    return op.convert(b.multiply(wide, factor), DType::Float);
  };
  Value* found = op.broadcast_to(b.reshape(op.tensor("found_inf").value, {}), scale.shape());
  Value* overflowed = b.compare(found, b.splat(found->type, 0.0), "NE");
  Value* successes = b.add(tracker.value, b.splat(tracker.value->type, int64_t{1}));
  Value* due = b.compare(successes, b.splat(successes->type, op.integer("growth_interval")), "EQ");
  Value* grown = times("scale_growth_factor");
  grown = b.select(b.and_(b.reshape(due, scale.shape()), b.is_finite(grown)), grown, scale.value);
  op.result(b.select(overflowed, times("scale_backoff_factor"), grown));
  Value* restart = b.or_(b.reshape(overflowed, tracker.shape()), due);
  op.result(b.select(restart, b.splat(successes->type, int64_t{0}), successes));
}

}  // namespace

void add_optimizer(Table& table) {
  const Table rows = {
      {"_fused_adam_", adam(/*decoupled=*/false)},
      {"_fused_adam_.tensor_lr", adam(false)},
      {"_fused_adamw_", adam(true)},
      {"_fused_adamw_.tensor_lr", adam(true)},
      {"_fused_sgd_", sgd},
      {"_fused_sgd_.tensor_lr", sgd},
      {"_fused_adagrad_", adagrad(/*writes_steps=*/true)},
      {"_fused_adagrad_.tensor_lr", adagrad(false)},
      {"_amp_foreach_non_finite_check_and_unscale_", unscale},
      {"_amp_update_scale_", update_scale},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
