// One operator call on the mock device, carried out by PyTorch's CPU kernel on the twins.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <string_view>
#include <vector>

#include "testing/operators/twins.h"

namespace mock {

/// Arguments and results are the host's twins, so whoever changes them can compute with PyTorch's
/// own operators.
class Call {
 public:
  /// Takes the arguments off the stack.
  Call(const c10::OperatorHandle& op, torch::jit::Stack& stack);

  /// Operator and overload, without the namespace: add.Tensor.
  const std::string& name() const { return name_; }
  const c10::FunctionSchema& schema() const { return op_.schema(); }

  /// The argument, or nothing if the operator has none of that name.
  c10::IValue* find(std::string_view argument);
  /// Raises if there is no such argument.
  c10::IValue& argument(std::string_view name);
  /// The tensor argument; undefined where it is absent or None.
  at::Tensor tensor(std::string_view name);
  std::vector<c10::IValue>& arguments() { return arguments_; }

  /// All tensors among the arguments, also those in lists.
  std::vector<at::Tensor> operands() const;

  /// Runs the CPU's kernel.
  void run();

  /// What the kernel returned; each tensor of it.
  std::vector<c10::IValue>& returned() { return returned_; }
  std::vector<at::Tensor> results() const;

  /// The operands' memory, to hold on to.
  const Twins& twins() const { return twins_; }

  /// Puts what the kernel returned on the stack, as the device's tensors.
  void finish(torch::jit::Stack& stack);

 private:
  void take_arguments(torch::jit::Stack& stack);
  void check_devices() const;

  c10::OperatorHandle op_;
  std::string name_;
  Twins twins_;
  std::vector<c10::IValue> arguments_;
  std::vector<c10::IValue> returned_;
};

}  // namespace mock
