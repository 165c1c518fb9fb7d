#include "testing/faults/fault.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>

#include "testing/faults/tables.h"
#include "testing/operators/call.h"

namespace mock {
namespace {

std::atomic<const Fault*> active = nullptr;

// add_.Tensor and add.out are add.
std::string base_name(const std::string& overload) {
  std::string base = overload.substr(0, overload.find('.'));
  const bool in_place = base.size() > 2 && base.back() == '_' && base[base.size() - 2] != '_';
  if (in_place) base.pop_back();
  return base;
}

std::vector<Fault> join() {
  std::vector<Fault> faults;
  for (const auto table :
       {operand_faults, axis_faults, tail_faults, accumulation_faults, layout_faults, view_faults,
        write_faults, stale_faults, dtype_faults, nan_faults, order_faults, rounding_faults,
        special_value_faults, random_faults, error_faults, copy_faults, gradient_faults,
        hidden_faults, runtime_faults}) {
    for (Fault& fault : table()) faults.push_back(std::move(fault));
  }
  return faults;
}

}  // namespace

const std::vector<Fault>& all_faults() {
  static const auto* faults = new std::vector<Fault>(join());
  return *faults;
}

void switch_on(const std::string& name) {
  const auto& faults = all_faults();
  const auto found =
      std::ranges::find_if(faults, [&](const Fault& fault) { return fault.name() == name; });
  TORCH_CHECK_VALUE(name.empty() || found != faults.end(), "there is no fault '", name, "'");
  active = name.empty() ? nullptr : &*found;
}

bool is_on(std::string_view name) {
  const Fault* fault = active.load(std::memory_order_relaxed);
  return fault != nullptr && fault->name() == name;
}

const Fault* fault_of(const std::string& overload) {
  const Fault* fault = active.load(std::memory_order_relaxed);
  if (fault == nullptr || !fault->change) return nullptr;
  const std::string base = base_name(overload);
  for (const std::string& op : fault->operators) {
    if (op == "*" || op == base || op == overload) return fault;
  }
  return nullptr;
}

void carry_out(Call& call) {
  const Fault* fault = fault_of(call.name());
  if (fault != nullptr) {
    fault->change(call);
  } else {
    call.run();
  }
}

}  // namespace mock
