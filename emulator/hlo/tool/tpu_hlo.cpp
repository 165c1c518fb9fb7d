// tpu-hlo: StableHLO programs on the command line.
//
//   tpu-hlo --parse FILE [--form pretty|generic]   parse, verify, print
//
// FILE may be `-` for the standard input. Exit code 0, 1 for a program with an error (which is
// printed), 2 for wrong usage.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/base/error.h"
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

struct Command {
  std::string_view name;
  void (*run)(const Arguments& arguments);
};

constexpr Command kCommands[] = {{"--parse", run_parse}};

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
