// Operators whose results only PyTorch's own kernel knows the sizes of. They wait for the device,
// run that kernel on its memory, and bring the results to the device.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_histogramdd_bin_edges.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/linalg_lstsq.h>
#include <ATen/ops/unique_consecutive.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/unique_dim_consecutive.h>

#include "backend/eager/native_functions.h"
#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

using std::optional;
using LeastSquares = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;
using LeastSquaresOut = std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&>;
using Triple = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

/// The tensor's memory as a tensor of the host; nothing is running that could write to it.
at::Tensor on_host(const at::Tensor& tensor) {
  runtime::synchronize_device();
  return host_view(tensor);
}

at::Tensor on_device(const at::Tensor& tensor) {
  return tensor.to(runtime::device());
}

/// With its strides.
at::Tensor like_on_device(const at::Tensor& tensor) {
  const auto options = tensor.options().device(runtime::device());
  return at::empty_strided(tensor.sizes(), tensor.strides(), options).copy_(tensor);
}

Triple on_device(const Triple& results) {
  const auto& [first, second, third] = results;
  return {on_device(first), on_device(second), on_device(third)};
}

Triple unique_dim(const at::Tensor& self, int64_t dim, bool sorted, bool inverse, bool counts) {
  return on_device(at::unique_dim(on_host(self), dim, sorted, inverse, counts));
}

Triple unique_dim_consecutive(const at::Tensor& self, int64_t dim, bool inverse, bool counts) {
  return on_device(at::unique_dim_consecutive(on_host(self), dim, inverse, counts));
}

Triple unique_consecutive(const at::Tensor& self, bool inverse, bool counts,
                          optional<int64_t> dim) {
  return on_device(at::unique_consecutive(on_host(self), inverse, counts, dim));
}

// There are no residuals where the matrix turns out to lack rank.
LeastSquares least_squares(const at::Tensor& self, const at::Tensor& b, optional<double> rcond,
                           optional<std::string_view> driver) {
  const auto [solution, residuals, rank, singular_values] =
      at::linalg_lstsq(on_host(self), on_host(b), rcond, driver);
  return {like_on_device(solution), on_device(residuals), on_device(rank),
          on_device(singular_values)};
}

LeastSquaresOut least_squares_out(const at::Tensor& self, const at::Tensor& b,
                                  optional<double> rcond, optional<std::string_view> driver,
                                  at::Tensor& solution, at::Tensor& residuals, at::Tensor& rank,
                                  at::Tensor& singular_values) {
  const auto [a, c, d, e] = least_squares(self, b, rcond, driver);
  return {replace(solution, a), replace(residuals, c), replace(rank, d),
          replace(singular_values, e)};
}

std::vector<at::Tensor> histogram_edges(const at::Tensor& self, at::IntArrayRef bins,
                                        optional<at::ArrayRef<double>> range,
                                        const optional<at::Tensor>& weight, bool density) {
  optional<at::Tensor> weights;
  if (weight && weight->defined()) weights = on_host(*weight);
  std::vector<at::Tensor> edges =
      at::_histogramdd_bin_edges(on_host(self), bins, range, weights, density);
  for (at::Tensor& edge : edges) edge = on_device(edge);
  return edges;
}

}  // namespace

void register_host_functions(torch::Library& m) {
  m.impl("unique_dim", unique_dim);
  m.impl("linalg_lstsq", least_squares);
  m.impl("linalg_lstsq.out", least_squares_out);
  m.impl("unique_dim_consecutive", unique_dim_consecutive);
  m.impl("unique_consecutive", unique_consecutive);
  m.impl("_histogramdd_bin_edges", histogram_edges);
}

}  // namespace torch_tpu::eager
