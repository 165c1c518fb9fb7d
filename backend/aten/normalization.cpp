// Layer, batch and group normalisation, and their gradients.
#include <algorithm>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// A number argument as a value of `like`'s type.
Value* number_like(Lowering& op, std::string_view name, Value* like) {
  return op.broadcast_to(op.b.convert(op.scalar(name).value, like->type.element), like->type.shape);
}

Value* sum_over(Lowering& op, Value* x, const Dims& dims) {
  return op.reduce(x, OpKind::kAdd, dims, /*keepdim=*/true);
}

Value* spread(Lowering& op, Value* x, const Value* like) {
  return op.broadcast_to(x, like->type.shape);
}

/// Mean, variance and, if there is an eps, 1 / sqrt(variance + eps) over `dims`, with size-1 dims.
struct Statistics {
  Value *mean, *variance, *inverse_deviation;
};

Statistics statistics(Lowering& op, Value* x, const Dims& dims) {
  Builder& b = op.b;
  Value* mean = mean_keepdim(op, x, dims);
  Value* deviation = b.subtract(x, spread(op, mean, x));
  Value* variance = mean_keepdim(op, b.multiply(deviation, deviation), dims);
  if (!op.has("eps")) return {mean, variance, nullptr};
  return {mean, variance, b.rsqrt(b.add(variance, number_like(op, "eps", variance)))};
}

/// dx of y = (x - mean) rstd * weight, given dy * weight:
/// rstd (g - mean(g) - xhat mean(g xhat)).
Value* input_gradient(Lowering& op, Value* scaled_grad, Value* normalized, Value* inverse_deviation,
                      const Dims& dims) {
  Builder& b = op.b;
  Value* mean_grad = mean_keepdim(op, scaled_grad, dims);
  Value* mean_product = mean_keepdim(op, b.multiply(scaled_grad, normalized), dims);
  Value* centred = b.subtract(scaled_grad, spread(op, mean_grad, normalized));
  Value* projected = b.multiply(normalized, spread(op, mean_product, normalized));
  return b.multiply(b.subtract(centred, projected), spread(op, inverse_deviation, normalized));
}

Dims trailing(int64_t rank, size_t count) {
  Dims dims;
  for (int64_t d = rank - static_cast<int64_t>(count); d < rank; ++d) dims.push_back(d);
  return dims;
}

void check_normalized_shape(const Tensor& input, const Dims& shape) {
  const bool fits = shape.size() <= input.shape().size() &&
                    std::equal(shape.rbegin(), shape.rend(), input.shape().rbegin());
  TORCH_CHECK(fits && !shape.empty(), "Given normalized_shape=", c10::IntArrayRef(shape),
              ", expected input with shape [*, ", c10::IntArrayRef(shape),
              "], but got input of size", c10::IntArrayRef(input.shape()));
}

/// What mean and deviation are returned in, as on the CPU: the input's dtype, or a weight's where
/// it is another.
DType statistics_type(Lowering& op, const Tensor& input) {
  return op.has("weight") ? op.tensor("weight").dtype : input.dtype;
}

void layer_norm(Lowering& op) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const Dims shape = op.integers("normalized_shape");
  check_normalized_shape(input, shape);
  const Dims dims = trailing(input.dim(), shape.size());
  Value* x = widened(op, input);
  const Statistics s = statistics(op, x, dims);
  Value* y = b.multiply(b.subtract(x, spread(op, s.mean, x)), spread(op, s.inverse_deviation, x));
  if (op.has("weight")) y = b.multiply(y, spread(op, widened(op, op.tensor("weight")), x));
  if (op.has("bias")) y = b.add(y, spread(op, widened(op, op.tensor("bias")), x));
  op.result(op.convert(y, input.dtype));
  op.result(op.convert(s.mean, statistics_type(op, input)));
  op.result(op.convert(s.inverse_deviation, statistics_type(op, input)));
}

