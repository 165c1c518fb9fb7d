// Writes docs/numerics.md: the largest error found of each elementary function.
//
// Usage: tpu-numerics [function]...        print the page, or the rows of some functions
//        tpu-numerics --check FILE         fail if FILE is not what would be printed
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/tensorcore/vpu/accuracy/measure.h"

namespace tpu::tensorcore {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int64_t kFloats = int64_t{1} << 21;
constexpr int64_t kDoubles = 20000;

constexpr std::string_view kHeader =
    "# Accuracy of elementary functions\n"
    "\n"
    "Written by `tpu-numerics`; a test checks that it is current.\n"
    "\n"
    "Errors are in units in the last place (ULP) of the exact result: 0.5 is a correctly rounded\n"
    "result. For f32 and f64 the page lists the error promised, which tests assert, and the "
    "largest\n"
    "found. bf16 arguments are widened, evaluated in f32 and rounded once.\n"
    "\n"
    "Arguments: for bf16 all 65,536 (of functions of two arguments, as many pairs); for f32 a "
    "stride\n"
    "through all bit patterns; for f64 random numbers of several distributions. All include\n"
    "subnormal numbers, infinities and NaN. `lgamma` and `digamma` have no f64 bound below 0, "
    "where\n"
    "terms cancel near their zeros. References: MPFR and, for f32, the C library's double\n"
    "functions.\n"
    "\n"
    "| function | type | promised | found | at | arguments |\n"
    "|---|---|---|---|---|---|\n";

std::string row_text(const ElementaryFunctionInfo& row, const char* type, double promised,
                     const Measurement& m) {
  char bound[32] = "";
  if (promised > 0) std::snprintf(bound, sizeof bound, "%.4g", promised);
  char second[64] = "";
  if (row.arguments == 2) std::snprintf(second, sizeof second, ", %a", m.worst_y);
  char text[256];
  std::snprintf(text, sizeof text, "| `%s` | %s | %s | %.3f | `%a%s` | %lld |\n",
                std::string(row.name).c_str(), type, bound, m.max_ulp, m.worst_x, second,
                static_cast<long long>(m.count));
  return text;
}

std::string rows_text(const ElementaryFunctionInfo& row) {
  return row_text(row, "bf16", 0, measure_bf16(row.function, kSeed)) +
         row_text(row, "f32", row.max_ulp_f32, measure_f32(row.function, kSeed, kFloats)) +
         row_text(row, "f64", row.max_ulp_f64, measure_f64(row.function, kSeed, kDoubles));
}

std::string page() {
  std::string text(kHeader);
  for (const auto& row : kElementaryFunctions) text += rows_text(row);
  return text;
}

int check(const char* path) {
  std::ifstream file(path);
  std::stringstream contents;
  contents << file.rdbuf();
  if (!file) {
    std::fprintf(stderr, "tpu-numerics: cannot read %s\n", path);
    return 1;
  }
  std::istringstream expected(page()), found(contents.str());
  std::string expected_line, found_line;
  while (true) {
    const bool more = static_cast<bool>(std::getline(expected, expected_line));
    const bool more_found = static_cast<bool>(std::getline(found, found_line));
    if (!more && !more_found) return 0;
    if (more && more_found && expected_line == found_line) continue;
    std::fprintf(stderr,
                 "%s is not current; write it anew with: tpu-numerics > %s\n"
                 "  expected: %s\n  found:    %s\n",
                 path, path, more ? expected_line.c_str() : "(end)",
                 more_found ? found_line.c_str() : "(end)");
    return 1;
  }
}

int print_functions(const std::vector<std::string_view>& names) {
  for (const auto name : names) {
    const auto function = find_elementary_function(name);
    if (!function) {
      std::fprintf(stderr, "tpu-numerics: no function '%s'; known are:", std::string(name).c_str());
      for (const auto& row : kElementaryFunctions) {
        std::fprintf(stderr, " %s", std::string(row.name).c_str());
      }
      std::fprintf(stderr, "\n");
      return 1;
    }
    std::fputs(rows_text(info(*function)).c_str(), stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tpu::tensorcore

int main(int argc, char** argv) {
  using namespace tpu::tensorcore;
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--check") return check(argv[2]);
  if (!arguments.empty()) return print_functions(arguments);
  std::fputs(page().c_str(), stdout);
}
