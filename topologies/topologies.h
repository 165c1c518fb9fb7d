// The data sheets of chips, built into the program so that an installed package needs no path.
#pragma once

#include <span>
#include <string_view>

namespace tpu::topologies {

struct File {
  std::string_view name;  ///< `v6e`
  std::string_view text;  ///< JSON by schema.json
};

/// All sheets, in the order of their names.
std::span<const File> files();

}  // namespace tpu::topologies