void layer_norm_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const Dims shape = op.integers("normalized_shape");
  const Dims dims = trailing(input.dim(), shape.size());
  const Dims rows = iota_dims(input.dim() - static_cast<int64_t>(shape.size()));
  const std::vector<bool> wanted = op.booleans("output_mask");
  Value* x = widened(op, input);
  Value* grad = widened(op, op.tensor("grad_out"));
  const auto statistic = [&](std::string_view name) {
    Dims kept = input.shape();
    for (int64_t d : dims) kept[d] = 1;
    return b.reshape(op.convert(op.tensor(name), compute_type(input.dtype)), kept);
  };
  Value* rstd = statistic("rstd");
  Value* normalized =
      b.multiply(b.subtract(x, spread(op, statistic("mean"), x)), spread(op, rstd, x));
  if (wanted[0]) {
    Value* scaled = grad;
    if (op.has("weight"))
      scaled = b.multiply(grad, spread(op, widened(op, op.tensor("weight")), x));
    op.result(op.convert(input_gradient(op, scaled, normalized, rstd, dims), input.dtype));
  } else {
    op.undefined_result();
  }
  const auto parameter_gradient = [&](bool asked, std::string_view name, Value* value) {
    if (!asked || !op.has(name)) return op.undefined_result();
    op.result(op.convert(op.reduce(value, OpKind::kAdd, rows, false), op.tensor(name).dtype));
  };
  parameter_gradient(wanted[1], "weight", b.multiply(grad, normalized));
  parameter_gradient(wanted[2], "bias", grad);
}

/// All dimensions but the channel's.
Dims all_but_channel(int64_t rank) {
  Dims dims = iota_dims(rank);
  if (rank > 1) dims.erase(dims.begin() + 1);
  return dims;
}

/// A per-channel vector as [1, C, 1, ...] of the compute type.
Value* per_channel(Lowering& op, Value* vector, const Value* like) {
  Dims shape(like->type.rank(), 1);
  shape[1] = like->type.shape[1];
  return op.b.reshape(op.b.convert(vector, like->type.element), shape);
}

Value* vector_of(Lowering& op, Value* kept) {
  return op.b.reshape(kept, {kept->type.num_elements()});
}

/// What becomes of batch norm's running statistics: one schema marks them as written and so takes
/// them as results, others do not (and may have none).
enum class Running : uint8_t { kResults, kAssigned };

// running = (1 - momentum) running + momentum batch
void update_running(Lowering& op, std::string_view name, Value* batch, Running kind) {
  Builder& b = op.b;
  if (!op.has(name)) return;
  const Tensor running = op.tensor(name);
  Value* old = op.convert(running, compute_type(running.dtype));
  Value* fresh = b.convert(batch, old->type.element);
  Value* momentum = number_like(op, "momentum", old);
  Value* keep = b.subtract(b.splat(old->type, 1.0), momentum);
  Value* updated =
      op.convert(b.add(b.multiply(keep, old), b.multiply(momentum, fresh)), running.dtype);
  kind == Running::kResults ? op.result(updated) : op.assign(name, updated);
}

/// Running variance is unbiased.
void update_running(Lowering& op, const Statistics& s, double count, Running kind) {
  Builder& b = op.b;
  const double correction = count / std::max(1.0, count - 1);
  update_running(op, "running_mean", vector_of(op, s.mean), kind);
  update_running(op, "running_var",
                 vector_of(op, b.multiply(s.variance, b.splat(s.variance->type, correction))),
                 kind);
}

/// The running statistics as they are, where the schema wants results for them.
void keep_running(Lowering& op, Running kind) {
  if (kind == Running::kAssigned) return;
  op.result(op.tensor("running_mean").value);
  op.result(op.tensor("running_var").value);
}

