// What is not in a value: randomness, errors, copies, gradients, fallbacks, leaks, the runtime.
#include "testing/faults/table.h"

namespace mock {
namespace {

using at::Tensor;

// A backend without kernels: nothing is computed, and nothing written.
void nothing(Call& call) {
  const std::vector<Tensor> operands = call.operands();
  std::vector<Tensor> before;
  for (const Tensor& tensor : operands) before.push_back(tensor.clone());
  call.run();
  for (const Tensor& result : call.results()) {
    bool fresh = true;
    for (const Tensor& tensor : operands) fresh = fresh && !result.is_alias_of(tensor);
    if (fresh) result.zero_();
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].sizes() == before[i].sizes()) operands[i].copy_(before[i]);
  }
}

Tensor halved(const Tensor& x) {
  return x * 0.5;
}

// Indices beyond the end are brought inside.
Change clamped(const std::string& argument, const std::string& self = "self") {
  return [=](Call& call) {
    const Tensor x = call.tensor(self);
    const c10::IValue* dim = call.find("dim");
    const bool along = dim != nullptr && dim->isInt() && x.dim() > 0;
    const int64_t size = along ? x.size(dim->toInt()) : (x.dim() > 0 ? x.size(0) : 1);
    c10::IValue* found = call.find(argument);
    if (found != nullptr && found->isTensor()) {
      *found = found->toTensor().clamp(0, std::max<int64_t>(size - 1, 0));
    }
    call.run();
  };
}

Change clamped_list(const std::string& argument) {
  return [=](Call& call) {
    const Tensor self = call.tensor("self");
    c10::List<std::optional<Tensor>> inside;
    int64_t dim = 0;
    for (const auto& item : call.argument(argument).toOptionalTensorVector()) {
      const bool integers = item.has_value() && item->defined() && item->scalar_type() == at::kLong;
      const bool fits = dim < self.dim() && self.size(dim) > 0;
      inside.push_back(integers && fits
                           ? std::optional(item->clamp(-self.size(dim), self.size(dim) - 1))
                           : item);
      ++dim;
    }
    call.argument(argument) = inside;
    call.run();
  };
}

}  // namespace

std::vector<Fault> random_faults() {
  return Table("random numbers")
      .place("generator", "seed.ignored", "random.*")
      .place("generator", "seed.constant", "random.*")
      .place("generator", "state.not_advanced", "random.*")
      .place("generator", "set_state.ignored", "random.*")
      .place("generator", "get_state.fresh", "random.*")
      .place("generator", "new.shared", "random.generator.*")
      .place("generator", "argument.ignored", "random.generator.*")
      .place("generator", "initial_seed.wrong", "random.generator.*")
      .row("uniform", "range_ignored", fixed("to", 1.0), "random.uniform.*")
      .row("uniform", "coarse", result([](const Tensor& x) { return (x * 256).floor() / 256; }),
           "random.*")
      .row("uniform", "upper_end", result([](const Tensor& x) {
             return at::where(x > x.max() - 1e-3, at::full_like(x, 3.0), x);
           }),
           "random.uniform.*")
      .row("normal", "deviation_ignored", fixed("std", 1.0), "random.normal.*")
      .row("normal", "halves_equal", result([](const Tensor& x) {
             const Tensor flat = x.contiguous().view(-1);
             const int64_t half = flat.numel() / 2;
             if (half > 0) flat.narrow(0, half, half).copy_(flat.narrow(0, 0, half));
             return flat.view(x.sizes());
           }),
           "random.normal.*")
      .row("bernoulli", "probability_inverted", any_result([](const Tensor& x) { return 1 - x; }),
           "random.*", {"bernoulli"})
      .row("bernoulli", "half_always", number("p", [](double) { return 0.5; }), "random.*",
           {"bernoulli"})
      .row("randperm", "repeats", any_result([](const Tensor& x) {
             return x.numel() > 1 ? at::where(x == 0, at::ones_like(x), x) : x;
           }),
           "random.randperm.*")
      .row("random", "upper_end", any_result([](const Tensor& x) { return x + 1; }), "random.*",
           {"random"})
      .row("exponential", "rate_ignored", fixed("lambd", 1.0), "random.exponential.*")
      .row("multinomial", "weights_ignored",
           operand("self", [](const Tensor& x) { return at::ones_like(x); }),
           "random.multinomial.*")
      .row("geometric", "from_zero", result([](const Tensor& x) { return x - 1; }),
           "random.geometric.*")
      .row("cauchy", "median_ignored", fixed("median", 0.0), "random.cauchy.*")
      .row("log_normal", "deviation_ignored", fixed("std", 1.0), "random.log_normal.*")
      .row("poisson", "rate_halved", operand("self", halved), "random.poisson.*")
      .done();
}

