#include "emulator/compiler/compiled_program.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "emulator/base/error.h"
#include "emulator/base/parallel.h"

namespace tpu::compiler {
namespace {

constexpr size_t kAlignment = 64;
constexpr int64_t kPiecesPerThread = 8;
// Addresses that are kept on the stack; more of them need an allocation.
constexpr size_t kInline = 64;

std::byte* aligned(std::byte* pointer) {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  return pointer + ((address + kAlignment - 1) / kAlignment * kAlignment - address);
}

// Memory that a loop kernel keeps a row's intermediate values in; one a thread, kept for the next.
std::byte* thread_scratch(int64_t bytes) {
  if (bytes == 0) return nullptr;
  thread_local Scratch scratch;
  return scratch.reserve(static_cast<size_t>(bytes));
}

class Runner {
 public:
  explicit Runner(std::byte* const* table) : table_(table) {}

  void operator()(const Program& program) const {
    for (const Step& step : program.steps) {
      std::visit([this](const auto& concrete) { run(concrete); }, step);
    }
  }

 private:
  void run(const LoopStep& step) const {
    std::array<std::byte*, kInline> few;
    std::vector<std::byte*> many;
    std::byte** bases = few.data();
    if (step.bases.size() > kInline) {
      many.resize(step.bases.size());
      bases = many.data();
    }
    for (size_t i = 0; i < step.bases.size(); ++i) bases[i] = step.bases[i].in(table_);
    if (step.units <= step.grain) {
      step.run(bases, 0, step.units, thread_scratch(step.scratch_bytes));
      return;
    }
    // A few pieces a thread even out their speeds; more would only cost.
    const int64_t pieces = int64_t{num_threads()} * kPiecesPerThread;
    const int64_t grain = std::max(step.grain, (step.units + pieces - 1) / pieces);
    parallel_for(step.units, grain, [&](int64_t begin, int64_t end) {
      step.run(bases, begin, end, thread_scratch(step.scratch_bytes));
    });
  }

  void run(const SplitStep& step) const {
    if (num_threads() == 1) return run(step.whole);
    run(step.groups);
    run(step.tree);
  }

  void run(const LibraryStep& step) const {
    std::vector<ConstView> operands;
    std::vector<View> results;
    operands.reserve(step.operands.size());
    results.reserve(step.results.size());
    for (const ArrayAt& array : step.operands) {
      operands.push_back(
          {array.type.element, array.type.shape, array.strides, array.at.in(table_)});
    }
    for (const ArrayAt& array : step.results) {
      results.push_back({array.type.element, array.type.shape, array.strides, array.at.in(table_)});
    }
    step.kernel({.kind = step.kind,
                 .attributes = step.attributes,
                 .operands = operands,
                 .results = results,
                 .regions = step.regions,
                 .region_ops = step.region_ops,
                 .mxu_depth = step.mxu_depth,
                 .region_patterns = step.region_patterns});
  }

  void run(const CopyStep& step) const {
    step.plan->run_parallel(step.from.in(table_), step.to.in(table_));
  }

  void run(const AssertStep& step) const {
    if (*step.condition.in(table_) == std::byte{0}) throw DeviceError(step.message);
  }

  void run(const WhileStep& step) const {
    while (true) {
      (*this)(*step.condition);
      if (*step.predicate.in(table_) == std::byte{0}) return;
      (*this)(*step.body);
    }
  }

  void run(const CaseStep& step) const {
    const int64_t last = static_cast<int64_t>(step.branches.size()) - 1;
    int64_t branch = 0;
    if (step.index_type == hlo::ElementType::kI1) {
      branch = *step.index.in(table_) != std::byte{0} ? 0 : 1;
    } else {
      int32_t index;
      std::memcpy(&index, step.index.in(table_), sizeof index);
      branch = index < 0 || index > last ? last : index;
    }
    (*this)(*step.branches[branch]);
  }

