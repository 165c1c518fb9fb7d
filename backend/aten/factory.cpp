// Operators that make values from nothing but numbers.
#include <algorithm>
#include <cmath>

#include "backend/aten/lowering_table.h"
#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

void fill(Lowering& op) {
  const Tensor self = op.tensor("self"), value = op.tensor("value");
  TORCH_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  op.require_fits(value, op.tensor("self").dtype);
  op.result(op.broadcast_to(op.convert(value, self.dtype), self.shape()), ResultLayout::kOperands,
            {self});
}

void zero(Lowering& op) {
  const Tensor self = op.tensor("self");
  op.result(op.full(self.shape(), self.dtype, int64_t{0}), ResultLayout::kOperands, {self});
}

/// start + i * step in the type PyTorch accumulates in (int64, or float64 for floats), then cast.
Value* ramp(Lowering& op, int64_t count, std::string_view start, std::string_view step, DType out) {
  Builder& b = op.b;
  const DType carrier = c10::isFloatingType(out) ? DType::Double : DType::Long;
  const tpu::hlo::TensorType type{to_element(carrier), {count}};
  const auto number = [&](std::string_view name) {
    return op.broadcast_to(op.convert(op.scalar(name), carrier), type.shape);
  };
  Value* steps = b.multiply(b.iota(type, 0), number(step));
  return op.convert(b.add(number(start), steps), out);
}

// The length depends on the numbers, so they are read.
void arange(Lowering& op) {
  const ScalarValue start = op.number("start"), end = op.number("end"), step = op.number("step");
  const DType out = op.tensor("out").dtype;
  TORCH_CHECK(step.to_double() != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(start.to_double()) && std::isfinite(end.to_double()),
              "unsupported range: ", start.to_double(), " -> ", end.to_double());
  TORCH_CHECK((step.to_double() > 0) == (end.to_double() >= start.to_double()) ||
                  end.to_double() == start.to_double(),
              "upper bound and lower bound inconsistent with step sign");
  int64_t count;
  if (start.is_integral() && end.is_integral() && step.is_integral()) {
    const int64_t sign = step.integer > 0 ? 1 : -1;
    count = (end.integer - start.integer + step.integer - sign) / step.integer;
  } else {
    count =
        static_cast<int64_t>(std::ceil((end.to_double() - start.to_double()) / step.to_double()));
  }
  op.result(ramp(op, count, "start", "step", out));
}

// As arange, `end` included.
void range(Lowering& op) {
  const double start = op.number_as_double("start"), end = op.number_as_double("end"),
               step = op.number_as_double("step");
  TORCH_CHECK(step != 0, "step must be nonzero");
  TORCH_CHECK(std::isfinite(start) && std::isfinite(end), "unsupported range: ", start, " -> ",
              end);
  TORCH_CHECK((step > 0 && end >= start) || (step < 0 && end <= start),
              "upper bound and lower bound inconsistent with step sign");
  const auto count = static_cast<int64_t>((end - start) / step + 1);
  op.result(ramp(op, count, "start", "step", op.tensor("out").dtype));
}

/// `steps` numbers from start to end, counted from both ends, so that the last is `end` itself.
Value* evenly_spaced(Lowering& op, DType compute) {
  Builder& b = op.b;
  const int64_t steps = op.integer("steps");
  TORCH_CHECK(steps >= 0, "number of steps must be non-negative");
  const tpu::hlo::TensorType type{to_element(compute), {steps}};
  const auto number = [&](std::string_view name) {
    return op.broadcast_to(op.convert(op.scalar(name), compute), type.shape);
  };
  if (steps <= 1) return number("start");
  Value* index = b.iota(type, 0);
  const double intervals = static_cast<double>(steps - 1);
  Value* step = b.divide(b.subtract(number("end"), number("start")), b.splat(type, intervals));
  Value* forward = b.add(number("start"), b.multiply(index, step));
  Value* remaining = b.subtract(b.splat(type, intervals), index);
  Value* backward = b.subtract(number("end"), b.multiply(remaining, step));
  Value* first_half = b.compare(index, b.splat(type, static_cast<double>(steps / 2)), "LT");
  return b.select(first_half, forward, backward);
}

void linspace(Lowering& op) {
  const DType out = op.tensor("out").dtype;
  const bool narrow = c10::isFloatingType(out) && compute_type(out) == DType::Float;
  op.result(op.convert(evenly_spaced(op, narrow ? DType::Float : DType::Double), out));
}

// base to the power of each of linspace's numbers.
void logspace(Lowering& op) {
  const DType out = op.tensor("out").dtype;
  Value* exponents = evenly_spaced(op, DType::Double);
  Value* base =
      op.broadcast_to(op.convert(op.scalar("base"), DType::Double), exponents->type.shape);
  op.result(op.convert(op.b.power(base, exponents), out));
}

/// Row and column numbers, [2, n], of a matrix's elements on one side of a diagonal.
LowerFunction triangle_indices(bool lower) {
  return [lower](Lowering& op) {
    const int64_t rows = op.integer("row"), columns = op.integer("col"),
                  offset = op.integer("offset");
    TORCH_CHECK(rows >= 0, "row must be non-negative, got", rows);
    TORCH_CHECK(columns >= 0, "col must be non-negative, got", columns);
    std::vector<int64_t> row_numbers, column_numbers;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t begin = lower ? 0 : std::clamp<int64_t>(i + offset, 0, columns);
      const int64_t end = lower ? std::clamp<int64_t>(i + offset + 1, 0, columns) : columns;
      for (int64_t j = begin; j < end; ++j) {
        row_numbers.push_back(i);
        column_numbers.push_back(j);
      }
    }
    const auto count = static_cast<int64_t>(row_numbers.size());
    row_numbers.insert(row_numbers.end(), column_numbers.begin(), column_numbers.end());
    const ElementType type = to_element(op.dtype("dtype").value_or(DType::Long));
    op.result(op.b.constant(tpu::hlo::from_ints(type, {2, count}, row_numbers)));
  };
}

void eye(Lowering& op) {
  Builder& b = op.b;
  const int64_t n = op.integer("n"), m = op.integer_or("m", op.integer("n"));
  TORCH_CHECK(n >= 0 && m >= 0, "n and m must be greater or equal to 0, got ", n, " and ", m);
  const tpu::hlo::TensorType index{ElementType::kSI64, {n, m}};
  Value* diagonal = b.compare(b.iota(index, 0), b.iota(index, 1), "EQ");
  op.result(op.convert(diagonal, op.tensor("out").dtype));
}

}  // namespace

void add_factory(Table& table) {
  const Table rows = {
      {"fill_.Scalar", fill},
      {"fill_.Tensor", fill},
      {"zero_", zero},
      {"arange.start_out", arange},
      {"linspace.out", linspace},
      {"eye.out", eye},
      {"eye.m_out", eye},
      {"range.out", range},
      {"logspace.out", real_or_library(logspace)},
      {"tril_indices", triangle_indices(/*lower=*/true)},
      {"triu_indices", triangle_indices(false)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
