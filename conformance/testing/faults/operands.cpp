// Operands in each other's place, along the wrong axis, with a lost tail, or accumulated wrongly.
#include "testing/faults/table.h"

namespace mock {
namespace {

at::Tensor transposed_if_square(const at::Tensor& x) {
  const bool square = x.dim() >= 2 && x.size(-1) == x.size(-2);
  return square ? x.transpose(-1, -2) : x;
}

// The first two axes in each other's place, where that changes no shape.
at::Tensor axes_swapped(const at::Tensor& x) {
  const bool square = x.dim() >= 2 && x.size(0) == x.size(1);
  return square ? x.transpose(0, 1) : x;
}

// Duplicates among indices lose all but one contribution: only the last of equal indices counts.
at::Tensor without_last(const at::Tensor& x) {
  at::Tensor kept = x.clone();
  if (x.numel() > 1) kept.view(-1).slice(0, x.numel() - 1).zero_();
  return kept;
}

at::Tensor without_last_contiguous(const at::Tensor& x) {
  return without_last(x.contiguous());
}

}  // namespace

std::vector<Fault> operand_faults() {
  const std::string self = "self", other = "other";
  return Table("swapped operands")
      .row("sub", "operands_swapped", swapped(self, other))
      .row("div", "operands_swapped", swapped(self, other), "op.div-no_rounding_mode.*")
      .row("pow", "operands_swapped", swapped(self, "exponent"))
      .row("atan2", "operands_swapped", swapped(self, other))
      .row("fmod", "operands_swapped", swapped(self, other))
      .row("remainder", "operands_swapped", swapped(self, other))
      .row("copysign", "operands_swapped", swapped(self, other))
      .row("xlogy", "operands_swapped", swapped(self, other))
      .row("nextafter", "operands_swapped", swapped(self, other))
      .row("lt", "operands_swapped", swapped(self, other))
      .row("ge", "operands_swapped", swapped(self, other))
      .row("bitwise_left_shift", "operands_swapped", swapped(self, other))
      .row("where", "operands_swapped", swapped(self, other))
      .row("lerp", "ends_swapped", swapped(self, "end"))
      .row("addcdiv", "operands_swapped", swapped("tensor1", "tensor2"))
      .row("clamp", "ends_swapped", swapped("min", "max"))
      .row("linalg_cross", "operands_swapped", swapped(self, other), "op.linalg-cross.*")
      .row("mm", "right_transposed", operand("mat2", transposed_if_square), "op.*mm.*",
           {"mm", "addmm"})
      .row("bmm", "left_transposed", operand(self, transposed_if_square), "op.*bmm.*",
           {"bmm", "baddbmm"})
      .row("masked_fill", "mask_inverted",
           operand("mask", [](const at::Tensor& x) { return x.logical_not(); }), "op.masked_fill.*")
      .row("triangular_solve", "transpose_ignored", fixed("transpose", false))
      .row("cdist", "operands_swapped", swapped("x1", "x2"), "op.cdist.*",
           {"_cdist_forward", "_euclidean_dist"})
      .done();
}

std::vector<Fault> axis_faults() {
  return Table("wrong axis")
      .row("sum", "axis", operand("self", axes_swapped), "*.sum.*")
      .row("mean", "axis", operand("self", axes_swapped), "*.mean.*")
      .row("amax", "axis", operand("self", axes_swapped), "*.amax.*")
      .row("argmax", "axis", operand("self", axes_swapped), "*.argmax.*")
      .row("prod", "axis", operand("self", axes_swapped), "*.prod.*")
      .row("any", "axis", operand("self", axes_swapped), "*.any.*")
      .row("linalg_vector_norm", "axis", operand("self", axes_swapped), "*vector_norm.*")
      .row("std", "axis", operand("self", axes_swapped), "*.std.*")
      .row("cumsum", "axis", next_dimension("dim"), "*.cumsum.*")
      .row("cumprod", "axis", next_dimension("dim"), "*.cumprod.*")
      .row("softmax", "axis", next_dimension("dim"), "*softmax.*", {"_softmax"})
      .row("log_softmax", "axis", next_dimension("dim"), "*log_softmax.*", {"_log_softmax"})
      .row("sort", "axis", next_dimension("dim"), "*.sort.*")
      .row("topk", "axis", next_dimension("dim"), "*.topk.*")
      .row("cat", "axis", next_dimension("dim", "tensors"), "*.cat.*")
      .row("flip", "axis", next_dimension("dims"), "*.flip.*")
      .row("roll", "axis", next_dimension("dims"), "*.roll.*")
      .row("index_select", "axis", next_dimension("dim"), "*.index_select.*")
      .row("gather", "axis", next_dimension("dim"), "*.gather.*")
      .row("kthvalue", "axis", next_dimension("dim"), "*.kthvalue.*")
      .row("tril", "diagonal_negated", number("diagonal", [](double d) { return -d; }))
      .done();
}

std::vector<Fault> tail_faults() {
  return Table("wrong tail")
      .row("add", "tail", tail_lost())
      .row("mul", "tail", tail_lost())
      .row("exp", "tail", tail_lost())
      .row("sigmoid", "tail", tail_lost())
      .row("relu", "tail", tail_lost(), "op.nn-functional-relu.*", {"relu", "clamp_min"})
      .row("mm", "tail", tail_lost(), "op.*mm.*", {"mm", "addmm"})
      .row("cumsum", "tail", tail_lost())
      .row("softmax", "tail", tail_lost(), "op.softmax.*", {"_softmax"})
      .row("gather", "tail", tail_lost())
      .row("cat", "tail", tail_lost())
      .row("copy_", "tail", tail_lost(), "copying.*")
      .row("convolution", "tail", tail_lost(), "op.nn-functional-conv*.*")
      .row("arange", "tail", tail_lost(), "*.arange.*")
      .row("native_layer_norm", "tail", tail_lost(), "op.nn-functional-layer_norm.*")
      .row("sum", "last_addend_lost", operand("self", without_last_contiguous))
      .row("dot", "last_addend_lost", operand("self", without_last_contiguous))
      .row("fill_", "tail", tail_lost(), "*fill*", {"fill"})
      .done();
}

std::vector<Fault> accumulation_faults() {
  const auto half = [](double) { return 0.5; };
  return Table("dropped accumulation")
      .row("sum", "kept_in_bfloat16", result(rounded_to_bfloat16))
      .row("mm", "operands_in_bfloat16", operands(rounded_to_bfloat16), "op.*mm.*", {"mm", "addmm"})
      .row("convolution", "operands_in_bfloat16", operands(rounded_to_bfloat16),
           "op.nn-functional-conv*.*")
      .row("convolution", "bias_lost", fixed("bias", c10::IValue()), "op.nn-functional-conv*.*")
      .row("convolution", "kernel_flipped",
           when([](Call& call) { return call.argument("groups").toInt() == 1; },
                operand("weight", [](const at::Tensor& x) { return x.flip({-1}); })),
           "op.nn-functional-conv*.*")
      .row("var", "correction_ignored", fixed("correction", at::Scalar(0)), "op.*var*.*",
           {"var", "var_mean", "std", "std_mean"})
      .row("addmm", "beta_ignored", fixed("beta", at::Scalar(1)), "op.*addmm*.*")
      .row("addmm", "alpha_ignored", fixed("alpha", at::Scalar(1)), "op.*addmm*.*")
      .row("baddbmm", "beta_ignored", fixed("beta", at::Scalar(1)))
      .row("add", "alpha_ignored", fixed("alpha", at::Scalar(1)))
      .row("addcmul", "value_ignored", fixed("value", at::Scalar(1)))
      .row("index_add", "duplicates_lost", operand("source", first_row_only))
      .row("scatter_add", "duplicates_lost", operand("src", first_row_only))
      .row("index_put", "accumulate_ignored", fixed("accumulate", false), "*.index_put.*",
           {"index_put", "_index_put_impl"})
      .row("scatter_reduce", "self_left_out", fixed("include_self", false), "op.scatter_reduce-*.*")
      .row("bincount", "weights_ignored", fixed("weights", c10::IValue()))
      .row("histc", "bins_shifted", any_result([](const at::Tensor& x) { return x.roll(1); }))
      .row("linalg_vector_norm", "order_ignored", fixed("ord", at::Scalar(2)),
           "op.linalg-vector_norm.*")
      .row("logcumsumexp", "restarts", operand("self", first_row_only), "", {"_logcumsumexp"})
      .row("layer_norm", "epsilon_ignored", number("eps", [](double) { return 1e-12; }),
           "op.nn-functional-layer_norm.*", {"native_layer_norm"})
      .row("batch_norm", "momentum_ignored", number("momentum", half), "*batch_norm*",
           {"native_batch_norm", "_native_batch_norm_legit", "_batch_norm_with_update",
            "batch_norm_update_stats"})
      .row("batch_norm", "training_ignored", fixed("training", false), "*batch_norm*",
           {"native_batch_norm", "_native_batch_norm_legit"})
      .done();
}

}  // namespace mock
