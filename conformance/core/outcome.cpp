#include "core/outcome.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace conformance {
namespace {

constexpr std::array<std::string_view, 8> kNames = {
    "pass", "pass-by-fallback", "not-claimed", "waived", "fail", "crash", "timeout", "mistrusted"};

using Json = nlohmann::ordered_json;

template <class T>
T field(const Json& row, const char* key) {
  const auto at = row.find(key);
  if (at == row.end()) throw std::invalid_argument(std::string("has no \"") + key + '"');
  try {
    return at->get<T>();
  } catch (const Json::exception&) {
    throw std::invalid_argument(std::string("has a \"") + key + "\" of the wrong type");
  }
}

std::string optional_text(const Json& row, const char* key) {
  return row.contains(key) ? field<std::string>(row, key) : std::string();
}

}  // namespace

std::string_view name_of(Status status) {
  return kNames[static_cast<size_t>(status)];
}

std::optional<Status> find_status(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  if (at == kNames.end()) return std::nullopt;
  return static_cast<Status>(at - kNames.begin());
}

bool is_case_name(std::string_view name) {
  int parts = 0;
  while (true) {
    const size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool last = dot == std::string_view::npos;
    const auto fits = [&](unsigned char c) {
      return last ? std::isdigit(c) != 0 : std::isalnum(c) != 0 || c == '_' || c == '-';
    };
    if (part.empty() || !std::all_of(part.begin(), part.end(), fits)) return false;
    ++parts;
    if (last) return parts == 6;
    name.remove_prefix(dot + 1);
  }
}

std::string to_json_line(const Outcome& outcome) {
  if (!is_case_name(outcome.name)) {
    throw std::invalid_argument("'" + outcome.name +
                                "' is no case name; expected area.op.variant.dtype.aspect.number");
  }
  Json row;
  row["case"] = outcome.name;
  row["mode"] = outcome.mode;
  row["status"] = name_of(outcome.status);
  // JSON has no infinity.
  if (std::isfinite(outcome.margin)) {
    row["margin"] = outcome.margin;
  } else {
    row["margin"] = "inf";
  }
  row["seconds"] = std::round(outcome.seconds * 1e6) / 1e6;
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) row[key] = text;
  };
  put("digest", outcome.digest);
  put("cause", outcome.cause);
  put("message", outcome.message);
  put("reproducer", outcome.reproducer);
  // Text of vendors' errors may be no UTF-8.
  return row.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome from_json_line(std::string_view line) {
  Json row;
  try {
    row = Json::parse(line);
  } catch (const Json::exception& e) {
    throw std::invalid_argument(std::string("is no JSON: ") + e.what());
  }
  if (!row.is_object()) throw std::invalid_argument("is no JSON object");
  Outcome outcome;
  outcome.name = field<std::string>(row, "case");
  if (!is_case_name(outcome.name)) {
    throw std::invalid_argument("names a case '" + outcome.name + "' that can't be one");
  }
  outcome.mode = field<std::string>(row, "mode");
  const auto status = find_status(field<std::string>(row, "status"));
  if (!status) throw std::invalid_argument("has an unknown status");
  outcome.status = *status;
  const bool infinite = row.contains("margin") && row["margin"] == "inf";
  outcome.margin =
      infinite ? std::numeric_limits<double>::infinity() : field<double>(row, "margin");
  outcome.seconds = field<double>(row, "seconds");
  outcome.digest = optional_text(row, "digest");
  outcome.cause = optional_text(row, "cause");
  outcome.message = optional_text(row, "message");
  outcome.reproducer = optional_text(row, "reproducer");
  return outcome;
}

}  // namespace conformance
