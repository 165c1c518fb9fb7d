// Matrix products on the MXU.
#include "backend/aten/lowering_table.h"
#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::DotDimensionNumbers;

void check_same_dtype(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(a.dtype == b.dtype,
              "expected m1 and m2 to have the same dtype, but got: ", c10::toString(a.dtype),
              " != ", c10::toString(b.dtype));
  TORCH_CHECK(a.dtype != DType::Bool, "\"addmm_impl_cpu_\" not implemented for 'Bool'");
}

void check_dim(const Tensor& x, int64_t dim, std::string_view op) {
  TORCH_CHECK(x.dim() == dim, op, ": Expected ", x.argument, " to be a ", dim,
              "-D tensor, but got ", x.dim(), "-D");
}

/// The product with its accumulator's type kept: float32 for the narrow floats, so that what is
/// added to it is added before the one rounding.
Value* dot(Lowering& op, const Tensor& a, const Tensor& b, DotDimensionNumbers numbers) {
  check_same_dtype(a, b);
  return op.b.dot_general(a.value, b.value, std::move(numbers), to_element(compute_type(a.dtype)),
                          op.matmul_precision());
}

Value* matrix_product(Lowering& op, const Tensor& a, const Tensor& b) {
  check_dim(a, 2, op.op_name());
  check_dim(b, 2, op.op_name());
  TORCH_CHECK(a.size(1) == b.size(0), "mat1 and mat2 shapes cannot be multiplied (", a.size(0), "x",
              a.size(1), " and ", b.size(0), "x", b.size(1), ")");
  return dot(op, a, b, {{}, {}, {1}, {0}});
}

Value* batched_product(Lowering& op, const Tensor& a, const Tensor& b) {
  check_dim(a, 3, op.op_name());
  check_dim(b, 3, op.op_name());
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "Expected size for first two dimensions of batch2 tensor to be: [", a.size(0), ", ",
              a.size(2), "] but got: [", b.size(0), ", ", b.size(1), "].");
  return dot(op, a, b, {{0}, {0}, {2}, {1}});
}

/// beta * self + alpha * product. beta = 0 ignores self, NaNs included.
void add_product(Lowering& op, Value* product, DType dtype) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.dtype == dtype, "self and mat2 must have the same dtype, but got ",
              c10::toString(self.dtype), " and ", c10::toString(dtype));
  const Dims& shape = product->type.shape;
  const DType compute = compute_type(dtype);
  const auto factor = [&](std::string_view name) {
    return op.broadcast_to(op.convert(op.scalar(name), compute), shape);
  };
  // 1 and 0 decide the program; any other factor is an operand.
  const ScalarValue alpha = op.number("alpha"), beta = op.number("beta");
  if (!alpha.is(1)) product = b.multiply(product, factor("alpha"));
  if (!beta.is(0)) {
    const std::vector<Dims> shapes = {self.shape(), shape};
    TORCH_CHECK(broadcast_shapes(shapes) == shape,
                "The expanded size of the tensor must match: self ", c10::IntArrayRef(self.shape()),
                " cannot be expanded to ", c10::IntArrayRef(shape));
    Value* addend = op.broadcast_to(op.convert(self, compute), shape);
    product = b.add(beta.is(1) ? addend : b.multiply(addend, factor("beta")), product);
  }
  op.result(op.convert(product, dtype));
}

void mm(Lowering& op) {
  const Tensor a = op.tensor("self"), b = op.tensor("mat2");
  op.result(op.convert(matrix_product(op, a, b), a.dtype));
}

void bmm(Lowering& op) {
  const Tensor a = op.tensor("self"), b = op.tensor("mat2");
  op.result(op.convert(batched_product(op, a, b), a.dtype));
}

void addmm(Lowering& op) {
  const Tensor a = op.tensor("mat1");
  add_product(op, matrix_product(op, a, op.tensor("mat2")), a.dtype);
}

void baddbmm(Lowering& op) {
  const Tensor a = op.tensor("batch1");
  add_product(op, batched_product(op, a, op.tensor("batch2")), a.dtype);
}

void addbmm(Lowering& op) {
  const Tensor a = op.tensor("batch1"), b = op.tensor("batch2");
  check_dim(a, 3, op.op_name());
  check_dim(b, 3, op.op_name());
  TORCH_CHECK(a.size(0) == b.size(0) && a.size(2) == b.size(1),
              "batch1 and batch2 must have same number of batches and matching inner sizes, got ",
              c10::IntArrayRef(a.shape()), " and ", c10::IntArrayRef(b.shape()));
  add_product(op, dot(op, a, b, {{}, {}, {0, 2}, {0, 1}}), a.dtype);
}

