// One call of an operator through the generic kernel.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <span>

#include "backend/eager/call_key.h"
#include "backend/eager/operator_info.h"
#include "backend/eager/program.h"

namespace torch_tpu::eager {

/// A number of the call: a Scalar or float argument, or the value of a 0-d CPU tensor.
struct CallNumber {
  aten::ScalarValue value;
  int argument;
};

/// The arguments of one call, flattened, with the key of the program that serves it.
class Call {
 public:
  /// Reads the arguments `arguments[0 .. info.kinds.size())`. Throws PyTorch's error for tensors of
  /// another device and for writes to memory that overlaps itself or an operand partially.
  Call(const OperatorInfo& info, c10::ArrayRef<c10::IValue> arguments);

  const OperatorInfo& info() const { return info_; }
  c10::ArrayRef<c10::IValue> arguments() const { return arguments_; }
  const CallKey& key() const { return key_; }

  /// Device tensors in the order they stand in the call; lists flattened.
  c10::ArrayRef<const at::Tensor*> operands() const { return operands_; }
  /// The schema argument that an operand came from.
  int argument_of(int operand) const { return operand_arguments_[operand]; }
  c10::ArrayRef<CallNumber> numbers() const { return numbers_; }
  /// Operand index of each written argument, in `info().written`'s order.
  c10::ArrayRef<int> written_operands() const { return written_operands_; }
  /// The earlier operand with the very same window, or -1. Only looked for in calls that write.
  int twin_of(int operand) const { return twins_.empty() ? -1 : twins_[operand]; }
  /// True if the operand's memory interleaves with a written one's in a way that only a copy
  /// makes safe.
  bool is_hazardous(int operand) const {
    return std::find(hazards_.begin(), hazards_.end(), operand) != hazards_.end();
  }

 private:
  void add_argument(int index);
  void add_tensor(const at::Tensor& tensor, int argument);
  void add_number(aten::ScalarValue value, int argument);
  void add_list(const c10::IValue& list, int argument);
  void relate_operands();

  const OperatorInfo& info_;
  c10::ArrayRef<c10::IValue> arguments_;
  CallKey key_;
  c10::SmallVector<const at::Tensor*, 8> operands_;
  c10::SmallVector<int, 8> operand_arguments_;
  c10::SmallVector<CallNumber, 4> numbers_;
  c10::SmallVector<int, 2> written_operands_;
  c10::SmallVector<int, 8> twins_;
  c10::SmallVector<int, 2> hazards_;
};

/// The value of a 0-d CPU tensor.
aten::ScalarValue host_value(const at::Tensor& tensor);
/// A Scalar, float, int or bool IValue.
aten::ScalarValue scalar_value(const c10::IValue& value);

/// Lowers the call to a program (on a cache miss). Raises PyTorch's errors for bad arguments.
std::unique_ptr<Program> lower(const Call& call);

/// What an operator returns anew, in the order of its returns; written arguments are not among it.
using FreshResults = c10::SmallVector<at::Tensor, 2>;

/// Allocates fresh results and enqueues the program.
FreshResults launch(const Call& call, Program& program);

/// Finds or makes the call's program and launches it. `arguments` may be replaced by equivalents.
FreshResults execute(const OperatorInfo& info, std::span<c10::IValue> arguments);

/// The generic kernel, boxed: pops the arguments, pushes the return values.
void run(const OperatorInfo& info, torch::jit::Stack& stack);

}  // namespace torch_tpu::eager
