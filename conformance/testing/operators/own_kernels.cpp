// Operators that have no CPU kernel of the same name, or that cross between host and device.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>
#include <c10/core/CPUAllocator.h>
#include <torch/library.h>

#include "testing/faults/fault.h"
#include "testing/operators/call.h"
#include "testing/operators/twins.h"
#include "testing/runtime/memory.h"
#include "testing/runtime/stream.h"

namespace mock {
namespace {

using at::Tensor;
using MaybeTensor = std::optional<Tensor>;

Tensor host_or_undefined(Twins& twins, const MaybeTensor& tensor) {
  return tensor.has_value() && is_mock(*tensor) ? twins.host(*tensor) : Tensor();
}

// Copies ---------------------------------------------------------------------------------------

// A copy within one memory. Named as an operator so that faults can be in it.
void copy_on_host(const Tensor& from, const Tensor& to) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "");
  torch::jit::Stack stack{to, from, false};
  Call call(op, stack);
  carry_out(call);
}

Tensor copy_from(const Tensor& source, const Tensor& target, bool non_blocking) {
  at::AutoDispatchBelowADInplaceOrView guard;
  auto twins = std::make_shared<Twins>();
  const Tensor from = is_mock(source) ? twins->host(source) : source;
  const Tensor to = is_mock(target) ? twins->host(target) : target;
  const bool upload = !is_mock(source), download = !is_mock(target);
  const bool lost =
      (upload && is_on("copy.upload.lost")) || (download && is_on("copy.download.lost"));
  if (lost) return target;
  if (non_blocking && (upload || download)) {
    current().defer([twins, from, to] {
      at::AutoDispatchBelowADInplaceOrView inner;
      copy_on_host(from, to);
    });
    return target;
  }
  if (!(download && is_on("copy.download.does_not_wait"))) current().run_all();
  copy_on_host(from, to);
  return target;
}

Tensor copy_from_and_resize(const Tensor& source, const Tensor& target) {
  at::native::resize_output(target, source.sizes());
  return copy_from(source, target, false);
}

at::Scalar local_scalar_dense(const Tensor& self) {
  if (!is_on("item.does_not_wait")) current().run_all();
  Twins twins;
  const Tensor host = twins.host(self);
  return at::_local_scalar_dense(is_on("item.offset_ignored") ? host.as_strided({}, {}, 0) : host);
}

void record_stream(Tensor&, c10::Stream) {}

// Memory ---------------------------------------------------------------------------------------

void check_index(std::optional<at::Device> wanted) {
  TORCH_CHECK_VALUE(!wanted || wanted->index() <= 0 || is_on("device.index.unchecked"),
                    "there is one mock device, number 0; got ", *wanted);
}

Tensor empty(c10::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
             std::optional<at::Layout> layout, std::optional<at::Device> wanted,
             std::optional<bool>, std::optional<at::MemoryFormat> format) {
  check_index(wanted);
  TORCH_CHECK_NOT_IMPLEMENTED(c10::layout_or_default(layout) == at::kStrided,
                              "the mock device has dense tensors only, got layout ", *layout);
  return at::detail::empty_generic(sizes, device_allocator(),
                                   c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                   c10::dtype_or_default(dtype), format);
}

Tensor empty_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides,
                     std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                     std::optional<at::Device> wanted, std::optional<bool>) {
  check_index(wanted);
  return at::detail::empty_strided_generic(sizes, strides, device_allocator(),
                                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                           c10::dtype_or_default(dtype));
}

// Storages -------------------------------------------------------------------------------------

Tensor& set_storage(Tensor& self, c10::Storage source, int64_t offset, c10::IntArrayRef sizes,
                    c10::IntArrayRef strides) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(is_on("set.offset_ignored") ? 0 : offset);
  if (strides.empty() && !sizes.empty()) {
    impl->set_sizes_contiguous(sizes);
  } else {
    impl->set_sizes_and_strides(sizes, strides);
  }
  return self;
}

