#include "topologies/topologies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace tpu::topologies {
namespace {

using nlohmann::json;

std::vector<json> sheets() {
  std::vector<json> all;
  for (const File& file : files()) all.push_back(json::parse(file.text));
  return all;
}

double number(const json& datum) {
  return datum.at("value").get<double>();
}

// A datum is an object with a value; `visit` each, at any depth.
template <class Visit>
void for_each_datum(const json& node, const std::string& path, const Visit& visit) {
  if (!node.is_object()) return;
  if (node.contains("value")) {
    visit(node, path);
    return;
  }
  for (const auto& [key, child] : node.items()) {
    for_each_datum(child, std::string(path).append("/").append(key), visit);
  }
}

TEST(Topologies, NamesMatchFilesAndAreUnique) {
  std::set<std::string> names;
  for (const File& file : files()) {
    const json sheet = json::parse(file.text);
    EXPECT_EQ(sheet.at("name"), file.name);
    EXPECT_TRUE(names.insert(sheet.at("name")).second);
    for (const json& alias : sheet.at("aliases")) EXPECT_TRUE(names.insert(alias).second) << alias;
  }
  EXPECT_EQ(files().size(), 5u);
}

TEST(Topologies, EveryNumberHasASourceAndAnHonestConfidence) {
  const std::set<std::string> known = {"published", "derived", "conflicting", "unknown"};
  int count = 0;
  for (const json& sheet : sheets()) {
    for_each_datum(sheet, sheet.at("name"), [&](const json& datum, const std::string& path) {
      ++count;
      EXPECT_GT(datum.at("source").get<std::string>().size(), 5u) << path;
      const std::string confidence = datum.at("confidence");
      EXPECT_TRUE(known.contains(confidence)) << path;
      if (confidence == "unknown") {
        EXPECT_TRUE(datum.at("value").is_null()) << path;
      }
      if (confidence == "conflicting") {
        EXPECT_TRUE(datum.contains("note")) << path;
      }
    });
  }
  EXPECT_GT(count, 100);
}

// Published figures of the largest slice follow from the links alone: every chip sends over all of
// its links during an all-reduce; a cut across the longest axis of a torus severs each line twice.
TEST(Topologies, PodAggregatesFollowFromTheLinks) {
  int checked = 0;
  for (const json& sheet : sheets()) {
    if (!sheet.contains("published_aggregates")) continue;
    const json& ici = sheet.at("ici");
    const std::vector<int> axes = ici.at("largest_slice").at("value");
    double chips = 1;
    int longest = 0;
    for (int axis : axes) {
      chips *= axis;
      longest = std::max(longest, axis);
    }
    const double rate = number(ici.at("link_bytes_per_second"));
    const double all_reduce = chips * number(ici.at("links")) * rate;
    const double bisection = 2 * (chips / longest) * rate;
    const json& published = sheet.at("published_aggregates");
    // v4's published figures are 7 to 12 % below what its links give.
    const double slack = sheet.at("name") == "v4" ? 0.125 : 1e-9;
    const double want_all_reduce = number(published.at("all_reduce_bytes_per_second"));
    const double want_bisection = number(published.at("bisection_bytes_per_second"));
    EXPECT_NEAR(all_reduce / want_all_reduce, 1, slack) << sheet.at("name");
    EXPECT_NEAR(bisection / want_bisection, 1, slack) << sheet.at("name");
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

TEST(Topologies, ClocksExplainThePeaksWhereStated) {
  int checked = 0;
  for (const json& sheet : sheets()) {
    const json& compute = sheet.at("compute");
    if (compute.at("clock").at("value").is_null()) continue;
    const double depth = number(compute.at("mxu_depth"));
    const double per_cycle = number(compute.at("tensorcores")) *
                             number(compute.at("mxus_per_tensorcore")) * depth * depth * 2;
    EXPECT_NEAR(per_cycle * number(compute.at("clock")) / number(compute.at("bf16_flops")), 1, 0.01)
        << sheet.at("name");
    ++checked;
  }
  EXPECT_EQ(checked, 3);
}

TEST(Topologies, MeshesHoldAsManyDevicesAsTheySay) {
  for (const json& sheet : sheets()) {
    const auto per_chip = sheet.at("devices_per_chip").at("value").get<size_t>();
    for (const auto& [devices, mesh] : sheet.at("slices").at("meshes").items()) {
      size_t product = 1;
      for (const json& axis : mesh) product *= axis.get<size_t>();
      EXPECT_EQ(product, std::stoul(devices)) << sheet.at("name");
      EXPECT_EQ(mesh.size(), per_chip == 1 ? 3u : 4u) << "the last axis is that of a chip's cores";
    }
    const auto axes = sheet.at("ici").at("axes").at("value").get<size_t>();
    EXPECT_EQ(sheet.at("ici").at("largest_slice").at("value").size(), axes);
    EXPECT_EQ(sheet.at("ici").at("links").at("value").get<size_t>(), 2 * axes);
  }
}

}  // namespace
}  // namespace tpu::topologies