// The outer product needs no MXU: one product an element, added before the one rounding.
void addr(Lowering& op) {
  Builder& b = op.b;
  const Tensor x = op.tensor("vec1"), y = op.tensor("vec2");
  check_dim(x, 1, op.op_name());
  check_dim(y, 1, op.op_name());
  TORCH_CHECK(x.dtype == y.dtype, "addr: expected both vectors to have the same dtype, but got ",
              c10::toString(x.dtype), " and ", c10::toString(y.dtype));
  const Dims shape = {x.size(0), y.size(0)};
  const DType compute = compute_type(x.dtype);
  Value* product = b.multiply(b.broadcast_in_dim(op.convert(x, compute), shape, {0}),
                              b.broadcast_in_dim(op.convert(y, compute), shape, {1}));
  add_product(op, product, x.dtype);
}

/// sum over the last dimension of a * v: a product with a vector is bound by memory and would leave
/// most of the MXU idle, so the VPU forms it, in the compute type, as XLA does (its pass
/// DotStrengthReduction).
Value* sum_of_products(Lowering& op, Value* a, Value* v, DType dtype) {
  Builder& b = op.b;
  const int64_t last = a->type.rank() - 1;
  Value* row = b.broadcast_in_dim(op.convert(v, compute_type(dtype)), a->type.shape, {last});
  Value* products = b.multiply(op.convert(a, compute_type(dtype)), row);
  return op.reduce(products, tpu::hlo::OpKind::kAdd, {last}, false);
}

Value* matrix_vector(Lowering& op, const Tensor& a, const Tensor& v) {
  check_dim(a, 2, op.op_name());
  check_dim(v, 1, op.op_name());
  TORCH_CHECK(a.size(1) == v.size(0), "size mismatch, got input (", a.size(0), "x", a.size(1),
              "), vec (", v.size(0), ")");
  check_same_dtype(a, v);
  return sum_of_products(op, a.value, v.value, a.dtype);
}

void mv(Lowering& op) {
  const Tensor a = op.tensor("self");
  op.result(op.convert(matrix_vector(op, a, op.tensor("vec")), a.dtype));
}

void addmv(Lowering& op) {
  const Tensor a = op.tensor("mat");
  add_product(op, matrix_vector(op, a, op.tensor("vec")), a.dtype);
}

/// `conjugated`: of the complex conjugate of `left`.
LowerFunction inner_product(std::string_view left, std::string_view right, bool conjugated) {
  return [=](Lowering& op) {
    Tensor a = op.tensor(left);
    const Tensor b = op.tensor(right);
    if (conjugated && c10::isComplexType(a.dtype)) {
      a.value = op.b.complex(op.b.real(a.value), op.b.negate(op.b.imag(a.value)));
    }
    TORCH_CHECK(a.dim() == 1 && b.dim() == 1, "1D tensors expected, but got ", a.dim(), "D and ",
                b.dim(), "D tensors");
    TORCH_CHECK(a.dtype == b.dtype, "dot : expected both vectors to have same dtype, but found ",
                c10::toString(a.dtype), " and ", c10::toString(b.dtype));
    TORCH_CHECK(a.size(0) == b.size(0), "inconsistent tensor size, expected tensor [", a.size(0),
                "] and src [", b.size(0), "] to have the same number of elements, but got ",
                a.size(0), " and ", b.size(0), " elements respectively");
    check_same_dtype(a, b);
    op.result(op.convert(sum_of_products(op, a.value, b.value, a.dtype), a.dtype));
  };
}

// int8 x int8 -> int32, which the MXU has natively.
void int_mm(Lowering& op) {
  const Tensor a = op.tensor("self"), b = op.tensor("mat2");
  TORCH_CHECK(a.dtype == DType::Char && b.dtype == DType::Char,
              "_int_mm expects int8 operands, got ", c10::toString(a.dtype), " and ",
              c10::toString(b.dtype));
  check_dim(a, 2, op.op_name());
  check_dim(b, 2, op.op_name());
  op.result(op.b.dot_general(a.value, b.value, {{}, {}, {1}, {0}}, ElementType::kSI32));
}

}  // namespace

void add_matmul(Table& table) {
  const Table rows = {
      {"mm", mm},
      {"bmm", bmm},
      {"addmm", addmm},
      {"mv", mv},
      {"addmv", addmv},
      {"baddbmm", baddbmm},
      {"addr", addr},
      {"addbmm", addbmm},
      {"dot", inner_product("self", "tensor", false)},
      {"_int_mm", int_mm},
      {"vdot", inner_product("self", "other", true)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
