// Which kernel runs which op. Built-in kernels are in tables here; others register by name.
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/cumulative.h"
#include "emulator/compiler/kernels/fft.h"
#include "emulator/compiler/kernels/gather.h"
#include "emulator/compiler/kernels/kernel.h"
#include "emulator/compiler/kernels/linear_algebra.h"
#include "emulator/compiler/kernels/nonzero.h"
#include "emulator/compiler/kernels/reduce_window.h"
#include "emulator/compiler/kernels/rng_bit_generator.h"
#include "emulator/compiler/kernels/scatter.h"
#include "emulator/compiler/kernels/searchsorted.h"
#include "emulator/compiler/kernels/select_and_scatter.h"
#include "emulator/compiler/kernels/sort.h"
#include "emulator/compiler/kernels/topk.h"
#include "emulator/compiler/kernels/unique.h"
#include "emulator/tensorcore/mxu/mxu_kernels.h"

namespace tpu::compiler {
namespace {

using hlo::OpKind;

struct OpEntry {
  OpKind kind;
  Kernel kernel;
};

constexpr std::array kOps = {
    OpEntry{OpKind::kBroadcastInDim, kernels::broadcast_in_dim},
    OpEntry{OpKind::kCholesky, kernels::cholesky},
    OpEntry{OpKind::kConcatenate, kernels::concatenate},
    OpEntry{OpKind::kConvolution, tensorcore::convolution},
    OpEntry{OpKind::kDotGeneral, tensorcore::dot_general},
    OpEntry{OpKind::kDynamicSlice, kernels::dynamic_slice},
    OpEntry{OpKind::kDynamicUpdateSlice, kernels::dynamic_update_slice},
    OpEntry{OpKind::kFft, kernels::fft},
    OpEntry{OpKind::kGather, kernels::gather},
    OpEntry{OpKind::kPad, kernels::pad},
    OpEntry{OpKind::kReduceWindow, kernels::reduce_window},
    OpEntry{OpKind::kReverse, kernels::reverse},
    OpEntry{OpKind::kRngBitGenerator, kernels::rng_bit_generator},
    OpEntry{OpKind::kScatter, kernels::scatter},
    OpEntry{OpKind::kSelectAndScatter, kernels::select_and_scatter},
    OpEntry{OpKind::kSlice, kernels::slice},
    OpEntry{OpKind::kSort, kernels::sort},
    OpEntry{OpKind::kTranspose, kernels::transpose},
    OpEntry{OpKind::kTriangularSolve, kernels::triangular_solve},
};

struct TargetEntry {
  std::string_view target;
  Kernel kernel;
};

// Described in custom_calls.md.
constexpr std::array kTargets = {
    TargetEntry{"tpu.bincount", kernels::bincount},
    TargetEntry{"tpu.cummax", kernels::cummax},
    TargetEntry{"tpu.cummin", kernels::cummin},
    TargetEntry{"tpu.masked_select", kernels::masked_select},
    TargetEntry{"tpu.nonzero", kernels::nonzero},
    TargetEntry{"tpu.randperm", kernels::randperm},
    TargetEntry{"tpu.searchsorted", kernels::searchsorted},
    TargetEntry{"tpu.select_rank", kernels::select_rank},
    TargetEntry{"tpu.topk", kernels::topk},
    TargetEntry{"tpu.unique", kernels::unique},
    TargetEntry{"tpu.unique_consecutive", kernels::unique_consecutive},
    TargetEntry{"tpu.unique_consecutive_count", kernels::unique_consecutive_count},
    TargetEntry{"tpu.unique_count", kernels::unique_count},
};

// Custom calls by target: the library's own, and those registered at start-up.
class CustomCalls {
 public:
  CustomCalls() {
    for (const TargetEntry& entry : kTargets) table_.emplace(entry.target, entry.kernel);
  }

  static CustomCalls& instance() {
    static CustomCalls* table = new CustomCalls;  // never destroyed: threads may outlive statics
    return *table;
  }

  Kernel find(std::string_view target) {
    std::lock_guard lock(mutex_);
    auto found = table_.find(target);
    if (found == table_.end()) {
      found = table_.find(std::string(target.substr(0, target.find('.') + 1)) + "*");
    }
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
