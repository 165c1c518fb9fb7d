// What became of a case, and how it is written down.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace conformance {

enum class Status : uint8_t {
  kPass,
  kPassByFallback,  ///< right, but computed by the host
  kNotClaimed,      ///< the device's adapter does not claim it, and it is not mandatory
  kWaived,          ///< fails as a waiver says
  kFail,
  kCrash,
  kTimeout,
  kMistrusted,  ///< nothing could have failed: all results were zero, NaN, or the same for any
                ///< input
};

std::string_view name_of(Status status);
std::optional<Status> find_status(std::string_view name);

struct Outcome {
  std::string name = {};  ///< the case: area.op.variant.dtype.aspect.n
  std::string mode = {};  ///< execution mode of the device
  Status status = Status::kPass;
  double margin = 0;  ///< error over bound; may be infinite
  double seconds = 0;
  std::string digest =
      {};  ///< of the results' bits; equal digests, equal bits; empty if there are none
  std::string cause = {};       ///< of a failure, for grouping: value, dtype, shape, missing, ...
  std::string message = {};     ///< of a failure: what was got and what was expected
  std::string reproducer = {};  ///< of a failure: a command that runs this case alone
};

/// One line of results.jsonl. Throws std::invalid_argument for a name
/// that is no case name.
std::string to_json_line(const Outcome& outcome);
/// The inverse. Throws std::invalid_argument that says what is wrong with the line.
Outcome from_json_line(std::string_view line);

/// `area.op.variant.dtype.aspect.n`: six parts of [A-Za-z0-9_-], the last a number.
bool is_case_name(std::string_view name);

}  // namespace conformance
