#include "backend/aten/lowering.h"

#include <algorithm>
#include <limits>

namespace torch_tpu::aten {

using tpu::hlo::OpKind;

int Lowering::index_of(std::string_view name) const {
  for (size_t i = 0; i < argument_names_.size(); ++i) {
    if (argument_names_[i] == name) return static_cast<int>(i);
  }
  TORCH_INTERNAL_ASSERT(false, op_name_, ": the schema has no argument '", name, "'");
}

const Argument& Lowering::argument(std::string_view name) const {
  return arguments_[index_of(name)];
}

void Lowering::wrong_kind(std::string_view name, std::string_view expected) const {
  TORCH_INTERNAL_ASSERT(false, op_name_, ": argument '", name, "' is not ", expected);
}

bool Lowering::has(std::string_view name) const {
  const auto at = std::find(argument_names_.begin(), argument_names_.end(), name);
  return at != argument_names_.end() &&
         !std::holds_alternative<None>(arguments_[at - argument_names_.begin()]);
}

Tensor Lowering::tensor(std::string_view name) const {
  if (const auto* t = std::get_if<Tensor>(&argument(name))) return *t;
  if (std::holds_alternative<ScalarArgument>(argument(name))) return scalar(name);
  wrong_kind(name, "a tensor");
}

std::optional<Tensor> Lowering::optional_tensor(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return tensor(name);
}

TensorList Lowering::tensors(std::string_view name) const {
  if (const auto* list = std::get_if<TensorList>(&argument(name))) return *list;
  wrong_kind(name, "a list of tensors");
}

int64_t Lowering::integer(std::string_view name) const {
  if (const auto* i = std::get_if<int64_t>(&argument(name))) return *i;
  wrong_kind(name, "an integer");
}

int64_t Lowering::integer_or(std::string_view name, int64_t fallback) const {
  return has(name) ? integer(name) : fallback;
}

Dims Lowering::integers(std::string_view name) const {
  if (const auto* list = std::get_if<Dims>(&argument(name))) return *list;
  if (const auto* i = std::get_if<int64_t>(&argument(name))) return {*i};
  wrong_kind(name, "a list of integers");
}

std::optional<Dims> Lowering::optional_integers(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return integers(name);
}

bool Lowering::boolean(std::string_view name) const {
  if (const auto* flag = std::get_if<bool>(&argument(name))) return *flag;
  wrong_kind(name, "a bool");
}

std::vector<bool> Lowering::booleans(std::string_view name) const {
  const Dims list = integers(name);
  return {list.begin(), list.end()};
}

std::string Lowering::string(std::string_view name) const {
  if (const auto* text = std::get_if<std::string>(&argument(name))) return *text;
  wrong_kind(name, "a string");
}

std::optional<DType> Lowering::dtype(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  if (const auto* type = std::get_if<DType>(&argument(name))) return *type;
  wrong_kind(name, "a dtype");
}

Tensor Lowering::scalar(std::string_view name) const {
  if (const auto* number = std::get_if<ScalarArgument>(&argument(name))) {
    return {number->value, number->number.carrier(), {}, true, std::string(name)};
  }
  wrong_kind(name, "a number");
}

std::optional<Tensor> Lowering::optional_scalar(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  return scalar(name);
}

ScalarValue::Kind Lowering::scalar_kind(std::string_view name) const {
  if (const auto* number = std::get_if<ScalarArgument>(&argument(name))) return number->number.kind;
  wrong_kind(name, "a number");
}

ScalarValue Lowering::number(std::string_view name) const {
  if (const auto* number = std::get_if<ScalarArgument>(&argument(name))) {
    host_.pin_scalar(index_of(name));
    return number->number;
  }
  wrong_kind(name, "a number");
}

void Lowering::assign(std::string_view name, Value* value) {
  assignments_.emplace_back(index_of(name), value);
}

void Lowering::require_fits(const Tensor& number, DType dtype) {
  if (number.wrapped_number && c10::isIntegralType(number.dtype, false) &&
      c10::isIntegralType(dtype, false) && dtype != DType::Long) {
    host_.require_fits(number.value, dtype);
  }
}

void Lowering::assert_number(std::string_view name, std::string_view direction, double bound,
                             std::string_view message) {
  Value* value = convert(scalar(name), DType::Double);
  b.assert_true(b.compare(value, b.constant(ElementType::kF64, bound), direction), message);
}

Value* Lowering::broadcast_to(Value* x, const Dims& shape) {
  const Dims& from = x->type.shape;
  if (from == shape) return x;
  // StableHLO maps each operand dimension to a result dimension; a size-1 dimension stretches.
  Dims mapping;
  for (size_t i = 0; i < from.size(); ++i) {
    mapping.push_back(static_cast<int64_t>(shape.size() - from.size() + i));
  }
  return b.broadcast_in_dim(x, shape, mapping);
}

Value* Lowering::reduce(Value* x, OpKind combiner, const Dims& dims, bool keepdim) {
  if (dims.empty()) return x;
  Value* init = identity_of(b, combiner, x->type.element);
  Value* reduced = b.reduce({x}, {init}, dims, Builder::combiner(combiner))[0];
  return keepdim ? keep_dims(reduced, x->type.shape, dims) : reduced;
}

Value* Lowering::keep_dims(Value* reduced, const Dims& original_shape, const Dims& dims) {
  Dims shape = original_shape;
  for (int64_t d : dims) shape[d] = 1;
  return b.reshape(reduced, shape);
}

Dims broadcast_shapes(std::span<const Dims> shapes) {
  Dims out;
  for (const Dims& shape : shapes) {
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    const size_t lead = out.size() - shape.size();
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& have = out[lead + i];
      TORCH_CHECK(have == shape[i] || have == 1 || shape[i] == 1, "The size of tensor a (", have,
                  ") must match the size of tensor b (", shape[i], ") at non-singleton dimension ",
                  lead + i);
      if (have == 1) have = shape[i];
    }
  }
  return out;
}

