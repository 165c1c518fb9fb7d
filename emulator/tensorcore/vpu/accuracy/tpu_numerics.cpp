// Prints docs/numerics.md: the largest error found of each elementary function.
//
// Usage: tpu-numerics [function]...
#include <cstdio>
#include <string_view>

#include "emulator/tensorcore/vpu/accuracy/measure.h"

namespace tpu::tensorcore {
namespace {

constexpr uint64_t kSeed = 1;
constexpr int64_t kFloats = int64_t{1} << 21;
constexpr int64_t kDoubles = 20000;

constexpr char kHeader[] =
    "# Accuracy of elementary functions\n"
    "\n"
    "Written by `tpu-numerics`; CI checks that it is current.\n"
    "\n"
    "Errors are in units in the last place (ULP) of the exact result: 0.5 is a correctly rounded\n"
    "result. f32 and f64 list the error promised (tests assert it) and the largest found; bf16\n"
    "arguments are widened, evaluated in f32 and rounded once, and all 65,536 of them were tried\n"
    "(for two arguments: as many pairs). f32 arguments are taken at a stride through all bit\n"
    "patterns, f64 arguments at random from several distributions; both include subnormal "
    "numbers.\n"
    "The references are MPFR and, for f32, the C library's double functions.\n"
    "\n"
    "| function | type | promised | found | at | arguments |\n"
    "|---|---|---|---|---|---|\n";

void print_row(const ElementaryFunctionInfo& row, const char* type, double promised,
               const Measurement& m) {
  std::printf("| `%s` | %s | ", row.name.data(), type);
  if (promised > 0) {
    std::printf("%.4g", promised);
  } else {
    std::printf("–");
  }
  std::printf(" | %.3f | `%a", m.max_ulp, m.worst_x);
  if (row.arguments == 2) std::printf(", %a", m.worst_y);
  std::printf("` | %lld |\n", static_cast<long long>(m.count));
}

void print_function(const ElementaryFunctionInfo& row) {
  print_row(row, "bf16", 0, measure_bf16(row.function, kSeed));
  print_row(row, "f32", row.max_ulp_f32, measure_f32(row.function, kSeed, kFloats));
  print_row(row, "f64", row.max_ulp_f64, measure_f64(row.function, kSeed, kDoubles));
  std::fflush(stdout);
}

bool wanted(std::string_view name, int argc, char** argv) {
  if (argc < 2) return true;
  for (int i = 1; i < argc; ++i) {
    if (name == argv[i]) return true;
  }
  return false;
}

}  // namespace
}  // namespace tpu::tensorcore

int main(int argc, char** argv) {
  using namespace tpu::tensorcore;
  if (argc < 2) std::fputs(kHeader, stdout);
  for (const auto& row : kElementaryFunctions) {
    if (wanted(row.name, argc, argv)) print_function(row);
  }
}
