// What shape functions share: constraint checks with messages, classes of element types, region
// signatures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/hlo/op_table.h"

namespace tpu::hlo::ops {

/// Sets of element types, as the specification's tables of inputs name them.
enum TypeClass : unsigned {
  kBool = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloat = 8,
  kComplex = 16,
  kToken = 32,
  kInteger = kSigned | kUnsigned,
  kBits = kBool | kInteger,
  kFloatOrComplex = kFloat | kComplex,
  kNumber = kInteger | kFloatOrComplex,
  kTensor = kNumber | kBool,
  kValue = kTensor | kToken,
};

TypeClass type_class(ElementType type);

/// Throws InvalidArgument: the op with its operand types and attributes, `problem`, and the
/// constraint's label, e.g. "add_c1" for `label` "c1".
[[noreturn]] void fail(const OpView& op, std::string_view label, std::string_view problem);

inline void require(const OpView& op, bool holds, std::string_view label,
                    std::string_view problem) {
  if (!holds) [[unlikely]] {
    fail(op, label, problem);
  }
}

inline const TensorType& type_of(const OpView& op, int operand) {
  return op.operands[operand]->type;
}

/// Operand `i` must be of one of `classes`, a set of TypeClass; the label is "i1" for operand 0.
void require_class(const OpView& op, int operand, unsigned classes);
void require_rank(const OpView& op, int operand, int rank);
/// All operands from `first` on must be scalars of one integer type.
void require_index_scalars(const OpView& op, int first, std::string_view label);
/// The writer must have given `count` result types.
void require_given_results(const OpView& op, size_t count = 1);

bool is_unique(std::span<const int64_t> values);
bool is_sorted(std::span<const int64_t> values);
/// All of `values` in [low, high).
bool all_within(std::span<const int64_t> values, int64_t low, int64_t high);
bool contains(std::span<const int64_t> values, int64_t value);
Dims concatenated(const Dims& a, const Dims& b);
bool one_of(std::string_view text, std::initializer_list<std::string_view> choices);
/// Whether a body may accumulate values of type `from` in type `to` (specification, "Functions").
bool is_promotable(ElementType from, ElementType to);

inline std::vector<TensorType> single(TensorType type) {
  std::vector<TensorType> types;
  types.push_back(std::move(type));
  return types;
}

std::vector<TensorType> operand_types(const OpView& op);
std::vector<TensorType> block_argument_types(const Block& block);
/// Types of the operands of the block's `return`. Throws as `fail` does if there is none.
std::vector<TensorType> block_result_types(const OpView& op, int region);

/// The region must have the type `arguments -> results`.
void require_signature(const OpView& op, int region, std::span<const TensorType> arguments,
                       std::span<const TensorType> results, std::string_view label);
/// The region must have the type (E0.., E0..) -> (E0..), scalars to which the element types of
/// operands 0 .. count-1 are promotable. Returns the Ei.
std::vector<ElementType> require_combiner(const OpView& op, int region, int count,
                                          std::string_view label);

/// An attribute that may be left out: its value, or `count` times `fallback`.
Dims dims_or(const OpView& op, std::string_view name, int count, int64_t fallback);

}  // namespace tpu::hlo::ops
