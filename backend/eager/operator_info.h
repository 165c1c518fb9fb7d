// What the generic kernel knows of one registered schema before any call.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/aten/lowering_table.h"

namespace torch_tpu::eager {

/// How an argument enters key and lowering.
enum class ArgumentKind : uint8_t {
  kTensor,
  kTensorList,
  kNumber,      ///< Scalar or float: an operand of the program, unless its lowering reads it
  kNumberList,  ///< Scalar[] or float[]: always part of the key
  kInteger,
  kIntegerList,
  kBool,
  kBoolList,
  kDtype,
  kString,
  kGenerator,
  kIgnored,  ///< device, layout, memory format, pin_memory: they change no value
};

/// One schema that a row of the lowering table serves.
struct OperatorInfo {
  const c10::FunctionSchema* schema = nullptr;
  const aten::OpDef* def = nullptr;
  std::string name;  ///< `aten::add_.Tensor`, for error texts
  uint32_t id = 0;   ///< first word of the key

  std::vector<ArgumentKind> kinds;  ///< one a schema argument
  std::vector<std::string> names;   ///< likewise
  std::vector<int> written;         ///< schema arguments that results overwrite, in order
  /// One for each of `written`: whether the row's own schema returns it instead, as `add` returns
  /// what `add_` writes. The row's lowering gives what its own schema writes first, then the rest.
  std::vector<bool> written_by_variant;
  std::vector<int> returned_argument;  ///< per return: the written argument it aliases, or -1
  bool out_variant = false;            ///< the written arguments may be resized

  /// Numbers (by schema argument) that the lowering has read, so far: part of the key.
  mutable std::atomic<uint64_t> pinned{0};
  /// The lowering has asked for the float32 matmul precision: likewise.
  mutable std::atomic<bool> reads_matmul_precision{false};
};

/// PyTorch's operator that a row of the table names.
c10::OperatorHandle find_operator(const aten::OpDef& def);
/// Describes `schema`, served by `def`.
std::unique_ptr<OperatorInfo> describe(const c10::FunctionSchema& schema, const aten::OpDef& def);

/// True if `variant` is `functional`'s in-place or `out=` form: same base name (but for a trailing
/// underscore), same arguments (but for the written outs at the end).
bool is_variant_of(const c10::FunctionSchema& variant, const c10::FunctionSchema& functional);

}  // namespace torch_tpu::eager