void batch_norm(Lowering& op, bool training, Running kind) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  TORCH_CHECK(input.dim() >= 2, "batch_norm expects an input of at least 2 dimensions, got ",
              input.dim());
  const Dims dims = all_but_channel(input.dim());
  Value* x = widened(op, input);
  Statistics s{};
  if (training) {
    s = statistics(op, x, dims);
    update_running(op, s, static_cast<double>(count_of(input.shape(), dims)), kind);
  } else {
    keep_running(op, kind);
    s.mean = per_channel(op, op.tensor("running_mean").value, x);
    s.variance = per_channel(op, op.tensor("running_var").value, x);
    s.inverse_deviation = b.rsqrt(b.add(s.variance, number_like(op, "eps", s.variance)));
  }
  // One multiply and one add an element, as the CPU folds the parameters.
  Value* scale = s.inverse_deviation;
  if (op.has("weight")) scale = b.multiply(scale, per_channel(op, op.tensor("weight").value, x));
  Value* y = b.multiply(b.subtract(x, spread(op, s.mean, x)), spread(op, scale, x));
  if (op.has("bias")) {
    y = b.add(y, spread(op, per_channel(op, op.tensor("bias").value, x), x));
  }
  op.result(op.convert(y, input.dtype), ResultLayout::kFirstOperand, {input});
  const DType kept = statistics_type(op, input);
  for (Value* statistic : {s.mean, s.inverse_deviation}) {
    op.result(training ? op.convert(vector_of(op, statistic), kept) : op.full({0}, kept, 0.0));
  }
}

LowerFunction batch_norm_of(Running kind) {
  return [kind](Lowering& op) { batch_norm(op, op.boolean("training"), kind); };
}

// In training always; the fourth result is what a vendor's library would keep for its backward.
void batch_norm_with_update(Lowering& op) {
  batch_norm(op, /*training=*/true, Running::kResults);
  op.result(op.full({0}, DType::Byte, int64_t{0}));
}

// The batch's mean and (biased) variance, and the running ones' update.
void batch_norm_statistics(Lowering& op) {
  const Tensor input = op.tensor("input");
  const Dims dims = all_but_channel(input.dim());
  const Statistics s = statistics(op, widened(op, input), dims);
  update_running(op, s, static_cast<double>(count_of(input.shape(), dims)), Running::kAssigned);
  for (Value* statistic : {s.mean, s.variance}) {
    op.result(op.convert(vector_of(op, statistic), input.dtype));
  }
}

/// `train` and `deviation` are what the schema calls whether batch statistics were used, and the
/// saved inverse deviation.
void batch_norm_backward(Lowering& op, bool train, std::string_view deviation) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const Dims dims = all_but_channel(input.dim());
  const std::vector<bool> wanted = op.booleans("output_mask");
  Value* x = widened(op, input);
  Value* grad = widened(op, op.tensor("grad_out"));
  Value *mean, *rstd;
  if (train) {
    mean = per_channel(op, op.tensor("save_mean").value, x);
    rstd = per_channel(op, op.tensor(deviation).value, x);
  } else {
    mean = per_channel(op, op.tensor("running_mean").value, x);
    Value* variance = per_channel(op, op.tensor("running_var").value, x);
    rstd = b.rsqrt(b.add(variance, number_like(op, "eps", variance)));
  }
  Value* normalized = b.multiply(b.subtract(x, spread(op, mean, x)), spread(op, rstd, x));
  if (wanted[0]) {
    Value* scaled = grad;
    if (op.has("weight")) {
      scaled = b.multiply(grad, spread(op, per_channel(op, op.tensor("weight").value, x), x));
    }
    Value* dx = train ? input_gradient(op, scaled, normalized, rstd, dims)
                      : b.multiply(scaled, spread(op, rstd, x));
    op.result(op.convert(dx, input.dtype), ResultLayout::kFirstOperand, {input});
  } else {
    op.undefined_result();
  }
  const DType parameter = op.has("weight") ? op.tensor("weight").dtype : compute_type(input.dtype);
  const auto total = [&](Value* value) {
    return op.convert(vector_of(op, sum_over(op, value, dims)), parameter);
  };
  wanted[1] ? op.result(total(b.multiply(grad, normalized))) : op.undefined_result();
  wanted[2] ? op.result(total(grad)) : op.undefined_result();
}

