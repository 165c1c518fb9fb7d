#include "backend/runtime/settings.h"

#include <atomic>

namespace torch_tpu::runtime {
namespace {

using at::Float32MatmulPrecision;

constexpr int kNone = -1;
std::atomic<int> precision_override{kNone};
std::atomic<bool> precision_chosen{false};
std::atomic<bool> excess_precision{false};

}  // namespace

Float32MatmulPrecision matmul_precision() {
  const int forced = precision_override.load(std::memory_order_relaxed);
  if (forced != kNone) return static_cast<Float32MatmulPrecision>(forced);
  const Float32MatmulPrecision global = at::globalContext().float32MatmulPrecision();
  // PyTorch's default is HIGHEST; any other value was somebody's choice.
  if (global != Float32MatmulPrecision::HIGHEST || matmul_precision_chosen()) return global;
  return Float32MatmulPrecision::MEDIUM;
}

void set_matmul_precision_override(std::optional<Float32MatmulPrecision> precision) {
  precision_override.store(precision ? static_cast<int>(*precision) : kNone,
                           std::memory_order_relaxed);
}

std::optional<Float32MatmulPrecision> matmul_precision_override() {
  const int forced = precision_override.load(std::memory_order_relaxed);
  if (forced == kNone) return std::nullopt;
  return static_cast<Float32MatmulPrecision>(forced);
}

void set_matmul_precision_chosen() {
  precision_chosen.store(true, std::memory_order_relaxed);
}
bool matmul_precision_chosen() {
  return precision_chosen.load(std::memory_order_relaxed);
}

bool allow_excess_precision() {
  return excess_precision.load(std::memory_order_relaxed);
}
void set_allow_excess_precision(bool allow) {
  excess_precision.store(allow, std::memory_order_relaxed);
}

}  // namespace torch_tpu::runtime
