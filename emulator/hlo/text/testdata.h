// The written corpus of programs in testdata/, in the form that jaxlib prints.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tpu::hlo::text {

/// File names and contents, sorted by name. TPU_HLO_TESTDATA is set by CMakeLists.txt.
inline std::vector<std::pair<std::string, std::string>> read_testdata() {
  std::vector<std::pair<std::string, std::string>> programs;
  for (const auto& entry : std::filesystem::directory_iterator(TPU_HLO_TESTDATA)) {
    std::ifstream stream(entry.path(), std::ios::binary);
    programs.emplace_back(entry.path().filename().string(),
                          std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  std::ranges::sort(programs);
  return programs;
}

}  // namespace tpu::hlo::text
