// Compiled programs against the evaluator, bit for bit, on random programs.
//
//   TPU_DIFFERENTIAL_PROGRAMS  how many programs (default 3000; 300 under a sanitizer)
//   TPU_DIFFERENTIAL_REPORTS   a directory to write shrunk failing programs to
//   TPU_TEST_SEED              where to start
//   TPU_DIFFERENTIAL_VERBOSE   prints each program's seed before it runs, to find one that crashes
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <mutex>
#include <thread>

#include "emulator/base/error.h"
#include "emulator/base/property.h"
#include "emulator/compiler/compiler.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/testing/compare.h"
#include "emulator/hlo/testing/generator.h"
#include "emulator/hlo/testing/shrink.h"

namespace tpu::compiler {
namespace {

using hlo::Dims;
using hlo::Literal;
using hlo::TensorType;
using hlo::testing::Program;
using hlo::testing::Rng;

// What a run gave: results, or the message of a fault.
struct Outcome {
  std::vector<Literal> results;
  std::string fault;
};

// A strided array in a buffer of its own. Bytes before, between and after the elements hold a
// pattern, which must survive.
class StridedArray {
 public:
  StridedArray(TensorType type, const Dims& strides)
      : type_(std::move(type)),
        strides_(strides.empty() ? hlo::row_major_strides(type_.shape) : strides),
        width_(hlo::byte_width(type_.element)) {
    int64_t extent = type_.num_elements() == 0 ? 0 : 1;
    for (size_t d = 0; d < strides_.size() && extent > 0; ++d) {
      extent += (type_.shape[d] - 1) * strides_[d];
    }
    buffer_.assign(static_cast<size_t>(2 * kGuard + extent * width_), kPattern);
  }

  std::byte* data() { return buffer_.data() + kGuard; }

  void store(const Literal& literal) {
    for (int64_t i = 0; i < type_.num_elements(); ++i) {
      std::memcpy(data() + offset(i), literal.bytes().data() + i * width_, width_);
    }
  }

  Literal load() {
    Literal literal(type_);
    for (int64_t i = 0; i < type_.num_elements(); ++i) {
      std::memcpy(literal.mutable_bytes().data() + i * width_, data() + offset(i), width_);
    }
    return literal;
  }

