// Which kernel runs which op. Built-in kernels are in tables here; others register by name.
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/gather.h"
#include "emulator/compiler/kernels/kernel.h"
#include "emulator/compiler/kernels/reduce_window.h"
#include "emulator/compiler/kernels/scatter.h"
#include "emulator/compiler/kernels/select_and_scatter.h"
#include "emulator/compiler/kernels/sort.h"

#if __has_include("emulator/tensorcore/mxu/mxu_kernels.h")
#include "emulator/tensorcore/mxu/mxu_kernels.h"
#define TPU_HAS_MXU_KERNELS 1
#endif

namespace tpu::compiler {
namespace {

using hlo::OpKind;

struct OpEntry {
  OpKind kind;
  Kernel kernel;
};

constexpr std::array kOps = {
    OpEntry{OpKind::kBroadcastInDim, kernels::broadcast_in_dim},
    OpEntry{OpKind::kConcatenate, kernels::concatenate},
    OpEntry{OpKind::kDynamicSlice, kernels::dynamic_slice},
    OpEntry{OpKind::kDynamicUpdateSlice, kernels::dynamic_update_slice},
    OpEntry{OpKind::kGather, kernels::gather},
    OpEntry{OpKind::kPad, kernels::pad},
    OpEntry{OpKind::kReduceWindow, kernels::reduce_window},
    OpEntry{OpKind::kReverse, kernels::reverse},
    OpEntry{OpKind::kScatter, kernels::scatter},
    OpEntry{OpKind::kSelectAndScatter, kernels::select_and_scatter},
    OpEntry{OpKind::kSlice, kernels::slice},
    OpEntry{OpKind::kSort, kernels::sort},
    OpEntry{OpKind::kTranspose, kernels::transpose},
};

// Custom calls by target. The runtime's owner of the names: filled at start-up, read ever after.
class CustomCalls {
 public:
  static CustomCalls& instance() {
    static CustomCalls* table = new CustomCalls;  // never destroyed: threads may outlive statics
    return *table;
  }

  Kernel find(std::string_view target) {
    std::lock_guard lock(mutex_);
    const auto found = table_.find(target);
    return found == table_.end() ? nullptr : found->second;
  }

  void add(std::string_view target, Kernel kernel) {
    std::lock_guard lock(mutex_);
    table_.insert_or_assign(std::string(target), kernel);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Kernel, std::less<>> table_;
};

}  // namespace

Kernel find_kernel(OpKind kind) {
  for (const OpEntry& entry : kOps) {
    if (entry.kind == kind) return entry.kernel;
  }
  return nullptr;
}

Kernel find_custom_call(std::string_view target) {
  return CustomCalls::instance().find(target);
}

void register_custom_call(std::string_view target, Kernel kernel) {
  CustomCalls::instance().add(target, kernel);
}

}  // namespace tpu::compiler
