// How an ATen operator becomes StableHLO: what a lowering function sees and says.
//
// Nothing here includes ATen, so a file of lowerings compiles in seconds. The same functions serve
// eager ops one at a time, windows of ops, and FX graphs: they differ in where operands come from.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backend/aten/dtype.h"
#include "backend/aten/scalar.h"
#include "emulator/hlo/builder.h"

namespace torch_tpu::aten {

using tpu::hlo::Builder;
using tpu::hlo::Dims;
using tpu::hlo::ElementType;
using tpu::hlo::Value;

/// An operand inside the program: a dense logical tensor of PyTorch's shape and dtype.
struct Tensor {
  Value* value = nullptr;
  DType dtype = DType::Undefined;
  Dims strides;                 ///< as the caller's tensor has them; for choosing the result's
  bool wrapped_number = false;  ///< a Python number
  std::string argument;         ///< the schema's name, for error texts

  const Dims& shape() const { return value->type.shape; }
  int64_t dim() const { return value->type.rank(); }
  int64_t size(int64_t d) const { return shape()[d]; }
  int64_t numel() const { return value->type.num_elements(); }
  Promoted promoted() const { return {dtype, dim() == 0, wrapped_number}; }
};

struct None {};

/// One argument of a call, by its schema's order. A Scalar or float argument carries both its
/// value and the program parameter that will hold it at run time.
struct ScalarArgument {
  ScalarValue number;
  Value* value = nullptr;  ///< rank 0, of `number.carrier()`'s element type
};
using TensorList = std::vector<std::optional<Tensor>>;
using Argument = std::variant<None, Tensor, TensorList, ScalarArgument, int64_t, bool, Dims,
                              std::vector<double>, std::vector<ScalarArgument>, DType, std::string>;

/// How a result lies in memory.
enum class ResultLayout : uint8_t {
  kContiguous,
  kOperands,      ///< as TensorIterator chooses from the operands' strides
  kFirstOperand,  ///< channels last if the first operand suggests so, else contiguous
  kGiven,         ///< as `strides` say
};

/// A result or a write-back.
struct Result {
  Value* value = nullptr;  ///< null: an undefined tensor
  ResultLayout layout = ResultLayout::kContiguous;
  std::vector<Tensor> layout_operands;  ///< for kOperands and kFirstOperand
  Dims strides;                         ///< for kGiven
};

/// A call of an operator that the kernel library has from PyTorch.
struct LibraryCall {
  struct Result {
    tpu::hlo::TensorType type;
    Dims strides;
  };
  std::string target;     ///< of the custom call
  int num_arguments = 0;  ///< of the schema's, without those that are only written
  bool draws = false;     ///< takes random numbers
  std::vector<std::optional<Result>> results;  ///< none: an undefined tensor
};

/// What the caller provides beside the arguments.
class LoweringHost {
 public:
  virtual ~LoweringHost() = default;
  /// The number of scalar argument `index` decides the program: make it part of the cache key.
  virtual void pin_scalar(int index) = 0;
  /// Each call's number has to be one that the integer dtype holds, or the call is an error.
  virtual void require_fits(const Value* number, DType dtype) = 0;
  /// A ui64[2] program parameter: Philox key and counter, reserved for `blocks` 128-bit draws.
  virtual Value* philox_state(int64_t blocks) = 0;
  /// DEFAULT, HIGH or HIGHEST, as the user's float32 matmul precision says.
  virtual std::string_view matmul_precision() = 0;
  /// What the library needs to know of this call; raises PyTorch's errors for bad arguments.
  virtual LibraryCall library_call() = 0;
};

/// One call of one operator being lowered.
class Lowering {
 public:
  Lowering(std::string_view op_name, std::span<const std::string> argument_names,
           std::vector<Argument> arguments, Builder& builder, LoweringHost& host)
      : b(builder),
        op_name_(op_name),
        argument_names_(argument_names),
        arguments_(std::move(arguments)),
        host_(host) {}

  Builder& b;

  /// The operator as users know it: `aten::add.Tensor`.
  std::string_view op_name() const { return op_name_; }