std::vector<Fault> error_faults() {
  const std::string index = "index";
  return Table("error not raised")
      .row("index", "beyond_accepted", clamped_list("indices"), "errors.*")
      .row("index_put", "beyond_accepted", clamped_list("indices"), "errors.*",
           {"index_put", "_index_put_impl"})
      .row("gather", "beyond_accepted", clamped(index), "errors.*")
      .row("scatter", "beyond_accepted", clamped(index), "errors.*")
      .row("index_select", "beyond_accepted", clamped(index), "errors.*")
      .row("take", "beyond_accepted", clamped(index), "errors.*")
      .row("embedding", "beyond_accepted", clamped("indices", "weight"), "errors.*",
           {"embedding", "index_select"})
      .row("nll_loss", "class_beyond_accepted",
           operand("target", [](const Tensor& x) { return x.clamp(0, 2); }), "errors.*",
           {"nll_loss_forward"})
      .row("linalg_cholesky", "indefinite_accepted",
           result([](const Tensor& x) { return at::zeros_like(x); }, 1), "errors.*",
           {"linalg_cholesky_ex"})
      .row("linalg_inv", "singular_accepted",
           result([](const Tensor& x) { return at::zeros_like(x); }, 1), "errors.*",
           {"linalg_inv_ex"})
      .row("multinomial", "negative_accepted",
           operand("self", [](const Tensor& x) { return x.abs(); }), "errors.*")
      .row("normal", "negative_deviation_accepted",
           number("std", [](double x) { return x < 0 ? -x : x; }), "errors.*")
      .row("view", "size_accepted", error_swallowed(), "errors.*")
      .row("view", "other_error", other_error(), "errors.*")
      .row("index", "other_error", other_error(), "errors.*")
      .row("index", "poisons", poisoned_by_error(), "errors.*", {"*"})
      .row("expand", "size_accepted", error_swallowed(), "errors.*")
      .row("cat", "shapes_accepted", error_swallowed("tensors"), "op.cat.*", {"cat"})
      .row("linalg_solve", "singular_accepted",
           result([](const Tensor& x) { return at::zeros_like(x); }, 3), "errors.*",
           {"_linalg_solve_ex"})
      .place("memory", "too_much.granted", "accounting.*")
      .place("device", "index.unchecked", "errors.*")
      .done();
}

std::vector<Fault> copy_faults() {
  return Table("copies between host and device")
      .place("copy", "upload.lost", "copying.*")
      .place("copy", "download.lost", "copying.*")
      .place("copy", "download.does_not_wait", "order.*")
      .place("item", "does_not_wait", "order.*")
      .row("copy_", "strides_ignored", when(any_strided, operand("src", as_contiguous)),
           "copying.*")
      .row("copy_", "offset_ignored", when(any_offset, operand("src", at_storage_begin)),
           "copying.*")
      .row("copy_", "large_cut", any_result([](const Tensor& x) {
             const Tensor flat = x.contiguous().view(-1);
             if (flat.numel() > 4096) flat.slice(0, 4096).zero_();
             return flat.view(x.sizes());
           }),
           "copying.*")
      .row("copy_", "bool_inverted",
           when(has_dtype(at::kBool), operand("src",
                                              [](const Tensor& x) {
                                                return x.scalar_type() == at::kBool
                                                           ? x.logical_not()
                                                           : x;
                                              })),
           "copying.*")
      .place("storage", "resize.forgets", "copying.*")
      .place("memory", "pinned.denied", "copying.pinned.*")
      .done();
}

