#include "emulator/hlo/builder.h"

#include <utility>

#include "emulator/base/error.h"
#include "emulator/hlo/op_table.h"

namespace tpu::hlo {
namespace {

using Regions = std::vector<std::unique_ptr<Block>>;

// A region whose arguments have the given types, filled by `body`.
std::unique_ptr<Block> make_region(std::span<const TensorType> arguments,
                                   const Builder::Body& body) {
  auto block = std::make_unique<Block>();
  std::vector<Value*> values;
  values.reserve(arguments.size());
  for (const TensorType& type : arguments) values.push_back(block->add_argument(type));
  Builder inner(*block);
  body(inner, values);
  return block;
}

Regions one_region(std::span<const TensorType> arguments, const Builder::Body& body) {
  Regions regions;
  regions.push_back(make_region(arguments, body));
  return regions;
}

std::vector<Value*> results_of(const Op& op) {
  std::vector<Value*> values;
  values.reserve(op.num_results());
  for (int i = 0; i < op.num_results(); ++i) values.push_back(op.result(i));
  return values;
}

std::vector<TensorType> types_of(std::span<Value* const> values) {
  std::vector<TensorType> types;
  types.reserve(values.size());
  for (const Value* value : values) types.push_back(value->type);
  return types;
}

// The scalar types of a combiner's arguments: all accumulators, then all elements.
std::vector<TensorType> combiner_arguments(std::span<Value* const> inputs) {
  std::vector<TensorType> types;
  types.reserve(2 * inputs.size());
  for (int side = 0; side < 2; ++side) {
    for (const Value* input : inputs) types.push_back({input->type.element, {}});
  }
  return types;
}

// A comparator's arguments: the two elements of each input side by side.
std::vector<TensorType> comparator_arguments(std::span<Value* const> inputs) {
  std::vector<TensorType> types;
  types.reserve(2 * inputs.size());
  for (const Value* input : inputs) types.insert(types.end(), 2, {input->type.element, {}});
  return types;
}

std::vector<Value*> joined(std::vector<Value*> first, std::span<Value* const> second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<TensorType> one_type(TensorType type) {
  std::vector<TensorType> types;
  types.push_back(std::move(type));
  return types;
}

// Adds entries without the copies that an initializer list would make.
template <class T>
Attributes attribute(std::string_view name, T value) {
  Attributes attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

EnumValues both(std::string_view precision) {
  return {EnumValue{std::string(precision)}, EnumValue{std::string(precision)}};
}

std::string_view compare_type(ElementType type) {
  if (is_signed_integer(type)) return "SIGNED";
  return is_unsigned_integer(type) || is_boolean(type) ? "UNSIGNED" : "FLOAT";
}

void require_operands(OpKind kind, std::span<Value* const> operands) {
  for (const Value* operand : operands) {
    if (operand) continue;
    throw InvalidArgument("an operand of stablehlo." + std::string(mnemonic(kind)) + " is null");
  }
}

// dot_general or convolution: the caller chooses the result's element type, its shape follows.
Value* contraction(Block& block, OpKind kind, std::vector<Value*> operands, Attributes attributes,
                   ElementType result) {
  require_operands(kind, operands);
  const TensorType chosen{result, {}};
  std::vector<TensorType> types =
      op_info(kind).infer({kind, operands, attributes, {}, std::span(&chosen, 1)});
  return block
      .append(std::make_unique<Op>(kind, std::move(operands), std::move(attributes), Regions{},
                                   std::move(types)))
      ->result();
}

}  // namespace

void Builder::ret(std::vector<Value*> values) {
  create(OpKind::kReturn, std::move(values));
}

Op* Builder::create(OpKind kind, std::vector<Value*> operands, Attributes attributes,
                    std::vector<std::unique_ptr<Block>> regions, std::vector<TensorType> types) {
  require_operands(kind, operands);
  std::vector<TensorType> results = infer_types({kind, operands, attributes, regions, types});
  return block_->append(std::make_unique<Op>(kind, std::move(operands), std::move(attributes),
                                             std::move(regions), std::move(results)));
}

Value* Builder::constant(Literal literal) {
  return create(OpKind::kConstant, {}, attribute("value", std::move(literal)))->result();
}

Value* Builder::constant(ElementType type, double value) {
  return constant(scalar(type, value));
}

Value* Builder::constant(ElementType type, int64_t value) {
  return constant(scalar(type, value));
}

Value* Builder::splat(const TensorType& type, double value) {
  Value* one = constant(type.element, value);
  return type.rank() == 0 ? one : broadcast_in_dim(one, type.shape, {});
}

Value* Builder::splat(const TensorType& type, int64_t value) {
  Value* one = constant(type.element, value);
  return type.rank() == 0 ? one : broadcast_in_dim(one, type.shape, {});
}

Value* Builder::iota(TensorType type, int64_t iota_dimension) {
  return create(OpKind::kIota, {}, attribute("iota_dimension", iota_dimension), {},
                one_type(std::move(type)))
      ->result();
}

Value* Builder::unary(OpKind kind, Value* x) {
  return create(kind, {x})->result();
}

Value* Builder::erf(Value* x) {
  return custom_call("chlo.erf", {x}, {x->type})[0];
}

Value* Builder::binary(OpKind kind, Value* lhs, Value* rhs) {
  return create(kind, {lhs, rhs})->result();
}

Value* Builder::compare(Value* lhs, Value* rhs, std::string_view direction) {
  Attributes attributes;
  attributes.set("compare_type", EnumValue{std::string(compare_type(lhs->type.element))});
  attributes.set("comparison_direction", EnumValue{std::string(direction)});
  return create(OpKind::kCompare, {lhs, rhs}, std::move(attributes))->result();
}

Value* Builder::select(Value* pred, Value* on_true, Value* on_false) {
  return create(OpKind::kSelect, {pred, on_true, on_false})->result();
}

Value* Builder::clamp(Value* min, Value* operand, Value* max) {
  return create(OpKind::kClamp, {min, operand, max})->result();
}

Value* Builder::convert(Value* x, ElementType to) {
  return create(OpKind::kConvert, {x}, {}, {}, one_type({to, x->type.shape}))->result();
}

Value* Builder::bitcast_convert(Value* x, TensorType to) {
  return create(OpKind::kBitcastConvert, {x}, {}, {}, one_type(std::move(to)))->result();
}

Value* Builder::complex(Value* real, Value* imag) {
  return create(OpKind::kComplex, {real, imag})->result();
}

Value* Builder::reduce_precision(Value* x, int64_t exponent_bits, int64_t mantissa_bits) {
  Attributes attributes;
  attributes.set("exponent_bits", exponent_bits);
  attributes.set("mantissa_bits", mantissa_bits);
  return create(OpKind::kReducePrecision, {x}, std::move(attributes))->result();
}

Value* Builder::broadcast_in_dim(Value* x, Dims shape, Dims broadcast_dimensions) {
  return create(OpKind::kBroadcastInDim, {x},
                attribute("broadcast_dimensions", std::move(broadcast_dimensions)), {},
                one_type({x->type.element, std::move(shape)}))
      ->result();
}

Value* Builder::reshape(Value* x, Dims shape) {
  return create(OpKind::kReshape, {x}, {}, {}, one_type({x->type.element, std::move(shape)}))
      ->result();
}

Value* Builder::transpose(Value* x, Dims permutation) {
  return create(OpKind::kTranspose, {x}, attribute("permutation", std::move(permutation)))
      ->result();
}

Value* Builder::reverse(Value* x, Dims dimensions) {
  return create(OpKind::kReverse, {x}, attribute("dimensions", std::move(dimensions)))->result();
}

Value* Builder::slice(Value* x, Dims start_indices, Dims limit_indices, Dims strides) {
  Attributes attributes;
  attributes.set("limit_indices", std::move(limit_indices));
  attributes.set("start_indices", std::move(start_indices));
  attributes.set("strides", std::move(strides));
  return create(OpKind::kSlice, {x}, std::move(attributes))->result();
}

Value* Builder::concatenate(std::vector<Value*> inputs, int64_t dimension) {
  return create(OpKind::kConcatenate, std::move(inputs), attribute("dimension", dimension))
      ->result();
}

Value* Builder::pad(Value* x, Value* padding_value, Dims low, Dims high, Dims interior) {
  Attributes attributes;
  attributes.set("edge_padding_high", std::move(high));
  attributes.set("edge_padding_low", std::move(low));
  attributes.set("interior_padding", std::move(interior));
  return create(OpKind::kPad, {x, padding_value}, std::move(attributes))->result();
}

Value* Builder::dynamic_slice(Value* x, std::vector<Value*> start_indices, Dims slice_sizes) {
  return create(OpKind::kDynamicSlice, joined({x}, start_indices),
                attribute("slice_sizes", std::move(slice_sizes)))
      ->result();
}

Value* Builder::dynamic_update_slice(Value* x, Value* update, std::vector<Value*> start_indices) {
  return create(OpKind::kDynamicUpdateSlice, joined({x, update}, start_indices))->result();
}

Value* Builder::gather(Value* operand, Value* start_indices, GatherDimensionNumbers numbers,
                       Dims slice_sizes, bool indices_are_sorted) {
  Attributes attributes;
  attributes.set("dimension_numbers", std::move(numbers));
  attributes.set("indices_are_sorted", indices_are_sorted);
  attributes.set("slice_sizes", std::move(slice_sizes));
  return create(OpKind::kGather, {operand, start_indices}, std::move(attributes))->result();
}

Value* Builder::dot_general(Value* lhs, Value* rhs, DotDimensionNumbers numbers, ElementType result,
                            std::string_view precision) {
  Attributes attributes;
  attributes.set("dot_dimension_numbers", std::move(numbers));
  attributes.set("precision_config", both(precision));
  return contraction(*block_, OpKind::kDotGeneral, {lhs, rhs}, std::move(attributes), result);
}

Value* Builder::convolution(Value* lhs, Value* rhs, const ConvolutionWindow& window,
                            ConvDimensionNumbers numbers, ElementType result,
                            std::string_view precision) {
  Attributes attributes;
  attributes.set("batch_group_count", window.batch_group_count);
  attributes.set("dimension_numbers", std::move(numbers));
  attributes.set("feature_group_count", window.feature_group_count);
  attributes.set("lhs_dilation", window.lhs_dilation);
  attributes.set("padding", window.padding);
  attributes.set("precision_config", both(precision));
  attributes.set("rhs_dilation", window.rhs_dilation);
  attributes.set("window_reversal", window.window_reversal);
  attributes.set("window_strides", window.window_strides);
  return contraction(*block_, OpKind::kConvolution, {lhs, rhs}, std::move(attributes), result);
}

std::vector<Value*> Builder::reduce(std::vector<Value*> inputs, std::vector<Value*> init_values,
                                    Dims dimensions, const Body& body) {
  Regions regions = one_region(combiner_arguments(inputs), body);
  return results_of(*create(OpKind::kReduce, joined(std::move(inputs), init_values),
                            attribute("dimensions", std::move(dimensions)), std::move(regions)));
}

std::vector<Value*> Builder::reduce_window(std::vector<Value*> inputs,
                                           std::vector<Value*> init_values, const Window& window,
                                           const Body& body) {
  Attributes attributes;
  attributes.set("base_dilations", window.base_dilations);
  attributes.set("padding", window.padding);
  attributes.set("window_dilations", window.window_dilations);
  attributes.set("window_dimensions", window.dimensions);
  attributes.set("window_strides", window.strides);
  Regions regions = one_region(combiner_arguments(inputs), body);
  return results_of(*create(OpKind::kReduceWindow, joined(std::move(inputs), init_values),
                            std::move(attributes), std::move(regions)));
}

Value* Builder::select_and_scatter(Value* operand, Value* source, Value* init_value,
                                   Dims window_dimensions, Dims window_strides, IntMatrix padding,
                                   const Body& select, const Body& scatter) {
  Attributes attributes;
  attributes.set("padding", std::move(padding));
  attributes.set("window_dimensions", std::move(window_dimensions));
  attributes.set("window_strides", std::move(window_strides));
  const std::vector<TensorType> pair(2, TensorType{operand->type.element, {}});
  Regions regions = one_region(pair, select);
  regions.push_back(make_region(pair, scatter));
  return create(OpKind::kSelectAndScatter, {operand, source, init_value}, std::move(attributes),
                std::move(regions))
      ->result();
}

std::vector<Value*> Builder::scatter(std::vector<Value*> inputs, Value* scatter_indices,
                                     std::vector<Value*> updates, ScatterDimensionNumbers numbers,
                                     bool indices_are_sorted, bool unique_indices,
                                     const Body& body) {
  Attributes attributes;
  attributes.set("indices_are_sorted", indices_are_sorted);
  attributes.set("scatter_dimension_numbers", std::move(numbers));
  attributes.set("unique_indices", unique_indices);
  Regions regions = one_region(combiner_arguments(inputs), body);
  std::vector<Value*> operands = std::move(inputs);
  operands.push_back(scatter_indices);
  return results_of(*create(OpKind::kScatter, joined(std::move(operands), updates),
                            std::move(attributes), std::move(regions)));
}

std::vector<Value*> Builder::sort(std::vector<Value*> inputs, int64_t dimension, bool is_stable,
                                  const Body& comparator) {
  Attributes attributes;
  attributes.set("dimension", dimension);
  attributes.set("is_stable", is_stable);
  Regions regions = one_region(comparator_arguments(inputs), comparator);
  return results_of(
      *create(OpKind::kSort, std::move(inputs), std::move(attributes), std::move(regions)));
}

std::vector<Value*> Builder::while_(std::vector<Value*> operands, const Body& cond,
                                    const Body& body) {
  const std::vector<TensorType> carried = types_of(operands);
  Regions regions = one_region(carried, cond);
  regions.push_back(make_region(carried, body));
  return results_of(*create(OpKind::kWhile, std::move(operands), {}, std::move(regions)));
}

std::vector<Value*> Builder::case_(Value* index, const std::vector<Body>& branches) {
  Regions regions;
  for (const Body& branch : branches) regions.push_back(make_region({}, branch));
  return results_of(*create(OpKind::kCase, {index}, {}, std::move(regions)));
}

Builder::Body Builder::combiner(OpKind kind) {
  return [kind](Builder& b, std::span<Value* const> arguments) {
    b.ret({b.binary(kind, arguments[0], arguments[1])});
  };
}

std::vector<Value*> Builder::rng_bit_generator(Value* state, TensorType type,
                                               std::string_view algorithm) {
  std::vector<TensorType> types = {state->type, std::move(type)};
  return results_of(*create(OpKind::kRngBitGenerator, {state},
                            attribute("rng_algorithm", EnumValue{std::string(algorithm)}), {},
                            std::move(types)));
}

std::vector<Value*> Builder::optimization_barrier(std::vector<Value*> operands) {
  return results_of(*create(OpKind::kOptimizationBarrier, std::move(operands)));
}

std::vector<Value*> Builder::custom_call(std::string_view target, std::vector<Value*> operands,
                                         std::vector<TensorType> results, Attributes extra,
                                         bool has_side_effect) {
  extra.set("call_target_name", std::string(target));
  if (has_side_effect) extra.set("has_side_effect", true);
  return results_of(
      *create(OpKind::kCustomCall, std::move(operands), std::move(extra), {}, std::move(results)));
}

void Builder::assert_true(Value* ok, std::string_view message) {
  custom_call("tpu.assert", {ok}, {}, attribute("message", std::string(message)), true);
}

}  // namespace tpu::hlo