  // Arguments by schema name. A wrong kind is a defect of the table and throws.
  bool has(std::string_view name) const;  ///< the schema has it and it is not None
  bool has_complex_operand() const;
  Tensor tensor(std::string_view name) const;
  std::optional<Tensor> optional_tensor(std::string_view name) const;
  TensorList tensors(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  int64_t integer_or(std::string_view name, int64_t fallback) const;
  Dims integers(std::string_view name) const;
  std::optional<Dims> optional_integers(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::vector<bool> booleans(std::string_view name) const;
  std::string string(std::string_view name) const;
  std::optional<DType> dtype(std::string_view name) const;
  /// A Python number as an operand; reading it costs no recompilation.
  Tensor scalar(std::string_view name) const;
  std::optional<Tensor> optional_scalar(std::string_view name) const;
  /// What kind of number it is (always part of the key).
  ScalarValue::Kind scalar_kind(std::string_view name) const;
  /// The number itself. The program then depends on it: each other number compiles anew.
  ScalarValue number(std::string_view name) const;
  double number_as_double(std::string_view name) const { return number(name).to_double(); }

  // Results, in the schema's order.
  void result(Value* value) { results_.push_back({value, ResultLayout::kContiguous, {}, {}}); }
  void result(Value* value, ResultLayout layout, std::vector<Tensor> operands) {
    results_.push_back({value, layout, std::move(operands), {}});
  }
  void result(Value* value, Dims strides) {
    results_.push_back({value, ResultLayout::kGiven, {}, std::move(strides)});
  }
  void undefined_result() { results_.push_back({}); }
  /// Leaves the call to PyTorch's CPU kernel, on the device's memory: `custom_call @aten.<name>`.
  void call_library();
  /// Overwrites a tensor argument that the schema does not mark as written (batch norm's running
  /// statistics), or the `self` of an operator that exists in-place only.
  void assign(std::string_view name, Value* value);

  const std::vector<Result>& results() const { return results_; }
  /// Argument index and new value.
  const std::vector<std::pair<int, Value*>>& assignments() const { return assignments_; }

  /// The program faults with `message` unless `name <direction> bound` holds for a number.
  void assert_number(std::string_view name, std::string_view direction, double bound,
                     std::string_view message);

  /// Where PyTorch refuses a Python integer that overflows in the tensor's dtype (most operators
  /// wrap it).
  void require_fits(const Tensor& number, DType dtype);

  // Building blocks that many families share.
  Value* philox_state(int64_t blocks) { return host_.philox_state(blocks); }
  std::string_view matmul_precision() const { return host_.matmul_precision(); }

  Value* convert(Value* x, DType to) { return b.convert(x, to_element(to)); }
  Value* convert(const Tensor& x, DType to) { return convert(x.value, to); }
  Value* full(const Dims& shape, DType dtype, double value) {
    return b.splat({to_element(dtype), shape}, value);
  }
  Value* full(const Dims& shape, DType dtype, int64_t value) {
    return b.splat({to_element(dtype), shape}, value);
  }
  /// Broadcasts to `shape` by PyTorch's rule (trailing dimensions aligned).
  Value* broadcast_to(Value* x, const Dims& shape);
  /// Reduces with one combiner over `dims`, from the combiner's identity. Keeps size-1 dims if
  /// `keepdim`.
  Value* reduce(Value* x, tpu::hlo::OpKind combiner, const Dims& dims, bool keepdim);
  /// Puts size-1 dims back after a reduction over `dims`.
  Value* keep_dims(Value* reduced, const Dims& original_shape, const Dims& dims);

 private:
  int index_of(std::string_view name) const;
  const Argument& argument(std::string_view name) const;
  [[noreturn]] void wrong_kind(std::string_view name, std::string_view expected) const;

  std::string_view op_name_;
  std::span<const std::string> argument_names_;
  std::vector<Argument> arguments_;
  LoweringHost& host_;
  std::vector<Result> results_;
  std::vector<std::pair<int, Value*>> assignments_;
};

/// Broadcast of shapes by PyTorch's rule; throws its text on a mismatch.
Dims broadcast_shapes(std::span<const Dims> shapes);
/// `dim` counted from the front. Throws IndexError in PyTorch's words. A 0-d tensor counts as 1-d.
int64_t wrap_dim(int64_t dim, int64_t rank);
/// Wrapped, sorted, without duplicates (an error in PyTorch's words); empty or absent means all.
Dims wrap_dims(const std::optional<Dims>& dims, int64_t rank);
/// 0, 1, ..., rank - 1.
Dims iota_dims(int64_t rank);
/// The value as a constant that `reduce` can start `combiner` from.
Value* identity_of(Builder& b, tpu::hlo::OpKind combiner, ElementType type);

}  // namespace torch_tpu::aten
