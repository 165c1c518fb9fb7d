// What an operator of the library returns for operands like these.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>

#include <string_view>

#include "backend/eager/library_operator.h"
#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

/// What stands for the device's tensors while the operator is tried.
enum class StandIn : uint8_t {
  kMeta,      ///< shapes only
  kInvented,  ///< ones, unit matrices, zeros: nothing has to be waited for
  kReal,      ///< the device's memory
};

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

c10::IValue stand_in(const c10::IValue& value, StandIn kind) {
  const c10::Device device = kind == StandIn::kMeta ? at::kMeta : at::kCPU;
  if (value.isTensor()) return stand_in(value.toTensor(), kind);
  if (value.isTensorList()) {
    c10::List<at::Tensor> tensors;
    for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(stand_in(tensor, kind));
    return tensors;
  }
  if (value.isDevice()) return device;
  return value;
}

std::vector<at::Tensor> attempt(const LibraryOperator& op, c10::ArrayRef<c10::IValue> arguments,
                                StandIn kind) {
  torch::jit::Stack replaced;
  std::vector<at::ScalarType> out_dtypes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (static_cast<int>(i) >= op.num_arguments()) {
      out_dtypes.push_back(arguments[i].toTensor().scalar_type());
    } else if (op.info().kinds[i] == ArgumentKind::kGenerator) {
      replaced.emplace_back(at::detail::createCPUGenerator());
    } else {
      replaced.push_back(stand_in(arguments[i], kind));
    }
  }
  return op.call(std::move(replaced), out_dtypes, kind == StandIn::kMeta ? at::kMeta : at::kCPU);
}

/// LAPACK takes pivots for positions from 1 on, and does not look whether they are.
bool reads_positions(const LibraryOperator& op) {
  const std::string_view name = op.info().def->name;
  return name == "lu_unpack" || name == "linalg_lu_solve" || name == "linalg_ldl_solve";
}

std::vector<at::Tensor> results_of(const LibraryOperator& op,
                                   c10::ArrayRef<c10::IValue> arguments) {
  if (reads_positions(op)) return attempt(op, arguments, StandIn::kMeta);
  try {
    return attempt(op, arguments, StandIn::kInvented);
  } catch (const c10::Error&) {
    // The numbers were not to its liking, or the shapes are not: the real ones tell.
    runtime::synchronize_device();
    return attempt(op, arguments, StandIn::kReal);
  }
}

}  // namespace

aten::LibraryCall plan_library_call(const LibraryOperator& op,
                                    c10::ArrayRef<c10::IValue> arguments) {
  aten::LibraryCall call{
      LibraryOperator::target_of(*op.info().def), op.num_arguments(), op.draws(), {}};
  for (const at::Tensor& result : results_of(op, arguments)) {
    if (!result.defined()) {
      call.results.emplace_back();
      continue;
    }
    const auto dims = [](c10::IntArrayRef values) {
      return tpu::hlo::Dims(values.begin(), values.end());
    };
    const tpu::hlo::TensorType type{aten::to_element(result.scalar_type()), dims(result.sizes())};
    const bool own = at::has_internal_overlap(result) != at::MemOverlap::Yes;
    call.results.push_back(aten::LibraryCall::Result{
        type, own ? dims(result.strides()) : tpu::hlo::row_major_strides(type.shape)});
  }
  return call;
}

}  // namespace torch_tpu::eager