int64_t wrap_dim(int64_t dim, int64_t rank) {
  const int64_t range = std::max<int64_t>(rank, 1);
  TORCH_CHECK_INDEX(dim >= -range && dim < range,
                    "Dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                    "], but got ", dim, ")");
  return dim < 0 ? dim + range : dim;
}

Dims wrap_dims(const std::optional<Dims>& dims, int64_t rank) {
  TORCH_CHECK(rank <= 64, "only tensors with up to 64 dims are supported");
  if (!dims || dims->empty()) return iota_dims(rank);
  Dims out;
  for (int64_t dim : *dims) {
    const int64_t wrapped = wrap_dim(dim, rank);
    TORCH_CHECK(std::find(out.begin(), out.end(), wrapped) == out.end(), "dim ", wrapped,
                " appears multiple times in the list of dims");
    out.push_back(wrapped);
  }
  std::sort(out.begin(), out.end());
  if (rank == 0) out.clear();
  return out;
}

Dims iota_dims(int64_t rank) {
  Dims dims(rank);
  for (int64_t i = 0; i < rank; ++i) dims[i] = i;
  return dims;
}

namespace {

// The largest or smallest value of a type, as maximum's or minimum's identity.
Value* extreme(Builder& b, ElementType type, bool lowest) {
  if (tpu::hlo::is_boolean(type)) return b.constant(type, int64_t{!lowest});
  if (tpu::hlo::is_float(type)) {
    // fp8 formats without infinities saturate in `encode`.
    const double inf = std::numeric_limits<double>::infinity();
    return b.constant(type, lowest ? -inf : inf);
  }
  const int bits = tpu::hlo::bit_width(type);
  if (tpu::hlo::is_unsigned_integer(type))
    return b.constant(type, lowest ? int64_t{0} : int64_t{-1});
  const int64_t low = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return b.constant(type, lowest ? low : ~low);
}

}  // namespace

Value* identity_of(Builder& b, OpKind combiner, ElementType type) {
  switch (combiner) {
    case OpKind::kAdd:
    case OpKind::kOr:
    case OpKind::kXor:
      return b.constant(type, int64_t{0});
    case OpKind::kMultiply:
      return b.constant(type, int64_t{1});
    case OpKind::kAnd:
      return b.constant(type, tpu::hlo::is_boolean(type) ? int64_t{1} : int64_t{-1});
    case OpKind::kMaximum:
      return extreme(b, type, /*lowest=*/true);
    case OpKind::kMinimum:
      return extreme(b, type, /*lowest=*/false);
    default:
      TORCH_INTERNAL_ASSERT(false, "no identity for ", tpu::hlo::mnemonic(combiner));
  }
}

}  // namespace torch_tpu::aten
