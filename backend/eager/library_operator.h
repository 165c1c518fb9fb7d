// Operators that the kernel library has from PyTorch: its CPU kernels, on the device's memory.
//
// They are what StableHLO has no op for and no sensible program either: decompositions of linear
// algebra, special functions without a closed form, rejection sampling. In a program each is
// `custom_call @aten.<name>`, so that caches, modes and cost model see an op like any other. Their
// bits are those of PyTorch's kernels, which may differ between hosts (docs/declared_orders.md).
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/eager/operator_info.h"

namespace torch_tpu::eager {

class LibraryOperator {
 public:
  explicit LibraryOperator(const aten::OpDef& def);

  /// Of a row of the table, whether all its calls go to the library or some; or of a custom call's
  /// target. Made on first use.
  static const LibraryOperator& of(const aten::OpDef& def);
  static const LibraryOperator& of(std::string_view target);
  static std::string target_of(const aten::OpDef& def) { return "aten." + std::string(def.name); }

  const OperatorInfo& info() const { return *info_; }
  /// Arguments without those that are only written.
  int num_arguments() const { return num_arguments_; }
  bool draws() const { return draws_; }

  /// Calls PyTorch with tensors of another device than this backend's. `arguments` are the first
  /// `num_arguments()`; what the operator writes is copied before. Returns the written arguments
  /// (lists flattened), then the other results; `out_dtypes` are those of arguments only written.
  std::vector<at::Tensor> call(torch::jit::Stack arguments,
                               c10::ArrayRef<at::ScalarType> out_dtypes, c10::Device device) const;

 private:
  std::unique_ptr<OperatorInfo> info_;
  c10::OperatorHandle handle_;
  int num_arguments_ = 0;
  bool draws_ = false;
};

/// Makes `custom_call @aten.<name>` known to the compiler. At start-up.
void register_library();

/// The results of a call on the device with these arguments.
aten::LibraryCall plan_library_call(const LibraryOperator& op,
                                    c10::ArrayRef<c10::IValue> arguments);

}  // namespace torch_tpu::eager