/// Group norm sees its input as [N, group, (C / group) * HxW].
struct Groups {
  int64_t n, channels, spatial, group;
  Dims grouped() const { return {n, group, channels / group * spatial}; }
  Dims by_channel() const { return {n, channels, spatial}; }
};

Groups read_groups(Lowering& op) {
  return {op.integer("N"), op.integer("C"), op.integer("HxW"), op.integer("group")};
}

/// A [C] parameter over [N, C, HxW].
Value* channel_parameter(Lowering& op, std::string_view name, const Value* like) {
  return op.b.broadcast_in_dim(widened(op, op.tensor(name)), like->type.shape, {1});
}

void group_norm(Lowering& op) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const Groups g = read_groups(op);
  Value* x = b.reshape(widened(op, input), g.grouped());
  const Statistics s = statistics(op, x, {2});
  Value* y = b.multiply(b.subtract(x, spread(op, s.mean, x)), spread(op, s.inverse_deviation, x));
  y = b.reshape(y, g.by_channel());
  if (op.has("weight")) y = b.multiply(y, channel_parameter(op, "weight", y));
  if (op.has("bias")) y = b.add(y, channel_parameter(op, "bias", y));
  op.result(op.convert(b.reshape(y, input.shape()), input.dtype));
  for (Value* statistic : {s.mean, s.inverse_deviation}) {
    op.result(op.convert(b.reshape(statistic, {g.n, g.group}), statistics_type(op, input)));
  }
}

void group_norm_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const Groups g = read_groups(op);
  const std::vector<bool> wanted = op.booleans("output_mask");
  Value* x = b.reshape(widened(op, input), g.grouped());
  Value* grad = b.reshape(widened(op, op.tensor("grad_out")), g.by_channel());
  const auto statistic = [&](std::string_view name) {
    return b.reshape(op.convert(op.tensor(name), compute_type(input.dtype)), {g.n, g.group, 1});
  };
  Value* rstd = statistic("rstd");
  Value* normalized =
      b.multiply(b.subtract(x, spread(op, statistic("mean"), x)), spread(op, rstd, x));
  if (wanted[0]) {
    Value* scaled =
        op.has("weight") ? b.multiply(grad, channel_parameter(op, "weight", grad)) : grad;
    Value* dx = input_gradient(op, b.reshape(scaled, g.grouped()), normalized, rstd, {2});
    op.result(op.convert(b.reshape(dx, input.shape()), input.dtype));
  } else {
    op.undefined_result();
  }
  const DType parameter = op.has("weight") ? op.tensor("weight").dtype : input.dtype;
  const auto total = [&](Value* value) {
    return op.convert(op.reduce(value, OpKind::kAdd, {0, 2}, false), parameter);
  };
  wanted[1] ? op.result(total(b.multiply(grad, b.reshape(normalized, g.by_channel()))))
            : op.undefined_result();
  wanted[2] ? op.result(total(grad)) : op.undefined_result();
}

}  // namespace

void add_normalization(Table& table) {
  const Table rows = {
      {"native_layer_norm", layer_norm},
      {"native_layer_norm_backward", layer_norm_backward},
      {"native_batch_norm", batch_norm_of(Running::kAssigned)},
      {"_native_batch_norm_legit", batch_norm_of(Running::kResults)},
      {"_native_batch_norm_legit.no_stats", batch_norm_of(Running::kAssigned)},
      {"_batch_norm_with_update", batch_norm_with_update},
      {"batch_norm_update_stats", batch_norm_statistics},
      {"native_batch_norm_backward",
       [](Lowering& op) { batch_norm_backward(op, op.boolean("train"), "save_invstd"); }},
      {"batch_norm_backward",
       [](Lowering& op) { batch_norm_backward(op, op.boolean("update"), "save_var"); }},
      {"native_group_norm", group_norm},
      {"native_group_norm_backward", group_norm_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
