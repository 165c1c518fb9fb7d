// Random numbers: Philox bits of the generator's stream, shaped into distributions.
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/aten/lowering_table.h"
#include "backend/aten/pointwise.h"
#include "backend/aten/reduction.h"
#include "backend/aten/sorting.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;
using tpu::hlo::TensorType;

/// Independent random words of `type` (ui32 or ui64). One 128-bit block holds four or two.
Value* random_bits(Lowering& op, const TensorType& type) {
  const int64_t bytes = type.num_elements() * tpu::hlo::byte_width(type.element);
  const int64_t blocks = std::max<int64_t>(1, (bytes + 15) / 16);
  return op.b.rng_bit_generator(op.philox_state(blocks), type, "PHILOX")[1];
}

bool is_wide(DType dtype) {
  return dtype == DType::Double || dtype == DType::ComplexDouble;
}

/// Uniform in [0, 1) on the grid of 2^-24 (float32 and narrower) or 2^-53 (float64), in the type
/// that the distribution is computed in.
Value* unit_uniform(Lowering& op, const Dims& shape, DType dtype) {
  Builder& b = op.b;
  const bool wide = is_wide(dtype);
  const TensorType words{wide ? ElementType::kUI64 : ElementType::kUI32, shape};
  Value* top =
      b.shift_right_logical(random_bits(op, words), b.splat(words, int64_t{wide ? 11 : 8}));
  // Through the signed type of the same width, which converts faster and holds the value.
  Value* grid = b.convert(top, wide ? ElementType::kSI64 : ElementType::kSI32);
  Value* real = b.convert(grid, wide ? ElementType::kF64 : ElementType::kF32);
  return b.multiply(real, b.splat(real->type, wide ? 0x1p-53 : 0x1p-24));
}

DType sample_type(DType dtype) {
  return is_wide(dtype) ? DType::Double : DType::Float;
}

Value* number(Lowering& op, std::string_view name, const Value* like) {
  return op.broadcast_to(op.b.convert(op.scalar(name).value, like->type.element), like->type.shape);
}

void write(Lowering& op, const Tensor& self, Value* sample) {
  op.result(op.convert(sample, self.dtype), ResultLayout::kOperands, {self});
}

void check_floating(const Tensor& self, std::string_view name) {
  TORCH_CHECK(c10::isFloatingType(self.dtype), "\"", name, "\" not implemented for '",
              c10::toString(self.dtype), "'");
}

// from + u (to - from); a value that rounding would lift to `to` stays just below it.
void uniform(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  check_floating(self, "uniform_");
  Value* u = unit_uniform(op, self.shape(), self.dtype);
  Value* from = number(op, "from", u);
  Value* to = number(op, "to", u);
  b.assert_true(b.compare(op.convert(op.scalar("from"), DType::Double),
                          op.convert(op.scalar("to"), DType::Double), "LE"),
                "uniform_ expects to return a [from, to) range, but found from > to");
  Value* x = op.convert(b.add(from, b.multiply(u, b.subtract(to, from))), self.dtype);
  Value* to_rounded = op.convert(to, self.dtype);
  Value* overflow = b.and_(b.compare(x, to_rounded, "GE"), b.compare(from, to, "LT"));
  write(op, self, b.select(overflow, op.convert(from, self.dtype), x));
}

/// Standard normal by the inverse of its distribution function: one word a sample, in order.
Value* standard_normal(Lowering& op, const Dims& shape, DType dtype) {
  Builder& b = op.b;
  Value* u = unit_uniform(op, shape, dtype);
  // The middle of the grid cell: never 0 or 1, symmetric about 1/2.
  const double half_cell = is_wide(dtype) ? 0x1p-54 : 0x1p-25;
  // erf_inv wants 2u - 1, formed in float64 so that the tails keep their spacing.
  Value* centred = b.convert(u, ElementType::kF64);
  centred = b.add(centred, b.splat(centred->type, half_cell));
  Value* v =
      b.subtract(b.multiply(centred, b.splat(centred->type, 2.0)), b.splat(centred->type, 1.0));
  v = b.convert(v, u->type.element);
  Value* z = b.custom_call("chlo.erf_inv", {v}, {v->type})[0];
  return b.multiply(z, b.splat(z->type, std::numbers::sqrt2));
}

