// What an operator of the library returns for operands like these.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>

#include <string_view>

#include "backend/eager/library_operator.h"
#include "backend/eager/stand_in.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

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
