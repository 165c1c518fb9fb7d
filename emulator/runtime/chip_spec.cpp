// Reads the data sheets in topologies/.
#include <map>
#include <nlohmann/json.hpp>

#include "emulator/base/error.h"
#include "emulator/runtime/chip.h"
#include "topologies/topologies.h"

namespace tpu::runtime {
namespace {

using nlohmann::json;

ChipSpec read_spec(const json& sheet) {
  const json& compute = sheet.at("compute");
  const json& memory = sheet.at("memory");
  ChipSpec spec;
  spec.name = sheet.at("name");
  spec.display_name = sheet.at("display_name");
  spec.devices_per_chip = sheet.at("devices_per_chip").at("value");
  // The sheets speak of chips, the spec of devices.
  const double share = 1.0 / spec.devices_per_chip;
  spec.hbm_bytes = memory.at("hbm_bytes").at("value").get<int64_t>() / spec.devices_per_chip;
  spec.hbm_bytes_per_second = memory.at("hbm_bytes_per_second").at("value").get<double>() * share;
  spec.bf16_flops = compute.at("bf16_flops").at("value").get<double>() * share;
  spec.mxu_depth = compute.at("mxu_depth").at("value");
  spec.has_fp8 = compute.at("native_fp8").at("value");
  return spec;
}

// By name and by alias.
const std::map<std::string, ChipSpec>& specs() {
  static const auto* all = [] {
    auto* map = new std::map<std::string, ChipSpec>;
    for (const topologies::File& file : topologies::files()) {
      const json sheet = json::parse(file.text);
      const ChipSpec spec = read_spec(sheet);
      map->emplace(spec.name, spec);
      for (const json& alias : sheet.at("aliases")) map->emplace(alias.get<std::string>(), spec);
    }
    return map;
  }();
  return *all;
}

}  // namespace

std::vector<std::string> known_chips() {
  std::vector<std::string> names;
  for (const auto& [name, spec] : specs()) {
    if (name == spec.name) names.push_back(name);
  }
  return names;
}

const ChipSpec& chip_spec(const std::string& name) {
  const auto found = specs().find(name);
  if (found != specs().end()) return found->second;
  std::string text = "no chip is named '" + name + "'; known are";
  for (const std::string& known : known_chips()) text += " " + known;
  throw InvalidArgument(text);
}

}  // namespace tpu::runtime
