#include "cpp/trial.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <cmath>

#include "core/comparison.h"

namespace conformance {
namespace {

// Runs with disturbed operands that the spread is estimated from.
constexpr int kRuns = 6;

std::string name_of(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    case at::kInt:
      return "int32";
    case at::kBool:
      return "bool";
    default:
      TORCH_CHECK(false, "no case has results of dtype ", dtype);
  }
}

at::Tensor wide(const at::Tensor& tensor) {
  return tensor.is_floating_point() ? tensor.to(at::kDouble) : tensor;
}

// Each element off by a rounding of its dtype, at random.
at::Tensor disturbed(const at::Tensor& tensor, double roundoff, at::Generator& generator) {
  if (!tensor.is_floating_point()) return tensor;
  const at::Tensor signs = at::empty(tensor.sizes(), at::kDouble).uniform_(-1, 1, generator);
  return tensor.to(at::kDouble) * (1 + roundoff * signs);
}

// How far rounding errors in operands and sums move each result: docs/tolerances.md, "spread".
Tensors spread_of(const Function& function, const Tensors& operands, const Tensors& exact,
                  double roundoff, const Rounding& rounding) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
  generator.set_current_seed(7);
  const double amount = roundoff * std::sqrt(static_cast<double>(rounding.terms));
  Tensors spread;
  for (const at::Tensor& reference : exact) {
    spread.push_back(at::zeros(reference.sizes(), at::kDouble));
  }
  for (int run = 0; run < kRuns; ++run) {
    Tensors moved;
    for (const at::Tensor& operand : operands) {
      moved.push_back(disturbed(operand, amount, generator));
    }
    const Tensors results = function(moved);
    for (size_t i = 0; i < exact.size(); ++i) {
      if (!exact[i].is_floating_point()) continue;
      spread[i] = at::maximum(spread[i], (results[i] - exact[i]).abs().nan_to_num(0, 0, 0));
    }
  }
  if (!rounding.inside) return spread;
  const Tensors inside = rounding.inside(operands);
  for (size_t i = 0; i < spread.size(); ++i) spread[i] = spread[i] + inside[i] * roundoff;
  return spread;
}

template <typename T>
std::vector<T> values_of(const at::Tensor& tensor, at::ScalarType dtype) {
  const at::Tensor dense = tensor.to(at::kCPU).to(dtype).contiguous();
  const T* data = dense.const_data_ptr<T>();
  return {data, data + dense.numel()};
}

std::string sizes_text(const at::Tensor& tensor) {
  return c10::str(tensor.sizes());
}

}  // namespace

at::Tensor Trial::upload(const at::Tensor& tensor) const {
  const at::Tensor whole = at::empty(0, tensor.options()).set_(tensor.storage());
  return whole.to(device_).as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

void Trial::require(bool holds, const std::string& cause, const std::string& message) const {
  if (!holds) throw CheckError(cause, message);
}

void Trial::check(const Function& function, const Tensors& operands, const Rounding& rounding) {
  const Tensors expected = function(operands);
  Tensors moved, exact_operands;
  double roundoff = 0x1p-24;
  for (const at::Tensor& operand : operands) {
    moved.push_back(upload(operand));
    exact_operands.push_back(wide(operand));
    const auto element = find_element(name_of(operand.scalar_type()));
    if (element && element->kind == Kind::kFloat) roundoff = element->unit_roundoff;
  }
  if (rounding.product) roundoff = std::max(roundoff, product_roundoff_);
  const Tensors got = function(moved);
  const Tensors exact = function(exact_operands);
  const Tensors spread = spread_of(function, exact_operands, exact, roundoff, rounding);
  require(got.size() == expected.size(), "type",
          c10::str(got.size(), " results, expected ", expected.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string label = c10::str("result ", i);
    require(got[i].device().type() == device_.type(), "device",
            c10::str(label, " is on ", got[i].device()));
    require(
        got[i].scalar_type() == expected[i].scalar_type(), "dtype",
        c10::str(label, " is ", got[i].scalar_type(), ", expected ", expected[i].scalar_type()));
    require(got[i].sizes() == expected[i].sizes(), "shape",
            label + " has shape " + sizes_text(got[i]) + ", expected " + sizes_text(expected[i]));
    compare(got[i], exact[i], spread[i], label);
  }
}

void Trial::equal(const at::Tensor& got, const at::Tensor& want, const std::string& label) {
  require(got.scalar_type() == want.scalar_type(), "dtype",
          c10::str(label, " is ", got.scalar_type(), ", expected ", want.scalar_type()));
  require(got.sizes() == want.sizes(), "shape",
          label + " has shape " + sizes_text(got) + ", expected " + sizes_text(want));
  const at::Tensor host = got.to(at::kCPU);
  require(at::equal(host, want), "value",
          c10::str(label, " is ", host.to(at::kDouble).flatten().slice(0, 0, 8), ", expected ",
                   want.to(at::kDouble).flatten().slice(0, 0, 8)));
}

void Trial::raises(const std::function<void()>& call) {
  try {
    call();
    c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(0);
  } catch (const c10::NotImplementedError&) {
    throw;
  } catch (const std::exception& error) {
    require(error.what()[0] != '\0', "error", "an error without a text");
    return;
  }
  throw CheckError("error", "raised nothing, expected an error");
}

void Trial::compare(const at::Tensor& got, const at::Tensor& exact, const at::Tensor& spread,
                    const std::string& label) {
  Comparison comparison;
  if (got.is_floating_point()) {
    comparison = compare_reals(
        *find_element(name_of(got.scalar_type())), values_of<double>(got, at::kDouble),
        values_of<double>(exact, at::kDouble), values_of<double>(spread, at::kDouble));
  } else {
    comparison = compare_integers(values_of<int64_t>(got, at::kLong),
                                  values_of<int64_t>(exact, at::kLong), {});
  }
  margin_ = std::max(margin_, comparison.margin);
  require(comparison.margin <= 1, "value",
          c10::str(label, " ", comparison.note, " (margin ", comparison.margin, ")"));
}

at::Tensor numbers(at::IntArrayRef shape, at::ScalarType dtype, int64_t start) {
  const int64_t count = c10::multiply_integers(shape);
  const at::Tensor values = at::arange(start, start + count, at::kLong);
  return (dtype == at::kBool ? values.remainder(3).ne(0) : values.to(dtype)).view(shape);
}

at::Tensor noise(at::IntArrayRef shape, at::ScalarType dtype, uint64_t seed) {
  at::Generator generator = at::globalContext().defaultGenerator(at::kCPU).clone();
  generator.set_current_seed(seed);
  return at::empty(shape, at::kDouble).normal_(0, 1, generator).to(dtype);
}

}  // namespace conformance
