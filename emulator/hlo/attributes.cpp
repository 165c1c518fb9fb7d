#include "emulator/hlo/attributes.h"

#include <algorithm>

#include "emulator/base/error.h"

namespace tpu::hlo {
namespace {

bool name_less(const std::pair<std::string, Attribute>& entry, std::string_view name) {
  return entry.first < name;
}

}  // namespace

Attributes::Attributes(std::initializer_list<std::pair<std::string, Attribute>> entries) {
  for (const auto& [name, value] : entries) set(name, value);
}

void Attributes::set(std::string_view name, Attribute value) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at != entries_.end() && at->first == name) {
    at->second = std::move(value);
  } else {
    entries_.emplace(at, std::string(name), std::move(value));
  }
}

void Attributes::erase(std::string_view name) {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  if (at != entries_.end() && at->first == name) entries_.erase(at);
}

const Attribute* Attributes::find(std::string_view name) const {
  auto at = std::lower_bound(entries_.begin(), entries_.end(), name, name_less);
  return at != entries_.end() && at->first == name ? &at->second : nullptr;
}

void Attributes::throw_missing(std::string_view name, bool present) {
  throw InvalidArgument("attribute '" + std::string(name) +
                        (present ? "' has another type than expected" : "' is missing"));
}

}  // namespace tpu::hlo
