// Operators whose results' sizes depend on the data.
#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sum.h>

#include "backend/eager/native_functions.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

using std::optional;

/// Calls one of the backend's own operators (namespace `tpu`), which the lowering table serves.
template <class Signature, class... Args>
auto call_own(const char* name, Args&&... args) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>().call(
      std::forward<Args>(args)...);
}

at::Tensor find_nonzero(const at::Tensor& self) {
  const auto count = at::sum(at::ne(self, 0)).item<int64_t>();
  return call_own<at::Tensor(const at::Tensor&, int64_t)>("tpu::_nonzero", self, count);
}

at::Tensor& find_nonzero_out(const at::Tensor& self, at::Tensor& out) {
  return replace(out, find_nonzero(self));
}

at::Tensor select_masked(const at::Tensor& self, const at::Tensor& mask) {
  TORCH_CHECK(mask.scalar_type() == c10::ScalarType::Bool,
              "masked_select: expected BoolTensor for mask, got ", mask.scalar_type());
  const auto [from, where] = at::expand_outplace(self, mask);
  const at::Tensor positions = find_nonzero(where->reshape(-1)).squeeze(1);
  return at::index_select(from->reshape(-1), 0, positions);
}

at::Tensor& select_masked_out(const at::Tensor& self, const at::Tensor& mask, at::Tensor& out) {
  at::assert_no_internal_overlap(out);
  at::assert_no_overlap(out, self);
  at::assert_no_overlap(out, mask);
  return replace(out, select_masked(self, mask));
}

using Unique = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

// The result is sorted whether asked or not, as on the CPU.
Unique unique(const at::Tensor& self, bool /*sorted*/, bool inverse, bool counts) {
  const at::Tensor flat = self.reshape(-1);
  const auto count =
      call_own<at::Tensor(const at::Tensor&)>("tpu::_unique_count", flat).item<int64_t>();
  auto [values, where, number] =
      call_own<Unique(const at::Tensor&, int64_t)>("tpu::_unique", flat, count);
  const auto none = [&] { return at::empty({0}, where.options()); };
  return {values, inverse ? where.view(self.sizes()) : none(), counts ? number : none()};
}

std::tuple<at::Tensor, at::Tensor> unique_pair(const at::Tensor& self, bool sorted, bool inverse) {
  const auto [values, where, counts] = unique(self, sorted, inverse, false);
  return {values, where};
}

// Position i of the result belongs to the first repeat count whose running total exceeds i.
at::Tensor repeat_interleave(const at::Tensor& repeats, optional<int64_t> output_size) {
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return at::empty({0}, repeats.options());
  const at::Tensor totals = at::cumsum(repeats, 0);
  const int64_t size = output_size.value_or(-1) >= 0 ? *output_size : totals[-1].item<int64_t>();
  TORCH_CHECK((repeats.min().item<int64_t>()) >= 0, "repeats can not be negative");
  const at::Tensor positions = at::arange(size, totals.options());
  return at::searchsorted(totals, positions, /*out_int32=*/false, /*right=*/true)
      .to(repeats.scalar_type());
}

at::Tensor bincount(const at::Tensor& self, const optional<at::Tensor>& weights,
                    int64_t minlength) {
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), false),
              "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK(minlength >= 0, "minlength should be >= 0");
  int64_t size = minlength;
  if (self.numel() > 0) {
    TORCH_CHECK(self.min().item<int64_t>() >= 0,
                "bincount only supports 1-d non-negative integral inputs.");
    size = std::max(size, self.max().item<int64_t>() + 1);
  }
  return call_own<at::Tensor(const at::Tensor&, const optional<at::Tensor>&, int64_t)>(
      "tpu::_bincount", self, weights, size);
}

}  // namespace

at::Tensor& replace(at::Tensor& out, const at::Tensor& result) {
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

c10::List<optional<at::Tensor>> positions_of_masks(const c10::List<optional<at::Tensor>>& indices,
                                                   const at::Tensor& self) {
  c10::List<optional<at::Tensor>> out;
  for (const auto& item : indices) {
    const optional<at::Tensor> index = item;
    if (!index || !index->defined()) {
      out.push_back(std::nullopt);
      continue;
    }
    at::Tensor moved = index->device() == self.device() ? *index : index->to(self.device());
    if (moved.scalar_type() != at::kBool && moved.scalar_type() != at::kByte) {
      out.push_back(moved);
      continue;
    }
    // A mask of n dimensions stands for n index vectors.
    for (int64_t d = 0; d < moved.dim(); ++d) {
      const int64_t at = static_cast<int64_t>(out.size()) + d;
      TORCH_CHECK_INDEX(at < self.dim() && moved.size(d) == self.size(at), "The shape of the mask ",
                        moved.sizes(), " at index ", d,
                        " does not match the shape of the indexed tensor ", self.sizes(),
                        " at index ", at);
    }
    for (const at::Tensor& column : find_nonzero(moved).unbind(1)) out.push_back(column);
  }
  return out;
}

void register_data_dependent_functions(torch::Library& m) {
  m.impl("nonzero", find_nonzero);
  m.impl("nonzero.out", find_nonzero_out);
  m.impl("masked_select", select_masked);
  m.impl("masked_select.out", select_masked_out);
  m.impl("_unique2", unique);
  m.impl("_unique", unique_pair);
  m.impl("repeat_interleave.Tensor", repeat_interleave);
  m.impl("bincount", bincount);
}

}  // namespace torch_tpu::eager
