// Writes StableHLO ops into a block: one method an op, named as in the specification.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emulator/hlo/ir.h"

namespace tpu::hlo {

/// Appends verified ops to one block. Each method returns the op's result and throws
/// InvalidArgument, naming the op and its types, if the operands break the specification.
///
///   Module module;
///   Builder b(module.add_function("main").body);
///   Value* x = b.parameter({ElementType::kF32, {4}});
///   b.ret({b.add(x, x)});
class Builder {
 public:
  /// Fills the body of a region; gets a builder on the region's block, whose arguments exist.
  using Body = std::function<void(Builder& b, std::span<Value* const> arguments)>;

  explicit Builder(Block& block) : block_(&block) {}

  Block& block() { return *block_; }
  Value* parameter(TensorType type) { return block_->add_argument(std::move(type)); }
  void ret(std::vector<Value*> values);

  /// Any op. Result types are inferred where the specification determines them; otherwise
  /// (constant, iota, convert, reshape, broadcast_in_dim, custom_call, ...) they must be given.
  Op* create(OpKind kind, std::vector<Value*> operands, Attributes attributes = {},
             std::vector<std::unique_ptr<Block>> regions = {}, std::vector<TensorType> types = {});

  // Constants.
  Value* constant(Literal literal);
  Value* constant(ElementType type, double value);     ///< rank 0
  Value* constant(ElementType type, int64_t value);    ///< rank 0
  Value* splat(const TensorType& type, double value);  ///< a scalar constant, broadcast
  Value* splat(const TensorType& type, int64_t value);
  Value* iota(TensorType type, int64_t iota_dimension);

  // Elementwise, one operand.
  Value* unary(OpKind kind, Value* x);
  Value* abs(Value* x) { return unary(OpKind::kAbs, x); }
  Value* cbrt(Value* x) { return unary(OpKind::kCbrt, x); }
  Value* ceil(Value* x) { return unary(OpKind::kCeil, x); }
  Value* cosine(Value* x) { return unary(OpKind::kCosine, x); }
  Value* exponential(Value* x) { return unary(OpKind::kExponential, x); }
  Value* exponential_minus_one(Value* x) { return unary(OpKind::kExponentialMinusOne, x); }
  Value* floor(Value* x) { return unary(OpKind::kFloor, x); }
  Value* is_finite(Value* x) { return unary(OpKind::kIsFinite, x); }
  Value* log(Value* x) { return unary(OpKind::kLog, x); }
  Value* log_plus_one(Value* x) { return unary(OpKind::kLogPlusOne, x); }
  Value* logistic(Value* x) { return unary(OpKind::kLogistic, x); }
  Value* negate(Value* x) { return unary(OpKind::kNegate, x); }
  Value* not_(Value* x) { return unary(OpKind::kNot, x); }
  Value* round_nearest_afz(Value* x) { return unary(OpKind::kRoundNearestAfz, x); }
  Value* round_nearest_even(Value* x) { return unary(OpKind::kRoundNearestEven, x); }
  Value* rsqrt(Value* x) { return unary(OpKind::kRsqrt, x); }
  Value* sign(Value* x) { return unary(OpKind::kSign, x); }
  Value* sine(Value* x) { return unary(OpKind::kSine, x); }
  Value* sqrt(Value* x) { return unary(OpKind::kSqrt, x); }
  Value* tan(Value* x) { return unary(OpKind::kTan, x); }
  Value* tanh(Value* x) { return unary(OpKind::kTanh, x); }
  /// chlo.erf, which StableHLO has not: `custom_call @chlo.erf`, fused like any elementwise op.
  Value* erf(Value* x);

  // Elementwise, two operands of one type.
  Value* binary(OpKind kind, Value* lhs, Value* rhs);
  Value* add(Value* lhs, Value* rhs) { return binary(OpKind::kAdd, lhs, rhs); }
  Value* and_(Value* lhs, Value* rhs) { return binary(OpKind::kAnd, lhs, rhs); }
  Value* atan2(Value* lhs, Value* rhs) { return binary(OpKind::kAtan2, lhs, rhs); }
  Value* divide(Value* lhs, Value* rhs) { return binary(OpKind::kDivide, lhs, rhs); }
  Value* maximum(Value* lhs, Value* rhs) { return binary(OpKind::kMaximum, lhs, rhs); }
  Value* minimum(Value* lhs, Value* rhs) { return binary(OpKind::kMinimum, lhs, rhs); }
  Value* multiply(Value* lhs, Value* rhs) { return binary(OpKind::kMultiply, lhs, rhs); }
  Value* or_(Value* lhs, Value* rhs) { return binary(OpKind::kOr, lhs, rhs); }
  Value* power(Value* lhs, Value* rhs) { return binary(OpKind::kPower, lhs, rhs); }
  Value* remainder(Value* lhs, Value* rhs) { return binary(OpKind::kRemainder, lhs, rhs); }
  Value* shift_left(Value* lhs, Value* rhs) { return binary(OpKind::kShiftLeft, lhs, rhs); }
  Value* shift_right_arithmetic(Value* lhs, Value* rhs) {
    return binary(OpKind::kShiftRightArithmetic, lhs, rhs);
  }
  Value* shift_right_logical(Value* lhs, Value* rhs) {
    return binary(OpKind::kShiftRightLogical, lhs, rhs);
  }
  Value* subtract(Value* lhs, Value* rhs) { return binary(OpKind::kSubtract, lhs, rhs); }
  Value* xor_(Value* lhs, Value* rhs) { return binary(OpKind::kXor, lhs, rhs); }

