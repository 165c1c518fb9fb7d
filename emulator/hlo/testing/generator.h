// Random StableHLO programs, valid by construction.
#pragma once

#include "emulator/hlo/testing/program.h"
#include "emulator/hlo/testing/rng.h"

namespace tpu::hlo::testing {

struct GeneratorOptions {
  int min_ops = 1, max_ops = 14;  ///< steps; some append several ops
  int64_t max_elements = 600;     ///< of a tensor
  int64_t max_work = 20000;       ///< multiplications of a dot, steps of a window
  int max_rank = 4;
  /// Only what StableHLO's own reference interpreter gives the same bits for: no elementary
  /// functions, no sums of floats whose order is ours, no conversions that the specification
  /// leaves open.
  bool exact = false;
  bool layouts = true;  ///< strided parameters and results, aliases
  bool faults = true;   ///< tpu.assert
};

/// A program over all implemented ops, with its inputs. Programs avoid only what the order of
/// evaluation does not define: the sign and payload of a NaN (bitcast_convert is applied to
/// inputs only), and comparators that are not strict weak orders.
Program random_program(Rng& rng, const GeneratorOptions& options = {});

}  // namespace tpu::hlo::testing
