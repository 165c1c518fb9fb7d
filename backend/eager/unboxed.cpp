#include "backend/eager/unboxed.h"

#include <ATen/core/jit_type.h>

#include <array>

#include "backend/eager/call.h"

namespace torch_tpu::eager {
namespace {

using at::Scalar;
using at::Tensor;
using c10::TypeKind;

// Arguments as the generic kernel takes them; tensors are borrowed.
template <size_t kCount>
class Arguments {
 public:
  template <class... Args>
  explicit Arguments(const Args&... args) : values_{value_of(args)...} {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (c10::IValue& value : values_) {
      if (value.isTensor()) std::move(value).toTensor().unsafeReleaseTensorImpl();
    }
  }

  std::span<c10::IValue> values() { return values_; }

 private:
  static c10::IValue value_of(const Tensor& tensor) {
    return c10::MaybeOwnedTraits<Tensor>::createBorrow(tensor);
  }
  template <class T>
  static c10::IValue value_of(const T& value) {
    return value;
  }

  std::array<c10::IValue, kCount> values_;
};

template <class... Args>
struct Functional {
  std::shared_ptr<const OperatorInfo> info;
  Tensor operator()(Args... args) const {
    Arguments<sizeof...(Args)> arguments(args...);
    return std::move(execute(*info, arguments.values()).front());
  }
};

template <class... Args>
struct InPlace {
  std::shared_ptr<const OperatorInfo> info;
  Tensor& operator()(Tensor& self, Args... args) const {
    Arguments<1 + sizeof...(Args)> arguments(self, args...);
    execute(*info, arguments.values());
    return self;
  }
};

// Whether a schema's argument reaches C++ as T.
template <class T>
bool is_a(const c10::Argument& argument);
template <>
bool is_a<const Tensor&>(const c10::Argument& argument) {
  return argument.real_type()->kind() == TypeKind::TensorType && !argument.alias_info();
}
template <>
bool is_a<const Scalar&>(const c10::Argument& argument) {
  return argument.real_type()->kind() == TypeKind::NumberType;
}
template <>
bool is_a<int64_t>(const c10::Argument& argument) {
  return argument.real_type()->kind() == TypeKind::IntType;
}
template <>
bool is_a<bool>(const c10::Argument& argument) {
  return argument.real_type()->kind() == TypeKind::BoolType;
}

template <class... Args>
bool arguments_are(const c10::FunctionSchema& schema, size_t first) {
  return schema.arguments().size() == first + sizeof...(Args) &&
         (is_a<Args>(schema.arguments()[first++]) && ...);
}

bool is_functional(const OperatorInfo& info) {
  return info.written.empty() && info.schema->returns().size() == 1 &&
         info.schema->returns()[0].real_type()->kind() == TypeKind::TensorType;
}
bool is_in_place(const OperatorInfo& info) {
  return info.written == std::vector{0} && !info.out_variant &&
         info.returned_argument == std::vector{0} &&
         info.schema->arguments()[0].real_type()->kind() == TypeKind::TensorType;
}

using Make = std::optional<torch::CppFunction> (*)(const std::shared_ptr<const OperatorInfo>&);

template <class... Args>
std::optional<torch::CppFunction> functional(const std::shared_ptr<const OperatorInfo>& info) {
  if (!is_functional(*info) || !arguments_are<Args...>(*info->schema, 0)) return std::nullopt;
  return torch::CppFunction(Functional<Args...>{info});
}

template <class... Args>
std::optional<torch::CppFunction> in_place(const std::shared_ptr<const OperatorInfo>& info) {
  if (!is_in_place(*info) || !arguments_are<Args...>(*info->schema, 1)) return std::nullopt;
  return torch::CppFunction(InPlace<Args...>{info});
}

// Those of PyTorch's pointwise operators, products and softmax.
constexpr Make kSignatures[] = {
    functional<const Tensor&>,
    functional<const Tensor&, const Tensor&>,
    functional<const Tensor&, const Tensor&, const Tensor&>,
    functional<const Tensor&, const Scalar&>,
    functional<const Tensor&, const Scalar&, const Scalar&>,
    functional<const Tensor&, const Tensor&, const Scalar&>,
    functional<const Tensor&, const Tensor&, const Tensor&, const Scalar&>,
    functional<const Tensor&, const Tensor&, const Tensor&, const Scalar&, const Scalar&>,
    functional<const Tensor&, int64_t, bool>,
    in_place<>,
    in_place<const Tensor&>,
    in_place<const Tensor&, const Tensor&>,
    in_place<const Scalar&>,
    in_place<const Scalar&, const Scalar&>,
    in_place<const Tensor&, const Scalar&>,
    in_place<const Tensor&, const Tensor&, const Scalar&>,
};

}  // namespace

std::optional<torch::CppFunction> unboxed_kernel(std::shared_ptr<const OperatorInfo> info) {
  for (Make make : kSignatures) {
    if (auto kernel = make(info)) return kernel;
  }
  return std::nullopt;
}

}  // namespace torch_tpu::eager
