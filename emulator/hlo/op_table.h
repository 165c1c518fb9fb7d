// The table of ops: for each op of the StableHLO specification its operands, attributes, regions
// and shape function, and who implements it. docs/status.md is generated from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/hlo/ir.h"

namespace tpu::hlo {

/// How an attribute is written in text; the holder in `Attribute` follows from it.
enum class AttributeKind : uint8_t {
  kBool,
  kI32,  ///< `8 : i32`; held as int64_t
  kI64,
  kF32,  ///< held as double
  kF64,
  kString,
  kEnum,       ///< `#stablehlo<comparison_direction LT>`
  kEnumArray,  ///< precision_config
  kI64Array,   ///< `array<i64: 1, 2>`
  kBoolArray,  ///< `array<i1: false>`
  kI64Matrix,  ///< `dense<...> : tensor<NxMxi64>`
  kLiteral,    ///< constant's value
  kSymbol,     ///< `@f`
  kSymbolArray,
  kDotNumbers,
  kConvNumbers,
  kGatherNumbers,
  kScatterNumbers,
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind;
  bool required = true;
  /// For kEnum and kEnumArray: the attribute's name in the dialect, e.g. `comparison_direction`.
  std::string_view enum_name = {};
};

/// What a shape function sees.
struct OpView {
  OpKind kind;
  std::span<Value* const> operands;
  const Attributes& attributes;
  std::span<const std::unique_ptr<Block>> regions;
  /// The types given by the writer; empty if they are to be inferred.
  std::span<const TensorType> result_types;
};

/// Checks the op against the specification's constraints and returns its result types. For ops
/// whose result the specification leaves open, `result_types` must hold them.
using InferTypes = std::vector<TensorType> (*)(const OpView& op);

struct OpInfo {
  OpKind kind;
  int min_operands = 0;
  int max_operands = -1;  ///< -1: no limit
  int num_regions = 0;    ///< -1: one or more
  std::vector<AttributeSpec> attributes = {};
  bool elementwise = false;   ///< result element i depends on operand elements i only
  bool side_effects = false;  ///< must not be removed or reordered
  bool implemented = false;   ///< evaluator and compiler run it
  InferTypes infer = nullptr;
};

const OpInfo& op_info(OpKind kind);

/// Types of the results, after checking. Throws InvalidArgument with the op's name, operand types
/// and the constraint's label in the specification (such as "add_c1").
std::vector<TensorType> infer_types(const OpView& op);

/// Whether result element i depends on operand elements i only: the op's kind is elementwise, or it
/// is a `custom_call` of a `chlo.` function, which is.
bool is_elementwise(const Op& op);
/// Whether the op, or an op in its regions, must not be removed or reordered.
bool has_side_effects(const Op& op);

/// Checks a whole module: SSA order, terminators, region signatures, every op. Throws
/// InvalidArgument that names function and op.
void verify(const Module& module);

/// Markdown: one row an op with operands, regions and whether it is implemented.
std::string status_table();

}  // namespace tpu::hlo
