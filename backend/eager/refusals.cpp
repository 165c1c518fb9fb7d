// What the device has not, said by name. PyTorch's own message for an operator without a kernel
// lists every dispatch key it knows.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <array>
#include <string>
#include <string_view>

namespace torch_tpu::eager {
namespace {

struct Feature {
  std::string_view part_of_name;  ///< of the operators that make or take such tensors
  std::string_view what;
  std::string_view instead;
};

constexpr Feature kSparse = {"sparse", "sparse layouts", "to_dense() before it moves here"};
constexpr Feature kQuantized = {"quantize", "tensors of quantized dtypes",
                                "fake_quantize_*, or integer tensors with a scale of their own"};
constexpr Feature kNested = {"nested", "nested tensors of layout torch.strided",
                             "layout=torch.jagged"};

constexpr std::array kFeatures = {
    kSparse,
    Feature{"spdiags", kSparse.what, kSparse.instead},
    Feature{"sspaddmm", kSparse.what, kSparse.instead},
    kQuantized,
    kNested,
    Feature{"mkldnn", "layouts of the host's oneDNN", "strided tensors"},
    Feature{"from_file", "tensors that lie in a file",
            "torch.from_file on the CPU, then to('tpu')"},
};

void refuse(const c10::OperatorHandle& op, const Feature& feature) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, op.operator_name(), ": device tpu has no ", feature.what,
                              ". Use ", feature.instead, ".");
}

/// An operator with neither a lowering nor a composite kernel.
void report_missing_lowering(const c10::OperatorHandle& op, torch::jit::Stack*) {
  const std::string& name = op.operator_name().name;
  for (const Feature& feature : kFeatures) {
    if (name.find(feature.part_of_name) != std::string::npos) refuse(op, feature);
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, op.operator_name(),
      " has no lowering for device tpu. docs/status.md lists what has; a row in backend/aten adds "
      "it. To go on, move the operands to the CPU for this operator.");
}

template <const Feature& feature>
void refuse_all(const c10::OperatorHandle& op, torch::jit::Stack*) {
  refuse(op, feature);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&report_missing_lowering>());
}
TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_all<kSparse>>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_all<kSparse>>());
}
TORCH_LIBRARY_IMPL(_, QuantizedPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_all<kQuantized>>());
}
TORCH_LIBRARY_IMPL(_, NestedTensorPrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_all<kNested>>());
}

}  // namespace torch_tpu::eager