  bool surroundings_intact() {
    std::vector<bool> is_element(buffer_.size(), false);
    for (int64_t i = 0; i < type_.num_elements(); ++i) {
      std::fill_n(is_element.begin() + kGuard + offset(i), width_, true);
    }
    for (size_t b = 0; b < buffer_.size(); ++b) {
      if (!is_element[b] && buffer_[b] != kPattern) return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kGuard = 256;
  static constexpr std::byte kPattern{0xA5};

  // Byte offset of row-major element `position`.
  int64_t offset(int64_t position) const {
    int64_t at = 0;
    for (size_t d = type_.shape.size(); d-- > 0;) {
      at += position % type_.shape[d] * strides_[d];
      position /= type_.shape[d];
    }
    return at * width_;
  }

  TensorType type_;
  Dims strides_;
  int64_t width_;
  std::vector<std::byte> buffer_;
};

Signature signature_of(const Program& program) {
  Signature signature;
  for (const Dims& strides : program.parameter_strides) signature.parameters.push_back({strides});
  for (const Dims& strides : program.result_strides) signature.results.push_back({strides});
  signature.aliases = program.aliases;
  return signature;
}

// How a program is compiled, chosen by its seed so that a run can be repeated.
struct Configuration {
  Target target;
  bool by_image = false;  // run what a serialised image loads as
};

Configuration configuration(uint64_t seed) {
  Rng rng(seed);
  Configuration chosen;
  chosen.target.mxu_depth = rng.pick({128, 128, 8});
  const int widest = static_cast<int>(host_isa());
  chosen.target.isa = static_cast<HostIsa>(rng.between(0, widest));
  chosen.by_image = rng.one_in(4);
  return chosen;
}

Outcome run_evaluator(const Program& program, const Configuration& configuration) {
  try {
    const hlo::EvaluatorOptions options{configuration.target.mxu_depth,
                                        hlo::testing::kMaxIterations};
    return {evaluate(program.module, program.arguments, options), ""};
  } catch (const DeviceError& error) {
    return {{}, error.what()};
  }
}

// Also checks that nothing but the results changed; `problem` says what did.
Outcome run_compiled(const Program& program, const Configuration& configuration,
                     std::string& problem) {
  std::shared_ptr<const Executable> executable =
      compile(program.module, signature_of(program), configuration.target);
  if (configuration.by_image) executable = Executable::load(executable->serialize());

  std::vector<StridedArray> parameters, results;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    parameters.emplace_back(program.arguments[i].type(), program.parameter_strides[i]);
    parameters.back().store(program.arguments[i]);
  }
  const std::vector<TensorType> types = program.module.main().result_types();
  for (size_t r = 0; r < types.size(); ++r)
    results.emplace_back(types[r], program.result_strides[r]);
  const auto result_array = [&](size_t r) -> StridedArray& {
    return program.aliases[r] < 0 ? results[r] : parameters[program.aliases[r]];
  };
  std::vector<const std::byte*> inputs;
  for (StridedArray& parameter : parameters) inputs.push_back(parameter.data());
  std::vector<std::byte*> outputs;
  for (size_t r = 0; r < results.size(); ++r) outputs.push_back(result_array(r).data());

  Scratch scratch;
  Outcome outcome;
  try {
    executable->run(inputs, outputs, scratch);
    for (size_t r = 0; r < results.size(); ++r) outcome.results.push_back(result_array(r).load());
  } catch (const DeviceError& error) {
    outcome.fault = error.what();
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const std::string name = "parameter " + std::to_string(i);
    if (!parameters[i].surroundings_intact()) problem = "memory around " + name + " was written";
    if (std::ranges::find(program.aliases, static_cast<int>(i)) != program.aliases.end()) continue;
    if (!(parameters[i].load() == program.arguments[i])) problem = name + " was written";
  }
  for (size_t r = 0; r < results.size(); ++r) {
    if (!results[r].surroundings_intact()) {
      problem = "memory around result " + std::to_string(r) + " was written";
    }
  }
  return outcome;
}

// Empty if compiled program and evaluator agree, otherwise how they do not.
std::string disagreement(const Program& program, const Configuration& configuration) {
  const Outcome expected = run_evaluator(program, configuration);
  std::string problem;
  Outcome actual;
  try {
    actual = run_compiled(program, configuration, problem);
  } catch (const std::exception& error) {
    return std::string("compilation failed: ") + error.what();
  }
  if (!problem.empty()) return problem;
  if (actual.fault != expected.fault) {
    return "fault '" + actual.fault + "', expected '" + expected.fault + "'";
  }
  for (size_t r = 0; r < expected.results.size(); ++r) {
    const std::string text = hlo::testing::difference(actual.results[r], expected.results[r]);
    if (!text.empty()) return "result " + std::to_string(r) + ": " + text;
  }
  return "";
}

// The kind of failure that a shrunk program must still show: a wrong number must not turn into a
// compilation error, nor one compilation error into another.
std::string failure_kind(const std::string& text) {
  if (text.empty()) return "";
  if (text.starts_with("compilation failed")) return text.substr(0, 60);
  return text.starts_with("fault") ? "fault" : text.starts_with("result") ? "result" : "memory";
}

class Report {
 public:
  void add(uint64_t seed, const Program& program, const std::string& text) {
    std::lock_guard lock(mutex_);
    const std::string report = "// TPU_TEST_SEED=" + std::to_string(seed) +
                               " TPU_DIFFERENTIAL_PROGRAMS=1\n// " + text + "\n" + to_text(program);
    ADD_FAILURE() << report;
    if (const char* directory = std::getenv("TPU_DIFFERENTIAL_REPORTS")) {
      std::filesystem::create_directories(directory);
      std::ofstream(std::filesystem::path(directory) / (std::to_string(seed) + ".mlir")) << report;
    }
    ++failures_;
  }
  bool full() const { return failures_ >= kMost; }

 private:
  static constexpr int kMost = 12;
  std::mutex mutex_;
  std::atomic<int> failures_{0};
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kPrograms = 300;  // ten times slower, and no other code
#else
constexpr uint64_t kPrograms = 3000;
#endif

void check_program(uint64_t seed, Report& report) {
  Rng rng(seed);
  hlo::testing::GeneratorOptions options;
  if (rng.one_in(8)) {  // long rows, several threads
    options.max_ops = 8;
    options.max_elements = 10000;
    options.max_work = 300000;
  }
  const Program program = hlo::testing::random_program(rng, options);
  const Configuration chosen = configuration(seed);
  const std::string text = disagreement(program, chosen);
  if (text.empty()) return;
  const auto still_fails = [&](const Program& candidate) {
    return failure_kind(disagreement(candidate, chosen)) == failure_kind(text);
  };
  const Program small = hlo::testing::shrink(program.clone(), still_fails, 1000);
  report.add(seed, small, disagreement(small, chosen));
}

TEST(Differential, CompiledProgramsGiveTheEvaluatorsBits) {
  const char* count_text = std::getenv("TPU_DIFFERENTIAL_PROGRAMS");
  const uint64_t count = count_text ? std::stoull(count_text) : kPrograms;
  const uint64_t first = tpu::testing::seed();
  const bool verbose = std::getenv("TPU_DIFFERENTIAL_VERBOSE") != nullptr;
  std::cout << "TPU_TEST_SEED=" << first << ", " << count << " programs\n";
  Report report;
  std::atomic<uint64_t> next{first};
  const auto work = [&] {
    for (uint64_t seed; (seed = next++) < first + count && !report.full();) {
      if (verbose) std::cerr << "seed " + std::to_string(seed) + "\n";
      check_program(seed, report);
    }
  };
  std::thread helper(work);
  work();
  helper.join();
}

}  // namespace
}  // namespace tpu::compiler