void normal(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  check_floating(self, "normal_");
  Value* z = standard_normal(op, self.shape(), self.dtype);
  op.assert_number("std", "GE", 0, "normal expects std >= 0.0");
  write(op, self, b.add(b.multiply(z, number(op, "std", z)), number(op, "mean", z)));
}

// true with probability p: u < p.
void bernoulli_of_number(Lowering& op) {
  const Tensor self = op.tensor("self");
  Value* u = unit_uniform(op, self.shape(), DType::Float);
  write(
      op, self,
      op.b.compare(op.b.convert(u, ElementType::kF64),
                   op.broadcast_to(op.convert(op.scalar("p"), DType::Double), self.shape()), "LT"));
}

void assert_probability(Lowering& op, Value* p) {
  Builder& b = op.b;
  Value* inside =
      b.and_(b.compare(p, b.splat(p->type, 0.0), "GE"), b.compare(p, b.splat(p->type, 1.0), "LE"));
  b.assert_true(op.reduce(inside, OpKind::kAnd, iota_dims(p->type.rank()), false),
                "Expected p_in >= 0 && p_in <= 1 to be true");
}

LowerFunction bernoulli_of_tensor(std::string_view probability) {
  return [probability](Lowering& op) {
    const Tensor self = op.tensor("self"), p = op.tensor(probability);
    const DType compute = sample_type(p.dtype);
    Value* wide = op.broadcast_to(op.convert(p, compute), self.shape());
    if (self.numel() > 0) assert_probability(op, wide);
    Value* u = unit_uniform(op, self.shape(), compute);
    write(op, self, op.b.compare(u, wide, "LT"));
  };
}

/// In (0, 1): the middle of a grid cell, so that neither end is drawn.
Value* open_uniform(Lowering& op, const Dims& shape, DType dtype) {
  Value* u = unit_uniform(op, shape, dtype);
  return op.b.add(u, op.b.splat(u->type, is_wide(dtype) ? 0x1p-54 : 0x1p-25));
}
Value* open_uniform(Lowering& op, const Tensor& self) {
  return open_uniform(op, self.shape(), self.dtype);
}

// -log(1 - u) / lambda.
void exponential(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  check_floating(self, "exponential_");
  op.assert_number("lambd", "GT", 0, "exponential_ expects lambda > 0.0");
  Value* u = open_uniform(op, self);
  Value* x = b.negate(b.log_plus_one(b.negate(u)));
  write(op, self, b.divide(x, number(op, "lambd", x)));
}

// median + sigma tan(pi (u - 1/2)).
void cauchy(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  check_floating(self, "cauchy_");
  op.assert_number("sigma", "GT", 0, "cauchy_ expects sigma > 0.0");
  Value* u = open_uniform(op, self);
  Value* angle =
      b.multiply(b.subtract(u, b.splat(u->type, 0.5)), b.splat(u->type, std::numbers::pi));
  write(op, self, b.add(b.multiply(b.tan(angle), number(op, "sigma", u)), number(op, "median", u)));
}

void log_normal(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  check_floating(self, "log_normal_");
  op.assert_number("std", "GT", 0, "log_normal_ expects std > 0.0");
  Value* z = standard_normal(op, self.shape(), self.dtype);
  write(op, self, b.exponential(b.add(b.multiply(z, number(op, "std", z)), number(op, "mean", z))));
}

// Trials until the first success: ceil(log u / log(1 - p)), 1 or more.
void geometric(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  Value* p = op.convert(op.scalar("p"), DType::Double);
  op.assert_number("p", "GT", 0, "geometric_ expects p to be in (0, 1)");
  op.assert_number("p", "LT", 1, "geometric_ expects p to be in (0, 1)");
  Value* u = b.convert(open_uniform(op, self), ElementType::kF64);
  Value* trials = b.divide(b.log(u), b.log_plus_one(b.negate(op.broadcast_to(p, self.shape()))));
  write(op, self, b.maximum(b.ceil(trials), b.splat(trials->type, 1.0)));
}