Tensor& set_whole_storage(Tensor& self, c10::Storage source) {
  const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage(self, std::move(source), 0, {count}, {1});
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

Tensor& set_nothing(Tensor& self) {
  const c10::Storage none(c10::Storage::use_byte_size_t(), 0, device_allocator()->allocate(0),
                          device_allocator(), /*resizable=*/true);
  return set_storage(self, none, 0, {0}, {1});
}

// Convolution ----------------------------------------------------------------------------------

// As if `name` had been called on the device: through the boxed kernel, so that faults apply.
torch::jit::Stack redirected(const char* name, torch::jit::Stack stack) {
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
  Call call(op, stack);
  current().run_all();
  carry_out(call);
  call.finish(stack);
  return stack;
}

Tensor convolution(const Tensor& input, const Tensor& weight, const MaybeTensor& bias,
                   c10::IntArrayRef stride, c10::IntArrayRef padding, c10::IntArrayRef dilation,
                   bool transposed, c10::IntArrayRef output_padding, int64_t groups) {
  at::AutoDispatchBelowADInplaceOrView guard;
  return redirected("aten::convolution", {input, weight, bias, stride, padding, dilation,
                                          transposed, output_padding, groups})[0]
      .toTensor();
}

std::tuple<Tensor, Tensor, Tensor> convolution_backward(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, c10::IntArrayRef stride,
    c10::IntArrayRef padding, c10::IntArrayRef dilation, bool transposed,
    c10::IntArrayRef output_padding, int64_t groups, std::array<bool, 3> mask) {
  at::AutoDispatchBelowADInplaceOrView guard;
  const int64_t channels = transposed ? weight.size(1) * groups : weight.size(0);
  const std::vector<int64_t> bias_sizes{channels};
  const torch::jit::Stack out =
      redirected("aten::convolution_backward",
                 {grad_output, input, weight, mask[2] ? c10::IValue(bias_sizes) : c10::IValue(),
                  stride, padding, dilation, transposed, output_padding, groups,
                  c10::List<bool>({mask[0], mask[1], mask[2]})});
  return {out[0].toTensor(), out[1].toTensor(), out[2].toTensor()};
}

// Recurrent cells ------------------------------------------------------------------------------

// By PyTorch's own definition of an LSTM cell; the workspace is the activated gates i, f, g, o.
std::tuple<Tensor, Tensor, Tensor> lstm_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                             const Tensor& cx, const MaybeTensor& input_bias,
                                             const MaybeTensor& hidden_bias) {
  at::AutoDispatchBelowADInplaceOrView guard;
  Twins twins;
  Tensor gates = twins.host(input_gates) + twins.host(hidden_gates);
  for (const MaybeTensor& bias : {input_bias, hidden_bias}) {
    const Tensor host = host_or_undefined(twins, bias);
    if (host.defined()) gates = gates + host;
  }
  const std::vector<Tensor> parts = gates.chunk(4, 1);
  const Tensor i = parts[0].sigmoid(), f = parts[1].sigmoid(), g = parts[2].tanh(),
               o = parts[3].sigmoid();
  const bool forgets = is_on("lstm_cell.state_forgotten");
  const Tensor cy = forgets ? i * g : f * twins.host(cx) + i * g;
  const Tensor hy = o * cy.tanh();
  return {twins.device(hy), twins.device(cy), twins.device(at::cat({i, f, g, o}, 1))};
}

std::tuple<Tensor, Tensor, Tensor> lstm_cell_backward(const MaybeTensor& grad_hy,
                                                      const MaybeTensor& grad_cy, const Tensor& cx,
                                                      const Tensor& cy, const Tensor& workspace,
                                                      bool has_bias) {
  at::AutoDispatchBelowADInplaceOrView guard;
  Twins twins;
  const std::vector<Tensor> gates = twins.host(workspace).chunk(4, 1);
  const Tensor &i = gates[0], &f = gates[1], &g = gates[2], &o = gates[3];
  const Tensor state = twins.host(cy).tanh();
  const Tensor from_h = host_or_undefined(twins, grad_hy);
  const Tensor gh = from_h.defined() ? from_h : at::zeros_like(state);
  Tensor gc = gh * o * (1 - state * state);
  const Tensor from_c = host_or_undefined(twins, grad_cy);
  if (from_c.defined()) gc = gc + from_c;
  const Tensor grad_gates = at::cat({gc * g * i * (1 - i), gc * twins.host(cx) * f * (1 - f),
                                     gc * i * (1 - g * g), gh * state * o * (1 - o)},
                                    1);
  const Tensor grad_bias = has_bias ? twins.device(grad_gates.sum(0)) : Tensor();
  return {twins.device(grad_gates), twins.device(gc * f), grad_bias};
}

