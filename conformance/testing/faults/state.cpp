// Stale caches, and the order of what is equal or not a number.
#include "testing/faults/table.h"

namespace mock {
namespace {

// Ties in the other order: the maximum's last place instead of its first.
Change last_of_equals(const std::string& dim) {
  return [dim](Call& call) {
    call.run();
    const c10::IValue* value = call.find(dim);
    const at::Tensor self = call.tensor("self");
    if (value == nullptr || self.dim() == 0) return;
    const bool flat = value->isNone();
    const at::Tensor x = flat ? self.reshape(-1) : self;
    const int64_t axis = flat ? 0 : value->toInt();
    const bool keep = !flat && call.find("keepdim") != nullptr && call.argument("keepdim").toBool();
    const at::Tensor flipped = x.flip({axis}).argmax(axis, keep);
    const at::Tensor last = x.size(axis) - 1 - flipped;
    for (const at::Tensor& result : call.results()) {
      if (result.scalar_type() == at::kLong && result.numel() == last.numel()) {
        result.copy_(last.view(result.sizes()));
      }
    }
  };
}

void unstable_sort(Call& call) {
  c10::IValue& descending = call.argument("descending");
  const at::Tensor self = call.tensor("self");
  if (self.dim() == 0 || self.numel() == 0) return call.run();
  const int64_t dim = call.argument("dim").toInt();
  // Sorted from the other end, so that equal elements come out reversed.
  call.run();
  const std::vector<at::Tensor> results = call.results();
  const auto [values, places] = self.flip({dim}).sort(true, dim, descending.toBool());
  results[1].copy_(self.size(dim) - 1 - places);
}

at::Tensor nan_first(const at::Tensor& x) {
  return x.dim() == 0 ? x : x.flip({-1});
}

}  // namespace

std::vector<Fault> stale_faults() {
  return Table("stale cache entry")
      .row("add", "stale_alpha", remembered("alpha"), "*add*")
      .row("add", "stale_number",
           when([](Call& call) { return call.tensor("other").dim() == 0; }, remembered("other")),
           "repeated.*")
      .row("mul", "stale_number",
           when([](Call& call) { return call.tensor("other").dim() == 0; }, remembered("other")),
           "repeated.*")
      .row("pow", "stale_exponent", remembered("exponent"), "*pow*")
      .row("clamp", "stale_minimum", remembered("min"), "*clamp*")
      .row("softmax", "stale_axis", remembered("dim"), "*softmax*", {"_softmax"})
      .row("sum", "stale_axis", remembered("dim"), "*sum*")
      .row("cat", "stale_axis", remembered("dim"), "*cat*")
      .row("cumsum", "stale_axis", remembered("dim"), "*cumsum*")
      .row("roll", "stale_shifts", remembered("shifts"), "*roll*")
      .row("index_select", "stale_indices", remembered("index"), "*index_select*")
      .row("gather", "stale_indices", remembered("index"), "*gather*")
      .row("embedding", "stale_weights", remembered("weight"), "*.embedding.*")
      .row("fill", "stale_value", remembered("value"), "repeated.*", {"fill"})
      .row("leaky_relu", "stale_slope", remembered("negative_slope"), "*leaky_relu*")
      .row("gelu", "stale_approximation", remembered("approximate"), "*gelu*")
      .row("convolution", "stale_stride", remembered("stride"), "*conv*")
      .row("layer_norm", "stale_epsilon", remembered("eps"), "*layer_norm*", {"native_layer_norm"})
      .row("topk", "stale_largest", remembered("largest"), "*topk*")
      .row("sort", "stale_direction", remembered("descending"), "*sort*")
      .row("norm", "stale_order", remembered("ord"), "*norm*", {"linalg_vector_norm"})
      .row("relu", "stale_result", remembered_result(), "*relu*", {"relu"})
      .row("mm", "stale_result", remembered_result(), "repeated.*", {"mm", "addmm"})
      .row("amax", "stale_result", remembered_result(), "*amax*")
      .row("tril", "stale_diagonal", remembered("diagonal"), "*tril*")
      .row("scatter", "stale_source", remembered("src"), "*scatter*")
      .row("arange", "stale_end", remembered("end"), "*arange*")
      .done();
}

std::vector<Fault> nan_faults() {
  const auto blind = [] { return when(any_nan, operands(without_nan)); };
  Table table("NaN swallowed");
  for (const char* op : {"maximum", "minimum", "relu", "sum", "pow", "sigmoid"}) {
    const std::string name = op;
    table.row(name, "nan_swallowed", blind(), "corners.*",
              name == "relu" ? std::vector<std::string>{"relu", "clamp_min"}
                             : std::vector<std::string>{name});
  }
  return table.row("amax", "nan_swallowed", blind(), "*.reduce.*")
      .row("max", "nan_swallowed", blind(), "corners.*")
      .row("argmax", "nan_swallowed", blind(), "corners.*")
      .row("clamp", "nan_swallowed", blind(), "corners.*")
      .row("cumsum", "nan_swallowed", blind(), "corners.*")
      .row("sort", "nan_first", when(any_nan, result(nan_first)), "corners.*")
      .row("isnan", "never", result([](const at::Tensor& x) { return at::zeros_like(x); }, 0),
           "*isnan*", {"ne", "isnan"})
      .row("eq", "nan_equal", blind(), "corners.eq.*")
      .row("median", "nan_swallowed", blind(), "corners.*")
      .row(
          "nan_to_num", "nan_kept",
          [](Call& call) {
            call.run();
            const at::Tensor self = call.tensor("self");
            for (const at::Tensor& result : call.results()) {
              if (self.is_floating_point()) result.copy_(at::where(self.isnan(), self, result));
            }
          },
          "corners.*")
      .done();
}

std::vector<Fault> order_faults() {
  return Table("wrong tie order")
      .row("argmax", "last_of_equals", last_of_equals("dim"), "corners.reduce.ties.*")
      .row("max", "last_of_equals", last_of_equals("dim"), "corners.reduce.ties.*", {"max"})
      .row("sort", "unstable", unstable_sort, "corners.reduce.ties.*")
      .row("cummax", "first_of_equals",
           [](Call& call) {
             call.run();
             const at::Tensor values = call.tensor("values"), places = call.tensor("indices");
             const int64_t dim = call.argument("dim").toInt();
             if (values.dim() == 0 || values.size(dim) < 2) return;
             for (int64_t i = 1; i < values.size(dim); ++i) {
               const at::Tensor same = values.select(dim, i) == values.select(dim, i - 1);
               const at::Tensor here = places.select(dim, i);
               here.copy_(at::where(same, places.select(dim, i - 1), here));
             }
           },
           "*.cummax.*", {"_cummax_helper"})
      .row("searchsorted", "side_ignored", negated("right"), "op.searchsorted.*")
      .row("bucketize", "side_ignored", negated("right"))
      .row("unique", "unsorted", result([](const at::Tensor& x) { return x.flip({0}); }, 0),
           "op.unique.*", {"_unique2", "unique_dim"})
      .row("topk", "ascending",
           any_result([](const at::Tensor& x) { return x.dim() == 0 ? x : x.flip({-1}); }))
      .row("nonzero", "column_order", result([](const at::Tensor& x) { return x.flip({0}); }, 0),
           "*.nonzero.*")
      .row("mode", "other_index", result([](const at::Tensor& x) { return at::zeros_like(x); }, 1))
      .done();
}

}  // namespace mock
