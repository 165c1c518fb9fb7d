#include "backend/eager/library_operator.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "emulator/base/error.h"
#include "emulator/compiler/kernels/kernel.h"

namespace torch_tpu::eager {
namespace {

using tpu::compiler::ConstView;
using tpu::compiler::KernelCall;

/// While it lives, nothing that watches or changes calls sees those of this thread.
struct PlainDispatch {
  at::AutoDispatchBelowADInplaceOrView below_autograd;
  c10::impl::ExcludeDispatchKeyGuard below_python{
      c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::PythonTLSSnapshot})};
  c10::impl::ExcludeDispatchKeyGuard below_autocast{c10::autocast_dispatch_keyset};
};

// From a program's operands and attributes to arguments ------------------------------------------

at::Tensor tensor_on(const ConstView& view) {
  const auto options = at::TensorOptions().dtype(aten::to_dtype(view.element));
  // Nothing writes an operand: written arguments are copied first.
  return at::from_blob(const_cast<std::byte*>(view.data), view.shape, view.strides, options);
}

c10::IValue number_in(const ConstView& view, bool as_double) {
  const at::Scalar number = tensor_on(view).item();
  return as_double ? c10::IValue(number.toDouble()) : c10::IValue(number);
}

c10::IValue list_in(const tpu::hlo::Attribute& attribute, ArgumentKind kind) {
  if (kind == ArgumentKind::kNumberList) {
    const auto& literal = std::get<tpu::hlo::Literal>(attribute);
    c10::List<double> numbers;
    for (int64_t i = 0; i < literal.type().num_elements(); ++i) {
      numbers.push_back(tpu::hlo::decode_double(literal, i));
    }
    return numbers;
  }
  const auto& values = std::get<tpu::hlo::Dims>(attribute);
  if (kind == ArgumentKind::kIntegerList) return c10::List<int64_t>({values.data(), values.size()});
  c10::List<bool> flags;
  for (int64_t value : values) flags.push_back(value != 0);
  return flags;
}

/// Rebuilds the arguments that Lowering::call_library took apart.
class ArgumentReader {
 public:
  ArgumentReader(const LibraryOperator& op, const KernelCall& call)
      : op_(op),
        call_(call),
        segments_(call.attributes.get<tpu::hlo::Dims>("operand_segment_sizes")),
        wrapped_(call.attributes.get_or<tpu::hlo::Dims>("wrapped_numbers", {})) {}

  torch::jit::Stack read() {
    torch::jit::Stack arguments;
    for (int i = 0; i < op_.num_arguments(); ++i) arguments.push_back(argument(i));
    return arguments;
  }

 private:
  c10::IValue argument(int i) {
    const ArgumentKind kind = op_.info().kinds[i];
    const c10::Argument& schema = op_.info().schema->arguments()[i];
    const tpu::hlo::Attribute* attribute = call_.attributes.find(schema.name());
    const bool optional = schema.type()->kind() == c10::TypeKind::OptionalType;
    switch (kind) {
      case ArgumentKind::kTensor:
        if (segments_[i] == 0) return optional ? c10::IValue() : c10::IValue(at::Tensor());
        return next_tensor();
      case ArgumentKind::kTensorList: {
        if (segments_[i] == 0 && optional) return {};
        c10::List<at::Tensor> tensors;
        for (int64_t n = 0; n < segments_[i]; ++n) tensors.push_back(next_tensor());
        return tensors;
      }
      case ArgumentKind::kNumber:
        if (segments_[i] == 0) return {};
        return number_in(call_.operands[next_++], is_float(schema));
      case ArgumentKind::kGenerator:
        return generator();
      default:
        return attribute ? from_attribute(*attribute, kind) : c10::IValue();
    }
  }

  static c10::IValue from_attribute(const tpu::hlo::Attribute& attribute, ArgumentKind kind) {
    switch (kind) {
      case ArgumentKind::kInteger:
      case ArgumentKind::kDtype:
        return std::get<int64_t>(attribute);
      case ArgumentKind::kBool:
        return std::get<bool>(attribute);
      case ArgumentKind::kString:
        return std::get<std::string>(attribute);
      default:
        return list_in(attribute, kind);
    }
  }

  static bool is_float(const c10::Argument& argument) {
    const c10::Type* type = argument.type().get();
    if (const auto* optional = type->castRaw<c10::OptionalType>()) {
      type = optional->getElementType().get();
    }
    return type->kind() == c10::TypeKind::FloatType;
  }

