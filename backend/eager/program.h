// A cached program: one operator call's lowering for given shapes, compiled on first use.
#pragma once

#include <c10/core/ScalarType.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/compiler/compiler.h"
#include "emulator/hlo/ir.h"
#include "emulator/memory/allocator.h"

namespace torch_tpu::eager {

using tpu::hlo::Dims;

/// Where a program parameter's data comes from at each call. Operands and numbers are counted in
/// the order in which they stand in the call, lists flattened.
struct ParameterSource {
  enum class Kind : uint8_t { kOperand, kNumber, kPhilox } kind;
  int index = 0;
};

/// Where a program result goes.
struct ResultTarget {
  enum class Kind : uint8_t {
    kFresh,      ///< a new tensor, returned
    kOperand,    ///< the memory of operand `index`
    kTemporary,  ///< a new tensor that is copied onto operand `index` afterwards (overlap)
  } kind;
  int index = 0;  ///< operand, or position among the operator's fresh results
};

/// The metadata of a fresh result or temporary.
struct ResultSpec {
  c10::ScalarType dtype;
  Dims sizes, strides;
  size_t bytes = 0;  ///< from the first to past the last element
  tpu::memory::AllocationShape allocation;
};

class Program {
 public:
  std::vector<uint64_t> key;

  std::vector<ParameterSource> parameters;
  std::vector<ResultTarget> targets;  ///< one a program result
  std::vector<ResultSpec> specs;      ///< one a program result
  int num_fresh = 0;
  /// For each return value of the operator: a program result, or -1 for an undefined tensor.
  std::vector<int> returns;
  int64_t philox_blocks = 0;
  bool nothing_to_run = false;  ///< every result is empty
  /// Numbers of the call that an integer dtype has to hold.
  struct FittingNumber {
    int number;
    c10::ScalarType dtype;
  };
  std::vector<FittingNumber> fitting;
  /// A written `out` operand whose shape is not the result's: resize it to `specs` and call again.
  std::vector<int> resize_operands;

  tpu::hlo::Module module{"op"};
  tpu::compiler::Signature signature;

  /// Compiles on the first call; later calls are one load. Thread-safe.
  const tpu::compiler::Executable& executable();
  bool compiled() const { return ready_.load(std::memory_order_acquire) != nullptr; }
  /// Known before compilation: the program holds an assertion.
  bool may_fault = false;
  /// Nanoseconds the compilation took; 0 before.
  int64_t compile_time() const { return compile_time_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const tpu::compiler::Executable*> ready_{nullptr};
  std::atomic<int64_t> compile_time_{0};
  std::shared_ptr<const tpu::compiler::Executable> owned_;
  std::mutex compiling_;
};

}  // namespace torch_tpu::eager
