// Contractions, linear algebra, transforms, random bits.
#include <algorithm>

#include "emulator/hlo/evaluator/index.h"
#include "emulator/hlo/testing/block_generator.h"
#include "emulator/hlo/window.h"

namespace tpu::hlo::testing {
namespace {

// The type in which sums are given out.
ElementType result_type(Rng& rng, ElementType operand, bool exact) {
  using enum ElementType;
  if (exact || rng.coin()) return operand;
  if (is_float(operand) && operand != kF64) return rng.pick({kF32, kBF16, kF16});
  if (is_integer(operand)) return rng.pick({kSI32, kSI64, kUI32});
  return operand;
}

std::string_view random_precision(Rng& rng) {
  return rng.pick({"DEFAULT", "HIGH", "HIGHEST"});
}

}  // namespace

bool BlockGenerator::dot_general() {
  Value* lhs = any_value(options_.exact ? is_integer : is_any);
  DotDimensionNumbers numbers;
  const int64_t rank = lhs->type.rank();
  Dims batch, contracting, free;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t role = rng_.below(5);
    (role == 0 ? batch : role <= 2 ? contracting : free).push_back(d);
  }
  rng_.shuffle(batch);
  rng_.shuffle(contracting);
  // rhs has the batch and contracting sizes and up to two others, in any order.
  Dims sizes = pick(lhs->type.shape, batch);
  for (int64_t d : contracting) sizes.push_back(lhs->type.shape[d]);
  Dims rhs_free;
  for (int64_t n = rng_.below(3); n > 0; --n)
    rhs_free.push_back(rng_.one_in(4) ? random_size() : rng_.between(1, 9));
  sizes.insert(sizes.end(), rhs_free.begin(), rhs_free.end());
  const Dims position = random_permutation(std::ssize(sizes));
  TensorType rhs{lhs->type.element, Dims(sizes.size())};
  for (size_t i = 0; i < sizes.size(); ++i) rhs.shape[position[i]] = sizes[i];
  numbers.lhs_batching_dimensions = batch;
  numbers.lhs_contracting_dimensions = contracting;
  numbers.rhs_batching_dimensions.assign(position.begin(), position.begin() + batch.size());
  numbers.rhs_contracting_dimensions.assign(position.begin() + batch.size(),
                                            position.begin() + batch.size() + contracting.size());

  Dims result = pick(lhs->type.shape, batch);
  for (int64_t d : free) result.push_back(lhs->type.shape[d]);
  result.insert(result.end(), rhs_free.begin(), rhs_free.end());
  const int64_t depth = num_elements(pick(lhs->type.shape, contracting));
  if (!small_enough(result) || !small_enough(rhs.shape)) return false;
  if (num_elements(result) * depth > options_.max_work) return false;
  const ElementType type = result_type(rng_, lhs->type.element, options_.exact);
  Value* other = value_of(rhs);
  keep(builder_.dot_general(lhs, other, numbers, type, random_precision(rng_)));
  return true;
}

