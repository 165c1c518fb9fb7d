#include "backend/eager/call.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/native/Resize.h>

#include <algorithm>

#include "backend/eager/native_functions.h"
#include "backend/eager/program_cache.h"
#include "backend/eager/stand_in.h"
#include "backend/runtime/device.h"
#include "backend/runtime/settings.h"
#include "emulator/base/seeded_fault.h"

namespace torch_tpu::eager {
namespace {

// Leading words of an argument in the key: tag in the low byte, details above.
enum class Tag : uint64_t {
  kNone = 1,
  kTensor,
  kHostTensor,
  kNumber,
  kPinned,
  kList,
  kInteger,
  kText
};

uint64_t tagged(Tag tag, uint64_t detail = 0) {
  return static_cast<uint64_t>(tag) | detail << 8;
}

uint64_t bits_of(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void push_value(CallKey& key, const aten::ScalarValue& value) {
  key.push(tagged(Tag::kPinned, static_cast<uint64_t>(value.kind)));
  key.push(static_cast<uint64_t>(value.integer));
  key.push(bits_of(value.number.real()));
  key.push(bits_of(value.number.imag()));
}

// [first, last) bytes that the tensor's elements may lie in.
std::pair<const char*, const char*> byte_range(const at::Tensor& tensor) {
  const auto* begin = static_cast<const char*>(tensor.const_data_ptr());
  if (tensor.numel() == 0) return {begin, begin};
  int64_t last = 0;
  for (int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
  return {begin, begin + (last + 1) * static_cast<int64_t>(tensor.itemsize())};
}

bool same_window(const at::Tensor& a, const at::Tensor& b) {
  return a.const_data_ptr() == b.const_data_ptr() && a.dtype() == b.dtype() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

bool ranges_meet(const at::Tensor& a, const at::Tensor& b) {
  const auto [a_begin, a_end] = byte_range(a);
  const auto [b_begin, b_end] = byte_range(b);
  return a_begin < b_end && b_begin < a_end;
}

}  // namespace

aten::ScalarValue scalar_value(const c10::IValue& value) {
  using aten::ScalarValue;
  if (value.isDouble()) return ScalarValue::of(value.toDouble());
  if (value.isBool()) return ScalarValue::of(value.toBool());
  if (value.isComplexDouble()) {
    const auto z = value.toComplexDouble();
    return ScalarValue::of(std::complex<double>(z.real(), z.imag()));
  }
  if (value.isInt()) return ScalarValue::of(value.toInt());
  return ScalarValue::of(value.toScalar().toDouble());
}

aten::ScalarValue host_value(const at::Tensor& tensor) {
  return scalar_value(c10::IValue(tensor.item()));
}

Call::Call(const OperatorInfo& info, c10::ArrayRef<c10::IValue> arguments)
    : info_(info), arguments_(arguments) {
  uint64_t precision = 0;
  if (info.reads_matmul_precision.load(std::memory_order_relaxed)) {
    precision = 1 + static_cast<uint64_t>(runtime::matmul_precision());
  }
  key_.push(uint64_t{info.id} | precision << 32);
  for (size_t i = 0; i < info.kinds.size(); ++i) add_argument(static_cast<int>(i));
  if (!info.written.empty()) relate_operands();
}

void Call::add_argument(int index) {
  const c10::IValue& value = arguments_[index];
  const ArgumentKind kind = info_.kinds[index];
  if (kind == ArgumentKind::kIgnored || kind == ArgumentKind::kGenerator) {
    if (value.isDevice()) runtime::check_device(value.toDevice());
    return;
  }
  if (value.isNone()) {
    key_.push(tagged(Tag::kNone));
    return;
  }
  switch (kind) {
    case ArgumentKind::kTensor:
      return add_tensor(value.toTensor(), index);
    case ArgumentKind::kNumber:
      return add_number(scalar_value(value), index);
    case ArgumentKind::kInteger:
    case ArgumentKind::kDtype:
      key_.push(tagged(Tag::kInteger));
      if (!tpu::seeded("cache.integers_not_in_key")) {
        key_.push(static_cast<uint64_t>(value.toInt()));
      }
      return;
    case ArgumentKind::kBool:
      return key_.push(
          tagged(Tag::kInteger, value.toBool() && !tpu::seeded("cache.bools_not_in_key")));
    case ArgumentKind::kString:
      if (tpu::seeded("cache.texts_not_in_key")) return;
      key_.push(tagged(Tag::kText, value.toStringRef().size()));
      for (char c : value.toStringRef()) key_.push(static_cast<uint64_t>(c));
      return;
    default:
      return add_list(value, index);
  }
}

void Call::add_list(const c10::IValue& list, int argument) {
  switch (info_.kinds[argument]) {
    case ArgumentKind::kTensorList: {
      const auto items = list.toListRef();
      key_.push(tagged(Tag::kList, items.size()));
      for (const c10::IValue& item : items) {
        if (item.isNone()) {
          key_.push(tagged(Tag::kNone));
        } else {
          add_tensor(item.toTensor(), argument);
        }
      }
      return;
    }
    case ArgumentKind::kIntegerList:
      if (list.isInt()) {
        key_.push(tagged(Tag::kList, 1));
        key_.push(static_cast<uint64_t>(list.toInt()));
        return;
      }
      [[fallthrough]];
    case ArgumentKind::kBoolList:
    case ArgumentKind::kNumberList: {
      const auto values = list.toList();
      key_.push(tagged(Tag::kList, values.size()));
      if (tpu::seeded("cache.lists_not_in_key")) return;
      for (size_t i = 0; i < values.size(); ++i) push_value(key_, scalar_value(values.get(i)));
      return;
    }
    default:
      TORCH_INTERNAL_ASSERT(false, info_.name, ": argument ", argument, " is no list");
  }
}

void Call::add_tensor(const at::Tensor& tensor, int argument) {
  if (!tensor.defined()) {
    key_.push(tagged(Tag::kNone));
    return;
  }
  const uint64_t dtype = static_cast<uint64_t>(tensor.scalar_type());
  const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
  const bool is_written =
      std::find(info_.written.begin(), info_.written.end(), argument) != info_.written.end();
  if (tensor.device().type() != runtime::kDeviceType) {
    TORCH_CHECK(tensor.device().is_cpu() && tensor.dim() == 0 && !is_written,
                "Expected all tensors to be on the same device, but found at least two devices, "
                "tpu:0 and ",
                tensor.device(), "! (argument '", info_.names[argument], "' of ", info_.name, ")");
    key_.push(tagged(Tag::kHostTensor, dtype | uint64_t{wrapped} << 8));
    numbers_.push_back({host_value(tensor), argument});
    return;
  }
  const bool contiguous = tensor.is_contiguous();
  key_.push(tagged(Tag::kTensor, dtype | uint64_t{wrapped} << 8 | uint64_t{contiguous} << 9 |
                                     static_cast<uint64_t>(tensor.dim()) << 16));
  key_.push_all(tensor.sizes());
  if (!contiguous && !tpu::seeded("cache.strides_not_in_key")) key_.push_all(tensor.strides());
  if (is_written) written_operands_.push_back(static_cast<int>(operands_.size()));
  operands_.push_back(&tensor);
  operand_arguments_.push_back(argument);
}

void Call::add_number(aten::ScalarValue value, int argument) {
  if (info_.pinned.load(std::memory_order_relaxed) >> argument & 1) {
    if (!tpu::seeded("cache.numbers_not_in_key")) push_value(key_, value);
  } else {
    key_.push(tagged(Tag::kNumber, static_cast<uint64_t>(value.kind)));
  }
  numbers_.push_back({value, argument});
}

// Compares every operand with the written ones: the very same window becomes one program
// parameter, a partial overlap is PyTorch's error, and windows that only may interleave are
// computed aside.
void Call::relate_operands() {
  twins_.assign(operands_.size(), -1);
  for (int w : written_operands_) {
    const at::Tensor& target = *operands_[w];
    at::assert_no_internal_overlap(target);
    for (int i = 0; i < static_cast<int>(operands_.size()); ++i) {
      if (i == w || !operands_[i]->is_alias_of(target)) continue;
      if (same_window(*operands_[i], target)) {
        twins_[std::max(i, w)] = std::min(i, w);
        key_.push(tagged(Tag::kInteger, static_cast<uint64_t>(i) << 16 | w << 1));
      } else if (ranges_meet(*operands_[i], target)) {
        at::assert_no_partial_overlap(*operands_[i], target);
        if (!is_hazardous(w)) hazards_.push_back(w);
        key_.push(tagged(Tag::kInteger, static_cast<uint64_t>(i) << 16 | w << 1 | 1));
      }
    }
  }
}

namespace {

// Both operators that take masks have (self, indices, ...).
void replace_masks(c10::IValue* arguments) {
  arguments[1] = positions_of_masks(arguments[1].toOptionalTensorList(), arguments[0].toTensor());
}

bool is_lazy(const c10::IValue& value) {
  constexpr c10::DispatchKeySet kLazy({c10::DispatchKey::Conjugate, c10::DispatchKey::Negative});
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().key_set().has_any(kLazy);
}

c10::IValue resolve(const c10::IValue& value) {
  return value.toTensor().resolve_conj().resolve_neg();
}

}  // namespace

FreshResults execute(const OperatorInfo& info, std::span<c10::IValue> values) {
  if (std::ranges::any_of(values, is_lazy)) {
    // PyTorch lets some operators (dot, mm) see lazy conjugates, in case they know what to do.
    c10::SmallVector<c10::IValue, 8> resolved;
    for (const c10::IValue& value : values)
      resolved.push_back(is_lazy(value) ? resolve(value) : value);
    return execute(info, {resolved.data(), resolved.size()});
  }
  const c10::ArrayRef<c10::IValue> arguments(values.data(), values.size());
  return runtime::translating([&] {
    if (info.def->takes_masks) replace_masks(values.data());
    for (;;) {
      Call call(info, arguments);
      ProgramCache& cache = ProgramCache::instance();
      Program* program = cache.find(call.key());
      if (!program) {
        check_written(info, arguments);
        std::unique_ptr<Program> lowered = lower(call);
        // Lowering may have read a number and so extended the key.
        program = cache.insert(Call(info, arguments).key(), std::move(lowered));
      }
      if (program->resize_operands.empty()) return launch(call, *program);
      for (int result : program->resize_operands) {
        const at::Tensor& out = *call.operands()[program->targets[result].index];
        at::native::resize_output(out, program->specs[result].sizes);
      }
    }
  });
}

void run(const OperatorInfo& info, torch::jit::Stack& stack) {
  const size_t count = info.kinds.size();
  c10::IValue* arguments = stack.data() + stack.size() - count;
  FreshResults fresh = execute(info, {arguments, count});
  c10::SmallVector<c10::IValue, 4> returns;
  size_t next = 0;
  for (int aliased : info.returned_argument) {
    returns.emplace_back(aliased >= 0 ? arguments[aliased] : c10::IValue(std::move(fresh[next++])));
  }
  torch::jit::drop(stack, count);
  for (c10::IValue& value : returns) stack.push_back(std::move(value));
}

}  // namespace torch_tpu::eager
