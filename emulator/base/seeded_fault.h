// Faults for the test build. Compilers, caches and queues can be wrong in ways that no operator of
// a simpler backend can show; ci/emulator_faults.py switches them on, one at a time, and requires
// that the conformance suite finds each.
#pragma once

#include <cstdlib>
#include <string_view>

namespace tpu {

#ifdef TPU_SEEDED_FAULTS
/// Whether the environment's TPU_SEEDED_FAULT is `name`. Read anew at each call: the test forks.
inline bool seeded(std::string_view name) {
  const char* chosen = std::getenv("TPU_SEEDED_FAULT");
  return chosen != nullptr && name == chosen;
}
#else
/// Never, and at no cost: the branch behind it is gone from an ordinary build.
constexpr bool seeded(std::string_view) {
  return false;
}
#endif

}  // namespace tpu