/// A sample for each mean and standard deviation, tensors or numbers.
void normal_of_tensors(Lowering& op) {
  Builder& b = op.b;
  const Tensor mean = op.tensor("mean"), deviation = op.tensor("std");
  const Tensor& first = mean.wrapped_number ? deviation : mean;
  const std::vector<Dims> shapes = {mean.shape(), deviation.shape()};
  const Dims shape = broadcast_shapes(shapes);
  check_floating(first, "normal");
  const DType compute = sample_type(first.dtype);
  Value* spread = op.broadcast_to(op.convert(deviation, compute), shape);
  Value* positive = b.compare(spread, b.splat(spread->type, 0.0), "GE");
  b.assert_true(op.reduce(positive, OpKind::kAnd, iota_dims(positive->type.rank()), false),
                "normal expects all elements of std >= 0.0");
  Value* z = standard_normal(op, shape, first.dtype);
  Value* centre = op.broadcast_to(op.convert(mean, compute), shape);
  op.result(op.convert(b.add(b.multiply(z, spread), centre), first.dtype));
}

/// from + word mod range, as PyTorch draws integers: 32-bit words for ranges below 2^32, else 64.
Value* random_integer(Lowering& op, const Tensor& self, uint64_t range, int64_t from) {
  Builder& b = op.b;
  const bool wide = range == 0 || range >= (uint64_t{1} << 32);
  const TensorType words{wide ? ElementType::kUI64 : ElementType::kUI32, self.shape()};
  Value* bits = random_bits(op, words);
  if (range != 0) bits = b.remainder(bits, b.splat(words, static_cast<int64_t>(range)));
  Value* integer = b.convert(bits, ElementType::kUI64);
  integer = b.bitcast_convert(integer, {ElementType::kSI64, self.shape()});
  return b.add(integer, b.splat(integer->type, from));
}

/// One past the largest integer that the dtype represents exactly with all below it.
uint64_t natural_range(DType dtype) {
  switch (dtype) {
    case DType::Bool:
      return 2;
    case DType::Double:
      return (uint64_t{1} << 53) + 1;
    case DType::Float:
      return (uint64_t{1} << 24) + 1;
    case DType::Half:
      return (uint64_t{1} << 11) + 1;
    case DType::BFloat16:
      return (uint64_t{1} << 8) + 1;
    default:
      break;
  }
  const int bits =
      static_cast<int>(c10::elementSize(dtype)) * 8 - (c10::isSignedType(dtype) ? 1 : 0);
  return bits == 64 ? 0 : uint64_t{1} << bits;
}

void random_natural(Lowering& op) {
  const Tensor self = op.tensor("self");
  write(op, self, random_integer(op, self, natural_range(self.dtype), 0));
}

void random_below(Lowering& op) {
  const Tensor self = op.tensor("self");
  const int64_t to = op.integer("to");
  TORCH_CHECK(to > 0, "random_ expects 'from' to be less than 'to', but got from=0 >= to=", to);
  write(op, self, random_integer(op, self, static_cast<uint64_t>(to), 0));
}

void random_between(Lowering& op) {
  const Tensor self = op.tensor("self");
  const int64_t from = op.integer("from");
  uint64_t range;
  if (op.has("to")) {
    const int64_t to = op.integer("to");
    TORCH_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from,
                " >= to=", to);
    range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  } else {
    const uint64_t natural = natural_range(self.dtype);
    range = natural == 0 ? 0 : natural - static_cast<uint64_t>(from);
  }
  write(op, self, random_integer(op, self, range, from));
}

// Random keys, sorted; equal keys keep their order.
void permutation(Lowering& op) {
  const int64_t n = op.integer("n");
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  const DType out = op.tensor("out").dtype;
  Value* keys = random_bits(op, {ElementType::kUI64, {n}});
  op.result(
      op.convert(op.b.custom_call("tpu.randperm", {keys}, {{ElementType::kSI64, {n}}})[0], out));
}