  std::byte* const* table_;
};

}  // namespace

std::string function_name(int i) {
  return "f" + std::to_string(i);
}

std::byte* Scratch::reserve(size_t bytes) {
  if (!storage_ || bytes > capacity_) {
    storage_ = std::make_unique_for_overwrite<std::byte[]>(bytes + kAlignment);
    capacity_ = bytes;
  }
  return aligned(storage_.get());
}

CompiledProgram::CompiledProgram(ProgramImage image) : image_(std::move(image)) {
  if (!image_.object.empty()) object_ = std::make_unique<LoadedObject>(image_.object);
  if (!image_.constants.empty()) {
    constant_storage_ = std::make_unique<std::byte[]>(image_.constants.size() + kAlignment);
    constants_ = aligned(constant_storage_.get());
    std::memcpy(constants_, image_.constants.data(), image_.constants.size());
    constant_bytes_ = image_.constants.size();
    image_.constants = {};  // one copy is enough
  }
  bind(image_.program);
}

void CompiledProgram::bind(Program& program) {
  const auto function = [&](int number) {
    void* address = object_ ? object_->find(function_name(number)) : nullptr;
    if (!address) throw InvalidArgument("object code lacks '" + function_name(number) + "'");
    return address;
  };
  const auto bind_loop = [&](LoopStep& loop) {
    loop.run = reinterpret_cast<LoopFunction>(function(loop.function));
  };
  for (Step& step : program.steps) {
    if (auto* loop = std::get_if<LoopStep>(&step)) {
      bind_loop(*loop);
    } else if (auto* split = std::get_if<SplitStep>(&step)) {
      bind_loop(split->groups);
      bind_loop(split->tree);
      bind_loop(split->whole);
    } else if (auto* library = std::get_if<LibraryStep>(&step)) {
      for (int number : library->region_functions) {
        library->regions.push_back(reinterpret_cast<RegionFunction>(function(number)));
      }
      bind(*library);
    } else if (auto* copy = std::get_if<CopyStep>(&step)) {
      copy->plan.emplace(copy->width, copy->shape, copy->from_strides, copy->to_strides);
    } else if (std::holds_alternative<AssertStep>(step)) {
      may_fault_ = true;
    } else if (auto* loop_of = std::get_if<WhileStep>(&step)) {
      bind(*loop_of->condition);
      bind(*loop_of->body);
    } else if (auto* branches = std::get_if<CaseStep>(&step)) {
      for (auto& branch : branches->branches) bind(*branch);
    }
  }
}

void CompiledProgram::bind(LibraryStep& step) {
  const bool custom = step.kind == hlo::OpKind::kCustomCall;
  step.kernel = custom ? find_custom_call(step.target) : find_kernel(step.kind);
  if (!step.kernel) {
    throw Unimplemented(custom ? "no kernel is registered for custom call '" + step.target + "'"
                               : "no kernel for '" + std::string(hlo::mnemonic(step.kind)) + "'");
  }
  if (custom) may_fault_ = true;
}

void CompiledProgram::run(std::span<const std::byte* const> parameters,
                          std::span<std::byte* const> results, Scratch& scratch) const {
  if (parameters.size() != image_.parameter_types.size() ||
      results.size() != image_.result_types.size()) {
    throw InvalidArgument("the program has " + std::to_string(image_.parameter_types.size()) +
                          " parameters and " + std::to_string(image_.result_types.size()) +
                          " results, got " + std::to_string(parameters.size()) + " and " +
                          std::to_string(results.size()));
  }
  std::array<std::byte*, kInline> few;
  std::vector<std::byte*> many;
  const size_t size = parameters.size() + results.size() + 2;
  std::byte** table = few.data();
  if (size > kInline) {
    many.resize(size);
    table = many.data();
  }
  std::byte** next = table;
  // Generated code never writes a parameter that no result is an alias of.
  for (const std::byte* parameter : parameters) *next++ = const_cast<std::byte*>(parameter);
  for (std::byte* result : results) *next++ = result;
  *next++ = constants_;
  *next++ =
      image_.scratch_bytes ? scratch.reserve(static_cast<size_t>(image_.scratch_bytes)) : nullptr;
  Runner{table}(image_.program);
}

}  // namespace tpu::compiler