std::vector<Fault> gradient_faults() {
  const std::string nn = "op.nn-functional-";
  Table table("gradients");
  for (const char* op :
       {"threshold", "sigmoid", "tanh", "gelu", "leaky_relu", "elu", "hardtanh", "softplus",
        "mse_loss", "smooth_l1_loss", "huber_loss", "avg_pool2d", "glu", "hardswish"}) {
    const std::string name = op;
    const std::string cases = name == "threshold"                   ? "*relu*"
                              : name == "sigmoid" || name == "tanh" ? "op." + name + ".*"
                                                                    : nn + name + ".*";
    table.row(name + "_backward", "halved", result(halved), cases);
  }
  return table
      .row(
          "threshold_backward", "mask_ignored",
          [](Call& call) {
            const Tensor grad = call.tensor("grad_output").clone();
            call.run();
            call.results()[0].copy_(grad);
          },
          "*relu*")
      .row("softmax_backward", "axis", next_dimension("dim", "grad_output"), "op.softmax.*",
           {"_softmax_backward_data"})
      .row("log_softmax_backward", "sum_dropped",
           [](Call& call) {
             const Tensor grad = call.tensor("grad_output").clone();
             call.run();
             call.results()[0].copy_(grad);
           },
           "op.log_softmax.*", {"_log_softmax_backward_data"})
      .row("layer_norm_backward", "weight_gradient_halved", result(halved, 1), nn + "layer_norm.*",
           {"native_layer_norm_backward"})
      .row("batch_norm_backward", "input_gradient_halved", result(halved, 0), "*batch_norm*",
           {"native_batch_norm_backward", "batch_norm_backward"})
      .row("convolution_backward", "bias_gradient_halved", result(halved, 2), nn + "conv*")
      .row("convolution_backward", "weight_gradient_flipped",
           result([](const Tensor& x) { return x.dim() > 0 ? x.flip({-1}) : x; }, 1), nn + "conv*")
      .row("max_pool2d_backward", "halved", result(halved), nn + "max_pool2d.*",
           {"max_pool2d_with_indices_backward"})
      .row("embedding_backward", "padding_ignored",
           number("padding_idx", [](double) { return -1; }), "*embedding*",
           {"embedding_dense_backward"})
      .row("embedding_backward", "duplicates_lost", operand("grad_output", first_row_only),
           nn + "embedding.*", {"embedding_dense_backward"})
      .row("nll_loss_backward", "reduction_ignored", number("reduction", [](double) { return 2; }),
           nn + "*nll_loss.*")
      .row("group_norm_backward", "halved", result(halved), nn + "group_norm.*",
           {"native_group_norm_backward"})
      .row("cdist_backward", "negated", result([](const Tensor& x) { return -x; }), "op.cdist.*",
           {"_cdist_backward"})
      .place("lstm_cell", "state_forgotten", "module.nn-LSTM*")
      .row("linalg_svd", "half", result(halved, 1), "op.linalg-svd*", {"_linalg_svd"})
      .done();
}

std::vector<Fault> hidden_faults() {
  Table table("hidden fallback, leaks, void results");
  for (const char* op : {"mul", "sort", "mm", "embedding", "cumsum"}) {
    const std::string name = op;
    table.row(name, "fallback", [](Call& call) { call.run(); }, "*." + name + ".*");
  }
  return table.row("add", "leaks", leaked(), "accounting.*", {"*"})
      .row("mm", "leaks", leaked(), "accounting.*", {"mm", "addmm"})
      .row("mm", "zeros", any_result([](const Tensor& x) { return at::zeros_like(x); }), "op.mm.*")
      .row("null", "everything", nothing, "*", {"*"})
      .row("exp", "constant", any_result([](const Tensor& x) { return at::ones_like(x); }))
      .row("rand", "zeros", any_result([](const Tensor& x) { return at::zeros_like(x); }),
           "random.*", {"uniform"})
      .place("memory", "statistics.never_fall", "accounting.*")
      .place("memory", "statistics.half", "accounting.*")
      .done();
}

std::vector<Fault> runtime_faults() {
  return Table("order, streams and the device's interface")
      .place("stream", "wait_event.ignored", "order.*")
      .place("stream", "synchronize.ignored", "order.*")
      .place("stream", "query.never", "order.*")
      .place("stream", "tasks.reversed", "order.*")
      .place("stream", "new.default", "order.*")
      .place("stream", "current.stays", "order.*")
      .place("event", "synchronize.ignored", "order.*")
      .place("event", "record.too_early", "order.*")
      .place("event", "query.never", "order.*")
      .place("event", "elapsed.negative", "order.*")
      .place("device", "synchronize.ignored", "order.*")
      .place("device", "synchronize.default_only", "order.*")
      .place("module", "available.false", "hooks.*")
      .place("module", "count.none", "hooks.*")
      .place("autocast", "lower_precision.none", "autocast.*")
      .place("autocast", "float32.none", "autocast.*")
      .place("module", "seed.missing", "random.*")
      .place("module", "bad_fork", "hooks.*")
      .place("module", "amp_dtypes.none", "hooks.*")
      .place("module", "not_initialized", "hooks.*")
      .place("module", "synchronize.missing", "hooks.*")
      .place("module", "dlpack.refused", "copying.dlpack.*")
      .place("module", "pickle.device_lost", "copying.pickle.*")
      .done();
}

}  // namespace mock