bool BlockGenerator::convolution() {
  const int64_t spatial = rng_.below(4);
  const int64_t groups = rng_.one_in(3) ? 2 : 1;
  const bool batch_groups = groups > 1 && rng_.coin();
  const bool large = rng_.one_in(4);
  const int64_t kernel_features = rng_.between(1, large ? 40 : 3);
  const int64_t batch = rng_.between(1, 2) * (batch_groups ? groups : 1);
  const int64_t features = kernel_features * (batch_groups ? 1 : groups);
  const int64_t outputs = rng_.between(1, large ? 20 : 3) * groups;

  ConvDimensionNumbers numbers;
  const auto place = [&](int64_t& a, int64_t& b, Dims& rest) {
    const Dims permutation = random_permutation(spatial + 2);
    a = permutation[0];
    b = permutation[1];
    rest.assign(permutation.begin() + 2, permutation.end());
  };
  place(numbers.input_batch_dimension, numbers.input_feature_dimension,
        numbers.input_spatial_dimensions);
  place(numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension,
        numbers.kernel_spatial_dimensions);
  place(numbers.output_batch_dimension, numbers.output_feature_dimension,
        numbers.output_spatial_dimensions);

  TensorType lhs{random_element(options_.exact ? is_integer : is_number), Dims(spatial + 2)},
      rhs{lhs.element, Dims(spatial + 2)};
  lhs.shape[numbers.input_batch_dimension] = batch;
  lhs.shape[numbers.input_feature_dimension] = features;
  rhs.shape[numbers.kernel_input_feature_dimension] = kernel_features;
  rhs.shape[numbers.kernel_output_feature_dimension] = outputs;
  Builder::ConvolutionWindow window;
  window.padding = {spatial, 2, {}};
  (batch_groups ? window.batch_group_count : window.feature_group_count) = groups;
  int64_t work = batch * outputs * kernel_features;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t input = rng_.between(0, large ? 20 : 7);
    WindowDimension d;
    d.size = rng_.between(1, large ? 5 : 3);
    d.stride = rng_.between(1, 2);
    d.low_padding = rng_.between(-1, 2);
    d.high_padding = rng_.between(-1, 2);
    d.base_dilation = rng_.one_in(4) ? 2 : 1;
    d.window_dilation = rng_.one_in(4) ? 2 : 1;
    lhs.shape[numbers.input_spatial_dimensions[i]] = input;
    rhs.shape[numbers.kernel_spatial_dimensions[i]] = d.size;
    window.window_strides.push_back(d.stride);
    window.padding.values.insert(window.padding.values.end(), {d.low_padding, d.high_padding});
    window.lhs_dilation.push_back(d.base_dilation);
    window.rhs_dilation.push_back(d.window_dilation);
    window.window_reversal.push_back(rng_.one_in(3));
    work *= d.size * num_windows(input, d);
  }
  if (!small_enough(lhs.shape) || !small_enough(rhs.shape) || work > options_.max_work)
    return false;
  Value *const input = value_of(lhs), *const kernel = value_of(rhs);
  const ElementType type = result_type(rng_, lhs.element, options_.exact);
  keep(builder_.convolution(input, kernel, window, numbers, type, random_precision(rng_)));
  return true;
}

bool BlockGenerator::matrix_op() {
  using enum ElementType;
  const ElementType type = rng_.pick({kF32, kF32, kF64, kBF16, kComplexF32});
  Dims shape(rng_.below(2), 2);
  const int64_t n = rng_.between(0, 5);
  Dims square = shape;
  square.insert(square.end(), {n, n});
  Value* a = value_of({type, square});
  if (rng_.coin()) {
    keep(builder_.create(OpKind::kCholesky, {a}, {{"lower", rng_.coin()}})->result());
    return true;
  }
  const bool left = rng_.coin();
  const int64_t systems = rng_.between(0, 4);
  Dims rhs = shape;
  rhs.insert(rhs.end(), {left ? n : systems, left ? systems : n});
  const std::string transpose = rng_.pick({"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"});
  Value* b = value_of({type, rhs});
  keep(builder_
           .create(OpKind::kTriangularSolve, {a, b},
                   {{"left_side", left},
                    {"lower", rng_.coin()},
                    {"unit_diagonal", rng_.coin()},
                    {"transpose_a", EnumValue{transpose}}})
           ->result());
  return true;
}

bool BlockGenerator::fft() {
  using enum ElementType;
  const bool f64 = rng_.one_in(3);
  const std::string type = rng_.pick({"FFT", "IFFT", "RFFT", "IRFFT"});
  Dims shape(rng_.below(2), 2), length;
  for (int64_t n = rng_.between(1, 3); n > 0; --n) length.push_back(rng_.between(1, 9));
  shape.insert(shape.end(), length.begin(), length.end());
  if (type == "IRFFT") shape.back() = length.back() / 2 + 1;
  if (!small_enough(shape)) return false;
  const ElementType element =
      type == "RFFT" ? (f64 ? kF64 : kF32) : (f64 ? kComplexF64 : kComplexF32);
  keep(builder_
           .create(OpKind::kFft, {value_of({element, shape})},
                   {{"fft_type", EnumValue{type}}, {"fft_length", length}})
           ->result());
  return true;
}

bool BlockGenerator::random_bits() {
  const std::string_view algorithm = rng_.pick({"THREE_FRY", "PHILOX", "DEFAULT"});
  const int64_t words = algorithm == "THREE_FRY" ? 2 : rng_.between(2, 3);
  Value* state = new_value({ElementType::kUI64, {words}}, random_style(rng_));
  keep(builder_.rng_bit_generator(state, {random_element(is_integer), random_shape()}, algorithm));
  return true;
}

}  // namespace tpu::hlo::testing
