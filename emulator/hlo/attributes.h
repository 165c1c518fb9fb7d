// Attributes of StableHLO ops: the values an op carries beside its operands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "emulator/hlo/literal.h"
#include "emulator/hlo/types.h"

namespace tpu::hlo {

/// `dot_general`: lhs and rhs batch and contracting dimensions.
struct DotDimensionNumbers {
  Dims lhs_batching_dimensions, rhs_batching_dimensions;
  Dims lhs_contracting_dimensions, rhs_contracting_dimensions;
  bool operator==(const DotDimensionNumbers&) const = default;
};

/// `convolution`: which dimension is which.
struct ConvDimensionNumbers {
  int64_t input_batch_dimension = 0, input_feature_dimension = 1;
  Dims input_spatial_dimensions;
  int64_t kernel_input_feature_dimension = 1, kernel_output_feature_dimension = 0;
  Dims kernel_spatial_dimensions;
  int64_t output_batch_dimension = 0, output_feature_dimension = 1;
  Dims output_spatial_dimensions;
  bool operator==(const ConvDimensionNumbers&) const = default;
};

struct GatherDimensionNumbers {
  Dims offset_dims, collapsed_slice_dims;
  Dims operand_batching_dims, start_indices_batching_dims;
  Dims start_index_map;
  int64_t index_vector_dim = 0;
  bool operator==(const GatherDimensionNumbers&) const = default;
};

struct ScatterDimensionNumbers {
  Dims update_window_dims, inserted_window_dims;
  Dims input_batching_dims, scatter_indices_batching_dims;
  Dims scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  bool operator==(const ScatterDimensionNumbers&) const = default;
};

/// `dense<[[1, 2], [0, 0]]> : tensor<2x2xi64>`: padding and replica groups.
struct IntMatrix {
  int64_t rows = 0, columns = 0;
  Dims values;  ///< row-major
  bool operator==(const IntMatrix&) const = default;
};

/// An enumeration's value, spelled as in StableHLO text: `LT`, `FLOAT`, `HIGHEST`, `PHILOX`.
struct EnumValue {
  std::string value;
  bool operator==(const EnumValue&) const = default;
};
using EnumValues = std::vector<EnumValue>;

/// A reference to a function of the module: `@name`.
struct SymbolRef {
  std::string name;
  bool operator==(const SymbolRef&) const = default;
};

using Attribute =
    std::variant<bool, int64_t, double, std::string, EnumValue, EnumValues, Dims, std::vector<bool>,
                 IntMatrix, Literal, SymbolRef, std::vector<SymbolRef>, DotDimensionNumbers,
                 ConvDimensionNumbers, GatherDimensionNumbers, ScatterDimensionNumbers>;

/// A small ordered map from the specification's attribute names to values.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> entries);

  void set(std::string_view name, Attribute value);
  void erase(std::string_view name);
  const Attribute* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  /// The attribute as `T`. Throws InvalidArgument if it is missing or holds another type.
  template <class T>
  const T& get(std::string_view name) const {
    const Attribute* found = find(name);
    const T* value = found ? std::get_if<T>(found) : nullptr;
    if (!value) throw_missing(name, found != nullptr);
    return *value;
  }
  /// The attribute as `T`, or `fallback` if it is missing.
  template <class T>
  T get_or(std::string_view name, const T& fallback) const {
    return contains(name) ? get<T>(name) : fallback;
  }
  const std::string& get_enum(std::string_view name) const { return get<EnumValue>(name).value; }

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  bool operator==(const Attributes&) const = default;

 private:
  [[noreturn]] static void throw_missing(std::string_view name, bool present);
  std::vector<std::pair<std::string, Attribute>> entries_;  // sorted by name
};

}  // namespace tpu::hlo
