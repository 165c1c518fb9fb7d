#include "testing/faults/change.h"

#include <ATen/ATen.h>

#include <map>
#include <mutex>
#include <set>

namespace mock {
namespace {

// State of a change that lives as long as the process; calls come from several threads.
template <typename T>
class Memory {
 public:
  /// The value of the key's first call.
  T first(const std::string& key, const T& value) {
    std::lock_guard lock(mutex_);
    return values_.try_emplace(key, value).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, T> values_;
};

bool is_written(Call& call, size_t argument) {
  const c10::AliasInfo* alias = call.schema().arguments()[argument].alias_info();
  return alias != nullptr && alias->isWrite();
}

// The operator, and the shapes and dtypes of what it reads: what a careless cache would have for
// key.
std::string careless_key(Call& call) {
  std::string key = call.name();
  for (size_t i = 0; i < call.arguments().size(); ++i) {
    const c10::IValue& value = call.arguments()[i];
    std::vector<at::Tensor> read;
    if (value.isTensor() && !is_written(call, i)) read = {value.toTensor()};
    if (value.isTensorList()) read = value.toTensorVector();
    for (const at::Tensor& tensor : read) {
      if (tensor.defined()) key += c10::str(" ", tensor.sizes(), tensor.scalar_type());
    }
  }
  return key;
}

void replace(Call& call, const std::string& argument, const Map& map) {
  c10::IValue* value = call.find(argument);
  if (value == nullptr) return;
  if (value->isTensor() && value->toTensor().defined()) *value = map(value->toTensor());
  if (value->isTensorList()) {
    std::vector<at::Tensor> mapped;
    for (const at::Tensor& tensor : value->toTensorVector()) mapped.push_back(map(tensor));
    *value = mapped;
  }
}

void write(const at::Tensor& to, const at::Tensor& from) {
  if (to.numel() == 0 || !to.sizes().equals(from.sizes())) return;
  to.copy_(from);
}

c10::IValue next(const c10::IValue& value, int64_t rank) {
  const auto after = [rank](int64_t d) { return ((d < 0 ? d + rank : d) + 1) % rank; };
  if (value.isInt()) return after(value.toInt());
  if (value.isIntList()) {
    std::set<int64_t> dimensions;
    for (int64_t d : value.toIntVector()) dimensions.insert(after(d));
    return std::vector<int64_t>(dimensions.begin(), dimensions.end());
  }
  return value;
}

bool on_any_operand(Call& call, const std::function<bool(const at::Tensor&)>& test) {
  for (const at::Tensor& tensor : call.operands()) {
    if (tensor.numel() > 0 && test(tensor)) return true;
  }
  return false;
}

std::vector<Twins>& kept_for_ever() {
  static auto* kept = new std::vector<Twins>;
  return *kept;
}

}  // namespace

Change swapped(std::string a, std::string b) {
  return [=](Call& call) {
    c10::IValue *first = call.find(a), *second = call.find(b);
    const bool there = first != nullptr && second != nullptr;
    const bool tensors = there && first->isTensor() && second->isTensor();
    const bool alike = !tensors || first->toTensor().sizes() == second->toTensor().sizes();
    if (there && alike) std::swap(*first, *second);
    call.run();
  };
}

Change fixed(std::string argument, c10::IValue value) {
  return [=](Call& call) {
    if (c10::IValue* found = call.find(argument)) *found = value;
    call.run();
  };
}

Change remembered(std::string argument) {
  auto memory = std::make_shared<Memory<c10::IValue>>();
  return [=](Call& call) {
    if (c10::IValue* found = call.find(argument)) {
      const c10::IValue now = found->isTensor() ? c10::IValue(found->toTensor().clone()) : *found;
      *found = memory->first(careless_key(call), now);
    }
    call.run();
  };
}

Change number(std::string argument, std::function<double(double)> map) {
  return [=](Call& call) {
    c10::IValue* found = call.find(argument);
    if (found != nullptr && found->isDouble()) *found = map(found->toDouble());
    if (found != nullptr && found->isInt()) *found = static_cast<int64_t>(map(found->toInt()));
    call.run();
  };
}

Change negated(std::string argument) {
  return [=](Call& call) {
    c10::IValue* found = call.find(argument);
    if (found != nullptr && found->isBool()) *found = !found->toBool();
    call.run();
  };
}

Change operand(std::string argument, Map map) {
  return [=](Call& call) {
    replace(call, argument, map);
    call.run();
  };
}

Change operands(Map map) {
  return [=](Call& call) {
    for (size_t i = 0; i < call.arguments().size(); ++i) {
      if (!is_written(call, i)) replace(call, call.schema().arguments()[i].name(), map);
    }
    call.run();
  };
}

Change next_dimension(std::string argument, std::string tensor) {
  return [=](Call& call) {
    c10::IValue* operands = call.find(tensor);
    at::Tensor self = call.tensor(tensor);
    if (operands != nullptr && operands->isTensorList() && !operands->toTensorVector().empty()) {
      self = operands->toTensorVector().front();
    }
    c10::IValue* found = call.find(argument);
    if (found != nullptr && self.defined() && self.dim() > 1) *found = next(*found, self.dim());
    call.run();
  };
}

Change result(Map map, int index) {
  return [=](Call& call) {
    call.run();
    const std::vector<at::Tensor> results = call.results();
    for (size_t i = 0; i < results.size(); ++i) {
      const bool chosen = index < 0 ? results[i].is_floating_point() || results[i].is_complex()
                                    : i == static_cast<size_t>(index);
      if (chosen) write(results[i], map(results[i].clone()));
    }
  };
}

Change any_result(Map map) {
  return [=](Call& call) {
    call.run();
    for (const at::Tensor& tensor : call.results()) write(tensor, map(tensor.clone()));
  };
}

Change remembered_result() {
  auto memory = std::make_shared<Memory<std::vector<at::Tensor>>>();
  return [=](Call& call) {
    const std::string key = careless_key(call);
    call.run();
    const std::vector<at::Tensor> results = call.results();
    std::vector<at::Tensor> copies;
    for (const at::Tensor& tensor : results) copies.push_back(tensor.clone());
    const std::vector<at::Tensor> first = memory->first(key, copies);
    for (size_t i = 0; i < results.size() && i < first.size(); ++i) write(results[i], first[i]);
  };
}

Change tail_lost() {
  return any_result([](const at::Tensor& x) {
    const int64_t count = x.numel(), lost = count > 8 ? count % 8 : 0;
    const at::Tensor flat = x.contiguous().view(-1);
    flat.slice(0, count - lost).zero_();
    return flat.view(x.sizes());
  });
}

Change computed_in(at::ScalarType dtype) {
  return operands([dtype](const at::Tensor& x) {
    const bool narrower = x.scalar_type() != dtype && (x.is_floating_point() || x.dim() > 0);
    return narrower && !x.is_complex() ? x.to(dtype).to(x.scalar_type()) : x;
  });
}

Change when(Test test, Change change) {
  return [=](Call& call) {
    if (test(call)) {
      change(call);
    } else {
      call.run();
    }
  };
}

Change write_lost(std::string argument) {
  return [=](Call& call) {
    const at::Tensor target = call.tensor(argument);
    const at::Tensor before = target.defined() ? target.clone() : target;
    call.run();
    if (target.defined()) write(target, before);
  };
}

Change error_swallowed(std::string argument) {
  return [=](Call& call) {
    const at::Tensor self = call.tensor(argument);
    try {
      call.run();
    } catch (const c10::Error&) {
      const at::Tensor out = call.tensor("out");
      call.returned() = {out.defined() ? out : self.clone()};
    }
  };
}

Change other_error() {
  return [](Call& call) {
    try {
      call.run();
    } catch (const c10::Error& error) {
      TORCH_CHECK_TYPE(false, error.what_without_backtrace());
    }
  };
}

Change poisoned_by_error() {
  auto poisoned = std::make_shared<std::atomic<bool>>(false);
  return [=](Call& call) {
    try {
      call.run();
    } catch (const c10::Error&) {
      *poisoned = true;
      throw;
    }
    if (!*poisoned) return;
    for (const at::Tensor& tensor : call.results()) {
      if (tensor.is_floating_point()) tensor.add_(1);
    }
  };
}

Change leaked() {
  return [](Call& call) {
    call.run();
    kept_for_ever().push_back(call.twins());
  };
}

bool any_strided(Call& call) {
  return on_any_operand(call, [](const at::Tensor& x) { return !x.is_contiguous(); });
}
bool any_offset(Call& call) {
  return on_any_operand(call, [](const at::Tensor& x) { return x.storage_offset() != 0; });
}
bool any_nan(Call& call) {
  return on_any_operand(call, [](const at::Tensor& x) {
    return x.is_floating_point() && x.isnan().any().item<bool>();
  });
}
bool any_expanded(Call& call) {
  return on_any_operand(call, [](const at::Tensor& x) {
    for (int64_t d = 0; d < x.dim(); ++d) {
      if (x.stride(d) == 0 && x.size(d) > 1) return true;
    }
    return false;
  });
}
bool broadcasts(Call& call) {
  const std::vector<at::Tensor> operands = call.operands();
  return on_any_operand(call,
                        [&](const at::Tensor& x) { return x.sizes() != operands.front().sizes(); });
}
bool writes_strided(Call& call) {
  for (size_t i = 0; i < call.arguments().size(); ++i) {
    const c10::IValue& value = call.arguments()[i];
    if (is_written(call, i) && value.isTensor() && !value.toTensor().is_contiguous()) return true;
  }
  return false;
}
Test has_dtype(at::ScalarType dtype) {
  return [dtype](Call& call) {
    return on_any_operand(call, [dtype](const at::Tensor& x) { return x.scalar_type() == dtype; });
  };
}

at::Tensor at_storage_begin(const at::Tensor& x) {
  return x.as_strided(x.sizes(), x.strides(), 0);
}
at::Tensor as_contiguous(const at::Tensor& x) {
  const at::Tensor flat = at::empty(0, x.options()).set_(x.storage());
  if (flat.numel() < x.storage_offset() + x.numel()) return x;
  return flat.slice(0, x.storage_offset(), x.storage_offset() + x.numel()).view(x.sizes());
}
at::Tensor rounded_to_bfloat16(const at::Tensor& x) {
  return x.is_floating_point() ? x.to(at::kBFloat16).to(x.scalar_type()) : x;
}
at::Tensor flushed(const at::Tensor& x) {
  if (!x.is_floating_point()) return x;
  const double smallest = x.scalar_type() == at::kDouble ? 2.2250738585072014e-308 : 1.17549435e-38;
  return at::where(x.abs() < smallest, at::zeros_like(x), x);
}
at::Tensor without_nan(const at::Tensor& x) {
  return x.is_floating_point() ? at::where(x.isnan(), at::zeros_like(x), x) : x;
}
at::Tensor without_sign_of_zero(const at::Tensor& x) {
  return at::where(x == 0, at::zeros_like(x), x);
}
at::Tensor first_row_only(const at::Tensor& x) {
  at::Tensor kept = x.clone();
  if (x.dim() > 0 && x.size(0) > 1) kept.slice(0, 1).zero_();
  return kept;
}

at::Tensor perturbed(const at::Tensor& x) {
  return x * (1 + 0x1p-10);
}

}  // namespace mock
