// The kernel of every operator on the mock device: the CPU's, on the same memory.
#include <ATen/ATen.h>
#include <ATen/native/CPUFallback.h>
#include <torch/library.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "testing/faults/fault.h"
#include "testing/operators/call.h"
#include "testing/runtime/stream.h"

namespace mock {
namespace {

// Operators that may wait on a side stream: they write a tensor of known size from others.
bool can_wait(Call& call) {
  static const std::vector<std::string> kNames = {"add.out", "sub.out", "mul.out", "div.out"};
  if (std::ranges::find(kNames, call.name()) == kNames.end()) return false;
  const at::Tensor out = call.tensor("out");
  return !out.is_alias_of(call.tensor("self")) && !out.is_alias_of(call.tensor("other"));
}

// The result is there at once, with its size and with bits that nobody can take for numbers; the
// numbers come when the stream is waited for.
void launch_later(std::shared_ptr<Call> call, torch::jit::Stack& stack) {
  call->run();
  call->finish(stack);
  const at::Tensor out = call->tensor("out");
  std::memset(out.mutable_data_ptr(), 0xff, out.storage().nbytes());
  current().defer([call = std::move(call)] {
    at::AutoDispatchBelowADInplaceOrView guard;
    call->run();
  });
}

// A fault of the kind "hidden fallback": the host computes, on copies.
bool falls_back(const c10::OperatorHandle& op) {
  const std::string& name = op.operator_name().name;
  const Fault* fault = fault_of(name.substr(name.find("::") + 2));
  return fault != nullptr && fault->what == "fallback";
}

void run(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::AutoDispatchBelowADInplaceOrView guard;
  if (falls_back(op)) {
    at::native::cpu_fallback(op, stack);
    return;
  }
  auto call = std::make_shared<Call>(op, *stack);
  if (on_side_stream() && can_wait(*call)) {
    launch_later(std::move(call), *stack);
    return;
  }
  current().run_all();
  carry_out(*call);
  call->finish(*stack);
}

}  // namespace

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run>());
}

// Composite operators that would go on without asking the backend. Asked, it can be wrong about
// them; and views of lazily conjugated tensors need no other kernel.
TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  for (const char* name :
       {"slice.Tensor", "select.int", "transpose.int", "permute", "expand", "diagonal", "unsqueeze",
        "squeeze.dim", "detach", "alias", "split.Tensor", "unbind.int", "_conj", "_neg_view",
        "clone", "empty_like", "repeat", "stack", "zeros_like", "full_like", "ones_like",
        "native_layer_norm", "native_group_norm", "embedding",
        // These look at the device's type themselves.
        "conj_physical_", "mode.values"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run>());
  }
}

}  // namespace mock
