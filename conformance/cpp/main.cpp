// conformance-cpp: the C++ cases on a backend that has no Python layer yet.
//
//   conformance-cpp --device NAME [--backend LIBRARY.so] [--results FILE.jsonl]
//                   [--float32-matmul float32|tf32|bfloat16x3|bfloat16] [GoogleTest's options]
//
// The library is loaded into the process, where its static initialisers register its kernels, guard
// and allocator with PyTorch; PrivateUse1 is then called NAME. Each case is a GoogleTest. Results
// are lines like those of the Python front end, which `torch-conformance` reads.
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceType.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "core/outcome.h"
#include "cpp/cases.h"

namespace conformance {
namespace {

struct Options {
  std::string device = "cpu", backend, results, float32_matmul = "float32";
};

// Roundoff of the operands of float32 products, by the adapter's names.
const std::map<std::string, double> kProductRoundoffs = {
    {"float32", 0x1p-24}, {"tf32", 0x1p-11}, {"bfloat16x3", 0x1p-16}, {"bfloat16", 0x1p-9}};

// Where lines of results go; nowhere unless --results is given.
std::ofstream& results_file() {
  static auto* file = new std::ofstream;
  return *file;
}

Outcome run(const CppCase& entry, Trial trial) {
  Outcome outcome{.name = entry.name, .mode = "default"};
  const auto begin = std::chrono::steady_clock::now();
  try {
    const at::NoGradGuard no_grad;
    entry.body(trial);
  } catch (const CheckError& failure) {
    outcome.status = Status::kFail;
    outcome.cause = failure.cause;
    outcome.message = failure.what();
  } catch (const c10::Error& error) {
    outcome.status = Status::kFail;
    outcome.cause = "exception";
    outcome.message = error.what_without_backtrace();
  } catch (const std::exception& error) {
    outcome.status = Status::kFail;
    outcome.cause = "exception";
    outcome.message = error.what();
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  outcome.seconds = took.count();
  const bool failed = outcome.status == Status::kFail;
  outcome.margin = failed ? std::numeric_limits<double>::infinity() : trial.margin();
  return outcome;
}

class CaseTest : public testing::Test {
 public:
  CaseTest(CppCase entry, Trial trial) : entry_(std::move(entry)), trial_(trial) {}
  void TestBody() override {
    const Outcome outcome = run(entry_, trial_);
    if (results_file().is_open()) results_file() << to_json_line(outcome) << std::endl;
    if (outcome.status == Status::kFail) {
      FAIL() << entry_.name << " [" << outcome.cause << "]: " << outcome.message;
    }
  }

 private:
  CppCase entry_;
  Trial trial_;
};

// area.op.variant.dtype.aspect.n as suite `area` and test `op.variant...`: GoogleTest's filters
// work.
void register_case(const CppCase& entry, Trial trial) {
  const size_t dot = entry.name.find('.');
  const std::string suite = entry.name.substr(0, dot), test = entry.name.substr(dot + 1);
  testing::RegisterTest(suite.c_str(), test.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [=]() -> testing::Test* { return new CaseTest(entry, trial); });
}

std::optional<std::string> value_of(const std::string& argument, const std::string& name) {
  const std::string prefix = "--" + name + "=";
  if (argument.rfind(prefix, 0) != 0) return std::nullopt;
  return argument.substr(prefix.size());
}

// `--name value` and `--name=value`.
std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    bool known = false;
    for (const auto& [name, target] : {std::pair{"device", &options.device},
                                       {"backend", &options.backend},
                                       {"results", &options.results},
                                       {"float32-matmul", &options.float32_matmul}}) {
      if (const auto value = value_of(argument, name)) {
        *target = *value;
        known = true;
      } else if (argument == std::string("--") + name && i + 1 < argc) {
        *target = argv[++i];
        known = true;
      }
    }
    if (known) continue;
    std::fprintf(stderr,
                 "conformance-cpp: unknown argument '%s'; known are --device NAME, --backend "
                 "LIBRARY.so, --results FILE.jsonl, --float32-matmul PRECISION and GoogleTest's\n",
                 argument.c_str());
    return std::nullopt;
  }
  if (!kProductRoundoffs.contains(options.float32_matmul)) {
    std::fprintf(stderr,
                 "conformance-cpp: --float32-matmul is '%s', expected float32, tf32, "
                 "bfloat16x3 or bfloat16\n",
                 options.float32_matmul.c_str());
    return std::nullopt;
  }
  return options;
}

std::optional<at::Device> load(const Options& options) {
  if (!options.backend.empty() &&
      dlopen(options.backend.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "conformance-cpp: backend does not load: %s\n", dlerror());
    return std::nullopt;
  }
  try {
    if (!options.backend.empty() && c10::get_privateuse1_backend() != options.device) {
      c10::register_privateuse1_backend(options.device);
    }
    const at::Device device(options.device);
    at::empty({1}, at::TensorOptions(at::kFloat).device(device));
    return device;
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    std::fprintf(stderr, "conformance-cpp: device '%s' can't hold a tensor: %s\n",
                 options.device.c_str(), text.substr(0, text.find('\n')).c_str());
    return std::nullopt;
  }
}

int main_of(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::optional<Options> options = parse(argc, argv);
  if (!options) return 2;
  const std::optional<at::Device> device = load(*options);
  if (!device) return 2;
  if (!options->results.empty()) {
    results_file().open(options->results);
    if (!results_file()) {
      std::fprintf(stderr, "conformance-cpp: %s can't be written\n", options->results.c_str());
      return 2;
    }
  }
  const Trial trial(*device, kProductRoundoffs.at(options->float32_matmul));
  for (const CppCase& entry : all_cases()) register_case(entry, trial);
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace conformance

int main(int argc, char** argv) {
  return conformance::main_of(argc, argv);
}
