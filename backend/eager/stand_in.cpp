#include "backend/eager/stand_in.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

/// A tensor of the host with the same sizes and strides. Floats are 1 and square matrices unit
/// matrices, which are probabilities, positive definite and invertible; integers are 0, an index
/// into anything.
at::Tensor invented(const at::Tensor& like) {
  int64_t extent = like.numel() == 0 ? 0 : 1;
  for (int64_t d = 0; extent && d < like.dim(); ++d) extent += (like.size(d) - 1) * like.stride(d);
  const auto options = like.options().device(at::kCPU);
  const bool number = like.is_floating_point() || like.is_complex();
  const at::Tensor memory = at::empty({extent}, options).fill_(number ? 1 : 0);
  at::Tensor made = memory.as_strided(like.sizes(), like.strides());
  const int64_t rank = like.dim();
  if (number && rank >= 2 && like.size(-1) == like.size(-2) &&
      like.is_non_overlapping_and_dense()) {
    made.zero_();
    made.diagonal(0, rank - 2, rank - 1).fill_(1);
  }
  return made;
}

at::Tensor stand_in(const at::Tensor& tensor, StandIn kind) {
  if (!tensor.defined() || tensor.device().type() != runtime::kDeviceType) return tensor;
  switch (kind) {
    case StandIn::kMeta:
      return at::empty_strided(tensor.sizes(), tensor.strides(),
                               tensor.options().device(at::kMeta));
    case StandIn::kInvented:
      return invented(tensor);
    case StandIn::kReal:
      return host_view(tensor);
  }
  return {};
}

}  // namespace

c10::IValue stand_in(const c10::IValue& value, StandIn kind) {
  const c10::Device device = kind == StandIn::kMeta ? at::kMeta : at::kCPU;
  if (value.isTensor()) return stand_in(value.toTensor(), kind);
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector())
      tensors.push_back(stand_in(tensor, kind));
    return tensors;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> tensors;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
      tensors.push_back(tensor ? std::optional(stand_in(*tensor, kind)) : std::nullopt);
    }
    return tensors;
  }
  if (value.isDevice()) return device;
  return value;
}

void check_written(const OperatorInfo& info, c10::ArrayRef<c10::IValue> arguments) {
  if (!info.out_variant) return;
  const auto op = c10::Dispatcher::singleton().findSchema(info.schema->operator_name());
  if (!op || !op->hasKernelForDispatchKey(c10::DispatchKey::Meta)) return;
  torch::jit::Stack stack;
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue value = stand_in(arguments[i], StandIn::kMeta);
    // Of no size, so that nobody is warned twice that it was resized.
    if (info.schema->arguments()[i].is_out()) value = at::empty({0}, value.toTensor().options());
    stack.push_back(std::move(value));
  }
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  try {
    op->callBoxed(stack);
  } catch (const c10::NotImplementedError&) {
    // Shapes that depend on values have no such function.
  } catch (const c10::Error&) {
    throw;
  } catch (const std::exception&) {
    // A shape function of PyTorch's Python, some of which do not know their out= argument.
  }
}

}  // namespace torch_tpu::eager
