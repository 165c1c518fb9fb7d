#include "emulator/compiler/passes/kernel_builder.h"

#include <algorithm>
#include <deque>

#include "emulator/compiler/passes/kernel_attempt.h"
#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {
namespace {

using hlo::Dims;
using hlo::Op;
using hlo::Value;

constexpr int kMaxVariables = 24;
constexpr int kMaxPieces = 16;

Domain domain_of(std::span<const int64_t> shape) {
  Domain domain;
  for (int64_t size : shape) domain.dims.push_back({{size, size, 0}});
  return domain;
}

// Cuts variable `split.variable` in two.
bool split_variable(Domain& domain, SplitRequest split) {
  if (domain.variables().size() >= kMaxVariables) return false;
  int variable = split.variable;
  for (auto& dim : domain.dims) {
    if (variable >= static_cast<int>(dim.size())) {
      variable -= static_cast<int>(dim.size());
      continue;
    }
    const LoopVariable whole = dim[variable];
    dim[variable] = {whole.size / split.inner, whole.radix / split.inner, whole.low / split.inner};
    dim.insert(dim.begin() + variable + 1, {split.inner, split.inner, 0});
    return true;
  }
  return false;
}

LoopVariable& variable_at(Domain& domain, int variable) {
  for (auto& dim : domain.dims) {
    if (variable < static_cast<int>(dim.size())) return dim[variable];
    variable -= static_cast<int>(dim.size());
  }
  return domain.dims.front().front();
}

class GroupBuilder {
 public:
  GroupBuilder(std::span<const Value* const> outputs, const MembershipOf& membership)
      : outputs_(outputs.begin(), outputs.end()), membership_(membership) {
    std::stable_sort(outputs_.begin(), outputs_.end(), [](const Value* a, const Value* b) {
      return a->type.num_elements() > b->type.num_elements();
    });
  }

  std::optional<std::vector<LoopKernel>> build() {
    const Op* def = outputs_[0]->def;
    if (def && membership_(*def) == Membership::kOwned && classify(*def) == OpClass::kUpdate) {
      if (outputs_.size() > 1) return std::nullopt;
      const Op& first = *def;
      const auto run_copy = [&](Attempt& a) { return a.run_update(first, false); };
      const auto run_window = [&](Attempt& a) { return a.run_update(first, true); };
      if (!pieces(domain_of(first.result()->type.shape), run_copy)) return std::nullopt;
      if (!pieces(domain_of(first.operand(1)->type.shape), run_window)) return std::nullopt;
    } else {
      const auto run = [](Attempt& a) { return a.run(); };
      if (!pieces(domain_of(outputs_[0]->type.shape), run)) return std::nullopt;
    }
    return std::move(kernels_);
  }

 private:
  template <class Run>
  bool pieces(Domain whole, const Run& run) {
    std::deque<Domain> work{std::move(whole)};
    int done = 0;
    while (!work.empty()) {
      if (done + static_cast<int>(work.size()) > kMaxPieces) return false;
      Domain domain = std::move(work.front());
      work.pop_front();
      Attempt attempt(domain, outputs_, membership_);
      if (run(attempt)) {
        kernels_.push_back(std::move(attempt.kernel()));
        ++done;
        continue;
      }
      const Stop& stop = attempt.stop();
      if (stop.split) {
        if (!split_variable(domain, *stop.split)) return false;
        work.push_front(std::move(domain));
      } else if (stop.cut) {
        Domain upper = domain;
        const auto [variable, position] = *stop.cut;
        LoopVariable& below = variable_at(domain, variable);
        LoopVariable& above = variable_at(upper, variable);
        above.low += position;
        above.size -= position;
        below.size = position;
        work.push_front(std::move(upper));
        work.push_front(std::move(domain));
      } else if (!stop.inner.empty()) {
        for (int64_t size : stop.inner) domain.dims.push_back({{size, size, 0}});
        work.push_front(std::move(domain));
      } else {
        return false;
      }
    }
    return true;
  }

  std::vector<const Value*> outputs_;
  const MembershipOf& membership_;
  std::vector<LoopKernel> kernels_;
};

}  // namespace

std::optional<std::vector<LoopKernel>> build_kernels(std::span<const Value* const> outputs,
                                                     const MembershipOf& membership) {
  return GroupBuilder(outputs, membership).build();
}

std::optional<LoopKernel> build_copy(const Value* value, const MembershipOf& membership) {
  const Value* outputs[] = {value};
  std::optional<std::vector<LoopKernel>> kernels = build_kernels(outputs, membership);
  if (!kernels || kernels->size() != 1) return std::nullopt;
  return std::move(kernels->front());
}

}  // namespace tpu::compiler
