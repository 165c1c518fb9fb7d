#include "testing/operators/call.h"

#include <ATen/core/Generator.h>

#include <array>
#include <functional>
#include <optional>

#include "testing/faults/fault.h"
#include "testing/runtime/generator.h"
#include "testing/runtime/memory.h"

namespace mock {
namespace {

using Tensors = std::vector<at::Tensor>;
using MaybeTensors = c10::List<std::optional<at::Tensor>>;
using Map = std::function<at::Tensor(const at::Tensor&)>;

// `value` with `map` applied to each tensor in it.
c10::IValue with_tensors(const c10::IValue& value, const Map& map) {
  if (value.isTensor()) return value.toTensor().defined() ? map(value.toTensor()) : value;
  if (value.isTensorList()) {
    Tensors mapped;
    for (const at::Tensor& tensor : value.toTensorVector()) mapped.push_back(map(tensor));
    return mapped;
  }
  if (value.isOptionalTensorList()) {
    MaybeTensors mapped;
    for (const std::optional<at::Tensor>& item : value.toOptionalTensorVector()) {
      const bool there = item.has_value() && item->defined();
      mapped.push_back(there ? std::optional(map(*item)) : std::nullopt);
    }
    return mapped;
  }
  return value;
}

Tensors tensors_of(const std::vector<c10::IValue>& values) {
  Tensors found;
  for (const c10::IValue& value : values) {
    with_tensors(value, [&](const at::Tensor& tensor) {
      found.push_back(tensor);
      return tensor;
    });
  }
  return found;
}

// Operators that take indices or sizes from the host, as on every accelerator.
bool takes_host_tensors(std::string_view name) {
  constexpr std::array kNames = {"index.",        "index_put",    "_index_put",
                                 "_unsafe_index", "tensor_split", "_copy_from",
                                 "copy_",         "_nested",      "_assert"};
  for (const char* prefix : kNames) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

std::string overload(const c10::OperatorName& name) {
  const std::string base = name.name.substr(name.name.find("::") + 2);
  return name.overload_name.empty() ? base : base + "." + name.overload_name;
}

}  // namespace

Call::Call(const c10::OperatorHandle& op, torch::jit::Stack& stack)
    : op_(op), name_(overload(op.operator_name())) {
  take_arguments(stack);
}

void Call::take_arguments(torch::jit::Stack& stack) {
  const auto& wanted = schema().arguments();
  const auto given = torch::jit::last(stack, wanted.size()).vec();
  torch::jit::drop(stack, wanted.size());
  arguments_ = given;
  check_devices();
  for (size_t i = 0; i < given.size(); ++i) {
    c10::IValue& value = arguments_[i];
    const bool generator = wanted[i].type()->str().find("Generator") != std::string::npos;
    if (value.isDevice() && value.toDevice().type() == kDeviceType) {
      TORCH_CHECK_VALUE(value.toDevice().index() <= 0 || is_on("device.index.unchecked"),
                        "there is one mock device, number 0; got ", value.toDevice());
      value = c10::Device(c10::kCPU);
    } else if (generator) {
      value = host_generator(value.isNone() ? std::nullopt
                                            : std::optional<at::Generator>(value.toGenerator()));
    } else {
      value = with_tensors(value, [this](const at::Tensor& tensor) {
        return is_mock(tensor) ? twins_.host(tensor) : tensor;
      });
    }
  }
}

// Operands on the host are numbers at best; anything else would be a silent copy.
void Call::check_devices() const {
  if (takes_host_tensors(name_)) return;
  const Tensors operands = tensors_of(arguments_);
  bool any = false;
  for (const at::Tensor& tensor : operands) any = any || is_mock(tensor);
  for (const at::Tensor& tensor : operands) {
    TORCH_CHECK(!any || is_mock(tensor) || tensor.dim() == 0,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                device(), " and ", tensor.device(), "! (when checking arguments of ", name_, ")");
  }
}

c10::IValue* Call::find(std::string_view argument) {
  const std::optional<int> index = schema().argumentIndexWithName(argument);
  return index ? &arguments_[static_cast<size_t>(*index)] : nullptr;
}

c10::IValue& Call::argument(std::string_view name) {
  c10::IValue* value = find(name);
  TORCH_CHECK(value != nullptr, name_, " has no argument ", name);
  return *value;
}

at::Tensor Call::tensor(std::string_view name) {
  c10::IValue* value = find(name);
  return value != nullptr && value->isTensor() ? value->toTensor() : at::Tensor();
}

std::vector<at::Tensor> Call::operands() const {
  return tensors_of(arguments_);
}

void Call::run() {
  torch::jit::Stack stack(arguments_.begin(), arguments_.end());
  op_.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  returned_.assign(stack.begin(), stack.end());
}

std::vector<at::Tensor> Call::results() const {
  return tensors_of(returned_);
}

void Call::finish(torch::jit::Stack& stack) {
  twins_.write_back();
  for (const c10::IValue& value : returned_) {
    stack.push_back(
        with_tensors(value, [this](const at::Tensor& tensor) { return twins_.device(tensor); }));
  }
}

}  // namespace mock
