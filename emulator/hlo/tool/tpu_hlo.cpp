// tpu-hlo: StableHLO programs on the command line.
//
//   tpu-hlo --parse FILE [--form pretty|generic]   parse, verify, print
//   tpu-hlo --eval FILE --inputs DIR --outputs DIR run by the evaluator
//   tpu-hlo --random SEED DIR                      write a random program, DIR/program.mlir, and
//                                                  its inputs
//
// Tensors are files DIR/0.bin, DIR/1.bin, ...: elements row-major, little-endian, i1 and 4-bit
// types one a byte. FILE may be `-` for the standard input. Exit code 0, 1 for a program with an
// error (which is printed), 2 for wrong usage.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/testing/generator.h"
#include "emulator/hlo/text.h"

namespace {

using Arguments = std::vector<std::string_view>;

struct UsageError {
  std::string message;
};

std::string read_file(std::string_view path) {
  const auto read = [](std::istream& stream) {
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  if (path == "-") return read(std::cin);
  std::ifstream stream{std::string(path), std::ios::binary};
  if (!stream) throw UsageError{"cannot read '" + std::string(path) + "'"};
  return read(stream);
}

tpu::hlo::TextForm form_from(std::string_view text) {
  if (text == "pretty") return tpu::hlo::TextForm::kPretty;
  if (text == "generic") return tpu::hlo::TextForm::kGeneric;
  throw UsageError{"--form must be pretty or generic, is '" + std::string(text) + "'"};
}

void run_parse(const Arguments& arguments) {
  if (arguments.size() != 1 && (arguments.size() != 3 || arguments[1] != "--form")) {
    throw UsageError{"--parse takes FILE [--form pretty|generic]"};
  }
  const auto form = arguments.size() == 3 ? form_from(arguments[2]) : tpu::hlo::TextForm::kPretty;
  std::cout << tpu::hlo::print(tpu::hlo::parse(read_file(arguments[0])), form);
}

std::filesystem::path tensor_file(std::string_view directory, size_t number) {
  return std::filesystem::path(directory) / (std::to_string(number) + ".bin");
}

void write_tensors(std::string_view directory, std::span<const tpu::hlo::Literal> tensors) {
  std::filesystem::create_directories(directory);
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::ofstream stream(tensor_file(directory, i), std::ios::binary);
    const std::span<const std::byte> bytes = tensors[i].bytes();
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
}

tpu::hlo::Literal read_tensor(const std::filesystem::path& path, const tpu::hlo::TensorType& type) {
  const std::string text = read_file(path.string());
  const auto bytes = std::as_bytes(std::span(text));
  return tpu::hlo::Literal(type, {bytes.begin(), bytes.end()});
}

void run_eval(const Arguments& arguments) {
  if (arguments.size() != 5 || arguments[1] != "--inputs" || arguments[3] != "--outputs") {
    throw UsageError{"--eval takes FILE --inputs DIR --outputs DIR"};
  }
  const tpu::hlo::Module module = tpu::hlo::parse(read_file(arguments[0]));
  std::vector<tpu::hlo::Literal> inputs;
  for (const tpu::hlo::TensorType& type : module.main().parameter_types()) {
    inputs.push_back(read_tensor(tensor_file(arguments[2], inputs.size()), type));
  }
  write_tensors(arguments[4], tpu::hlo::evaluate(module, inputs));
}

// The programs are those that another implementation must give the same bits for.
void run_random(const Arguments& arguments) {
  if (arguments.size() != 2) throw UsageError{"--random takes SEED DIR"};
  tpu::hlo::testing::Rng rng(std::stoull(std::string(arguments[0])));
  tpu::hlo::testing::GeneratorOptions options;
  options.exact = true;
  const auto program = tpu::hlo::testing::random_program(rng, options);
  write_tensors(arguments[1], program.arguments);
  std::ofstream(std::filesystem::path(arguments[1]) / "program.mlir") << print(program.module);
}

struct Command {
  std::string_view name;
  void (*run)(const Arguments& arguments);
};

constexpr Command kCommands[] = {
    {"--parse", run_parse}, {"--eval", run_eval}, {"--random", run_random}};

void run(const Arguments& arguments) {
  for (const Command& command : kCommands) {
    if (!arguments.empty() && arguments[0] == command.name) {
      return command.run({arguments.begin() + 1, arguments.end()});
    }
  }
  std::string names;
  for (const Command& command : kCommands) names += " " + std::string(command.name);
  throw UsageError{"the first argument must be one of:" + names};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run({argv + 1, argv + argc});
    return 0;
  } catch (const UsageError& error) {
    std::cerr << "tpu-hlo: " << error.message << "\n";
    return 2;
  } catch (const tpu::Error& error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
