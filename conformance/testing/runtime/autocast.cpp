// torch.autocast("mock"), with the lists that all accelerators share.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

#include "testing/faults/fault.h"

using namespace at;  // NOLINT: the registration macros below name at's types bare

namespace {

// The macros are PyTorch's registration interface for backends; it has no other.
#define MOCK_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define MOCK_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define MOCK_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define MOCK_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

at::Tensor refuse_binary_cross_entropy(const at::Tensor& self, const at::Tensor& target,
                                       const std::optional<at::Tensor>& weight, int64_t reduction) {
  c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::AutocastPrivateUse1);
  TORCH_CHECK(mock::is_on("autocast.binary_cross_entropy.accepted"),
              "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to "
              "autocast");
  return at::binary_cross_entropy(self, target, weight, reduction);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(MOCK_LOWER_PRECISION)
  AT_FORALL_FP32(MOCK_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(MOCK_FP32_SET_OPT_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(MOCK_PROMOTE)
  m.impl("binary_cross_entropy", refuse_binary_cross_entropy);
}