// Category numbers by weight. With replacement: where a uniform number falls among the running
// sums. Without: the largest of weight / exponential (the exponential race, as PyTorch does it).
void multinomial(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t samples = op.integer("num_samples");
  const bool replacement = op.boolean("replacement");
  check_floating(self, "multinomial");
  TORCH_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  const int64_t categories = self.size(self.dim() - 1), rows = self.dim() == 2 ? self.size(0) : 1;
  TORCH_CHECK(replacement || samples <= categories,
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  const Dims shape = self.dim() == 2 ? Dims{rows, samples} : Dims{samples};
  if (rows == 0) return op.result(op.full(shape, DType::Long, int64_t{0}));
  Value* weight = b.reshape(op.convert(self, sample_type(self.dtype)), {rows, categories});
  Value* zero = b.splat(weight->type, 0.0);
  Value* valid = b.and_(b.is_finite(weight), b.compare(weight, zero, "GE"));
  b.assert_true(op.reduce(valid, OpKind::kAnd, {0, 1}, false),
                "probability tensor contains either `inf`, `nan` or element < 0");
  Value* total = op.reduce(weight, OpKind::kAdd, {1}, true);
  Value* some = b.compare(total, b.splat(total->type, 0.0), "GT");
  b.assert_true(op.reduce(some, OpKind::kAnd, {0, 1}, false),
                "invalid multinomial distribution (sum of probabilities <= 0)");
  Value* drawn = nullptr;
  if (replacement) {
    Value* sums = cumulative(op, weight, 1, OpKind::kAdd);
    Value* u = unit_uniform(op, {rows, samples}, self.dtype);
    Value* at = b.multiply(u, op.broadcast_to(total, u->type.shape));
    drawn = position_in(b, sums, at, /*right=*/true);
    // Rounding may lift a number to the total.
    drawn = b.minimum(drawn, b.splat(drawn->type, categories - 1));
  } else {
    Value* u = open_uniform(op, {rows, categories}, self.dtype);
    Value* race = b.divide(weight, b.negate(b.log(u)));
    drawn = b.custom_call(
        "tpu.topk", {race},
        {{race->type.element, {rows, samples}}, {ElementType::kSI64, {rows, samples}}},
        {{"largest", true}, {"dimension", int64_t{1}}})[1];
  }
  op.result(b.reshape(drawn, shape));
}

// dropout with its mask; the kept elements are scaled by 1 / (1 - p).
void native_dropout(Lowering& op) {
  Builder& b = op.b;
  const Tensor input = op.tensor("input");
  const DType compute = compute_type(input.dtype);
  if (op.has("train") && !op.boolean("train")) {
    op.result(input.value, ResultLayout::kOperands, {input});
    return op.result(op.full(input.shape(), DType::Bool, int64_t{1}), ResultLayout::kOperands,
                     {input});
  }
  const double p = op.number_as_double("p");
  TORCH_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
  Value* u = unit_uniform(op, input.shape(), DType::Float);
  Value* keep = b.compare(b.convert(u, ElementType::kF64),
                          b.splat({ElementType::kF64, input.shape()}, 1 - p), "LT");
  Value* x = op.convert(input, compute);
  const double scale = p == 1 ? 0.0 : 1 / (1 - p);
  Value* scaled = b.multiply(x, b.splat(x->type, scale));
  op.result(op.convert(b.select(keep, scaled, b.splat(x->type, 0.0)), input.dtype),
            ResultLayout::kOperands, {input});
  op.result(keep, ResultLayout::kOperands, {input});
}

Value* native_dropout_backward(const Pointwise& p) {
  return p.b.multiply(p.b.multiply(p.x[0], p.x[1]), p.x[2]);
}

}  // namespace

void add_random(Table& table) {
  const Table rows = {
      {"uniform_", real_or_library(uniform)},
      {"normal_", real_or_library(normal)},
      {"bernoulli_.float", bernoulli_of_number},
      {"bernoulli_.Tensor", bernoulli_of_tensor("p")},
      {"bernoulli", bernoulli_of_tensor("self")},
      {"exponential_", exponential},
      {"cauchy_", cauchy},
      {"log_normal_", log_normal},
      {"geometric_", geometric},
      {"normal.Tensor_Tensor", normal_of_tensors},
      {"normal.Tensor_float", normal_of_tensors},
      {"normal.float_Tensor", normal_of_tensors},
      {"random_", random_natural},
      {"random_.to", random_below},
      {"random_.from", random_between},
      {"randperm.generator_out", permutation},
      {"multinomial", multinomial},
      {"native_dropout", native_dropout},
      {"native_dropout_backward",
       elementwise({"grad_output", "mask", "scale"}, Promotion::kDefault, native_dropout_backward)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
