// The mock device's random generator: the CPU's under another name.
#pragma once

#include <ATen/core/Generator.h>

#include <optional>

namespace mock {

const at::Generator& default_generator();
at::Generator make_generator();

/// The CPU generator inside of `generator`, or inside of the default one.
at::Generator host_generator(const std::optional<at::Generator>& generator);

}  // namespace mock