  at::Tensor next_tensor() {
    at::Tensor tensor = tensor_on(call_.operands[next_]);
    if (std::ranges::find(wrapped_, next_) != wrapped_.end()) {
      tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    }
    ++next_;
    return tensor;
  }

  // PyTorch's kernels draw from a Mersenne Twister. Each call has its own, seeded with the key and
  // counter that the device's Philox stream reserved for it: reproducible from seed and offset.
  c10::IValue generator() const {
    const auto* state = reinterpret_cast<const uint64_t*>(call_.operands.back().data);
    uint64_t seed = state[0] ^ (state[1] * 0x9e3779b97f4a7c15u);
    seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;  // SplitMix64's finaliser
    seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebu;
    return at::detail::createCPUGenerator(seed ^ (seed >> 31));
  }

  const LibraryOperator& op_;
  const KernelCall& call_;
  const tpu::hlo::Dims& segments_;
  tpu::hlo::Dims wrapped_;
  int64_t next_ = 0;
};

void run(const KernelCall& call) {
  const auto& op = LibraryOperator::of(call.attributes.get<std::string>("call_target_name"));
  std::vector<at::ScalarType> dtypes;
  for (const auto& view : call.results) dtypes.push_back(aten::to_dtype(view.element));
  try {
    const auto results = op.call(ArgumentReader(op, call).read(), dtypes, at::kCPU);
    const PlainDispatch plain;
    size_t next = 0;
    for (const at::Tensor& result : results) {
      if (!result.defined()) continue;
      const auto& view = call.results[next++];
      tensor_on({view.element, view.shape, view.strides, view.data}).copy_(result);
    }
  } catch (const c10::IndexError& error) {
    throw tpu::IndexFault(error.what_without_backtrace());
  } catch (const c10::NotImplementedError& error) {
    throw tpu::Unimplemented(error.what_without_backtrace());
  } catch (const c10::Error& error) {
    throw tpu::DeviceError(error.what_without_backtrace());
  }
}

void append(std::vector<at::Tensor>& to, const c10::IValue& value) {
  if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) to.push_back(tensor);
  } else {
    to.push_back(value.toTensor());
  }
}

c10::IValue copy_of(const c10::IValue& value) {
  if (!value.isTensorList()) return value.toTensor().clone();
  c10::List<at::Tensor> copies;
  for (const at::Tensor& tensor : value.toTensorVector()) copies.push_back(tensor.clone());
  return copies;
}

}  // namespace

LibraryOperator::LibraryOperator(const aten::OpDef& def) : handle_(find_operator(def)) {
  info_ = describe(handle_.schema(), def);
  for (const c10::Argument& argument : handle_.schema().arguments()) {
    num_arguments_ += !argument.is_out();
  }
  draws_ = std::ranges::find(info_->kinds, ArgumentKind::kGenerator) != info_->kinds.end();
}

const LibraryOperator& LibraryOperator::of(const aten::OpDef& def) {
  static std::mutex mutex;
  static auto* made = new std::map<const aten::OpDef*, LibraryOperator>;  // threads outlive statics
  const std::lock_guard lock(mutex);
  const auto found = made->find(&def);
  return found != made->end() ? found->second
                              : made->emplace(&def, LibraryOperator(def)).first->second;
}

const LibraryOperator& LibraryOperator::of(std::string_view target) {
  const aten::OpDef* def = aten::find_op(target.substr(target.find('.') + 1));
  TORCH_INTERNAL_ASSERT(def, "the library has no ", target);
  return of(*def);
}

void register_library() {
  tpu::compiler::register_custom_call("aten.*", run);
}

std::vector<at::Tensor> LibraryOperator::call(torch::jit::Stack arguments,
                                              c10::ArrayRef<at::ScalarType> out_dtypes,
                                              c10::Device device) const {
  const PlainDispatch plain;
  std::vector<at::Tensor> results;
  for (int i : info_->written) {
    if (i < num_arguments_) {
      arguments[i] = copy_of(arguments[i]);
    } else {
      const auto options = at::TensorOptions().device(device);
      const size_t number = static_cast<size_t>(i) - static_cast<size_t>(num_arguments_);
      arguments.emplace_back(at::empty({0}, options.dtype(out_dtypes[number])));
    }
    append(results, arguments[i]);
  }
  handle_.callBoxed(arguments);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (info_->returned_argument[i] < 0) append(results, arguments[i]);
  }
  return results;
}

}  // namespace torch_tpu::eager