  /// `direction`: EQ, NE, GE, GT, LE, LT. The compare type follows from the element type
  /// (FLOAT, SIGNED, UNSIGNED; i1 compares UNSIGNED). The result is i1.
  Value* compare(Value* lhs, Value* rhs, std::string_view direction);
  Value* select(Value* pred, Value* on_true, Value* on_false);
  Value* clamp(Value* min, Value* operand, Value* max);
  Value* convert(Value* x, ElementType to);
  Value* bitcast_convert(Value* x, TensorType to);
  Value* complex(Value* real, Value* imag);
  Value* real(Value* x) { return unary(OpKind::kReal, x); }
  Value* imag(Value* x) { return unary(OpKind::kImag, x); }
  Value* reduce_precision(Value* x, int64_t exponent_bits, int64_t mantissa_bits);

  // Shape.
  Value* broadcast_in_dim(Value* x, Dims shape, Dims broadcast_dimensions);
  Value* reshape(Value* x, Dims shape);
  Value* transpose(Value* x, Dims permutation);
  Value* reverse(Value* x, Dims dimensions);
  Value* slice(Value* x, Dims start_indices, Dims limit_indices, Dims strides);
  Value* concatenate(std::vector<Value*> inputs, int64_t dimension);
  Value* pad(Value* x, Value* padding_value, Dims low, Dims high, Dims interior);
  Value* dynamic_slice(Value* x, std::vector<Value*> start_indices, Dims slice_sizes);
  Value* dynamic_update_slice(Value* x, Value* update, std::vector<Value*> start_indices);
  Value* gather(Value* operand, Value* start_indices, GatherDimensionNumbers numbers,
                Dims slice_sizes, bool indices_are_sorted = false);

  // Contractions. `precision`: DEFAULT (1 bf16 pass), HIGH (3), HIGHEST (6); it matters for f32.
  Value* dot_general(Value* lhs, Value* rhs, DotDimensionNumbers numbers, ElementType result,
                     std::string_view precision = "DEFAULT");
  struct ConvolutionWindow {
    Dims window_strides;
    IntMatrix padding;  ///< one row (low, high) a spatial dimension
    Dims lhs_dilation, rhs_dilation;
    std::vector<bool> window_reversal;
    int64_t feature_group_count = 1, batch_group_count = 1;
  };
  Value* convolution(Value* lhs, Value* rhs, const ConvolutionWindow& window,
                     ConvDimensionNumbers numbers, ElementType result,
                     std::string_view precision = "DEFAULT");

  // Ops with a body.
  std::vector<Value*> reduce(std::vector<Value*> inputs, std::vector<Value*> init_values,
                             Dims dimensions, const Body& body);
  struct Window {
    Dims dimensions, strides, base_dilations, window_dilations;
    IntMatrix padding;
  };
  std::vector<Value*> reduce_window(std::vector<Value*> inputs, std::vector<Value*> init_values,
                                    const Window& window, const Body& body);
  Value* select_and_scatter(Value* operand, Value* source, Value* init_value,
                            Dims window_dimensions, Dims window_strides, IntMatrix padding,
                            const Body& select, const Body& scatter);
  std::vector<Value*> scatter(std::vector<Value*> inputs, Value* scatter_indices,
                              std::vector<Value*> updates, ScatterDimensionNumbers numbers,
                              bool indices_are_sorted, bool unique_indices, const Body& body);
  std::vector<Value*> sort(std::vector<Value*> inputs, int64_t dimension, bool is_stable,
                           const Body& comparator);
  std::vector<Value*> while_(std::vector<Value*> operands, const Body& cond, const Body& body);
  std::vector<Value*> case_(Value* index, const std::vector<Body>& branches);
  /// A body that applies one binary op (kAdd, kMaximum, ...) to its two arguments.
  static Body combiner(OpKind kind);

  // Others.
  /// `algorithm`: THREE_FRY, PHILOX, DEFAULT. Results: the next state, random bits of `type`.
  std::vector<Value*> rng_bit_generator(Value* state, TensorType type, std::string_view algorithm);
  std::vector<Value*> optimization_barrier(std::vector<Value*> operands);
  std::vector<Value*> custom_call(std::string_view target, std::vector<Value*> operands,
                                  std::vector<TensorType> results, Attributes extra = {},
                                  bool has_side_effect = false);
  /// Faults the program with `message` unless `ok` (i1, rank 0) holds: `custom_call @tpu.assert`.
  void assert_true(Value* ok, std::string_view message);

 private:
  Block* block_;
};

}  // namespace tpu::hlo