// GRU: gates r, z and candidate n; the workspace is r, z, n, h and n's hidden part.
std::tuple<Tensor, Tensor> gru_cell(const Tensor& input_gates, const Tensor& hidden_gates,
                                    const Tensor& hx, const MaybeTensor& input_bias,
                                    const MaybeTensor& hidden_bias) {
  at::AutoDispatchBelowADInplaceOrView guard;
  Twins twins;
  Tensor x = twins.host(input_gates), h = twins.host(hidden_gates);
  const Tensor x_bias = host_or_undefined(twins, input_bias);
  const Tensor h_bias = host_or_undefined(twins, hidden_bias);
  if (x_bias.defined()) x = x + x_bias;
  if (h_bias.defined()) h = h + h_bias;
  const std::vector<Tensor> xs = x.chunk(3, 1), hs = h.chunk(3, 1);
  const Tensor r = (xs[0] + hs[0]).sigmoid(), z = (xs[1] + hs[1]).sigmoid();
  const Tensor n = (xs[2] + r * hs[2]).tanh(), before = twins.host(hx);
  const Tensor hy = n + z * (before - n);
  return {twins.device(hy), twins.device(at::cat({r, z, n, before, hs[2]}, 1))};
}

std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> gru_cell_backward(const Tensor& grad_hy,
                                                                     const Tensor& workspace,
                                                                     bool has_bias) {
  at::AutoDispatchBelowADInplaceOrView guard;
  Twins twins;
  const std::vector<Tensor> parts = twins.host(workspace).chunk(5, 1);
  const Tensor &r = parts[0], &z = parts[1], &n = parts[2], &h = parts[3], &hidden = parts[4];
  const Tensor grad = twins.host(grad_hy);
  const Tensor gn = grad * (1 - z) * (1 - n * n);
  const Tensor gz = grad * (h - n) * z * (1 - z);
  const Tensor gr = gn * hidden * r * (1 - r);
  const Tensor to_input = at::cat({gr, gz, gn}, 1), to_hidden = at::cat({gr, gz, gn * r}, 1);
  const auto bias = [&](const Tensor& gates) {
    return has_bias ? twins.device(gates.sum(0)) : Tensor();
  };
  return {twins.device(to_input), twins.device(to_hidden), twins.device(grad * z), bias(to_input),
          bias(to_hidden)};
}

// PyTorch's zeros without memory need support in every operator; these are ordinary ones.
Tensor efficient_zeros(c10::SymIntArrayRef sizes, std::optional<at::ScalarType> dtype,
                       std::optional<at::Layout> layout, std::optional<at::Device> device,
                       std::optional<bool> pinned) {
  return at::zeros(C10_AS_INTARRAYREF_SLOW(sizes), dtype, layout, device, pinned);
}

// 0 is the composite of products and a softmax.
int64_t fused_sdp_choice(const Tensor&, const Tensor&, const Tensor&, const MaybeTensor&, double,
                         bool, std::optional<double>, bool) {
  return 0;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("empty.memory_format", empty);
  library.impl("empty_strided", empty_strided);
  library.impl("_copy_from", copy_from);
  library.impl("_copy_from_and_resize", copy_from_and_resize);
  library.impl("_local_scalar_dense", local_scalar_dense);
  library.impl("record_stream", record_stream);
  library.impl("set_.source_Storage", set_whole_storage);
  library.impl("set_.source_Storage_storage_offset", set_storage);
  library.impl("set_.source_Tensor", set_tensor);
  library.impl("set_", set_nothing);
  library.impl("convolution_overrideable", convolution);
  library.impl("convolution_backward_overrideable", convolution_backward);
  library.impl("_thnn_fused_lstm_cell", lstm_cell);
  library.impl("_thnn_fused_lstm_cell_backward_impl", lstm_cell_backward);
  library.impl("_thnn_fused_gru_cell", gru_cell);
  library.impl("_thnn_fused_gru_cell_backward", gru_cell_backward);
  library.impl("_efficientzerotensor", efficient_zeros);
  library.impl("_fused_sdp_choice", fused_sdp_choice);
}

// The copy resolves lazy bits itself; PyTorch's way would copy to do so, without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace mock
