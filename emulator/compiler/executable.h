// A compiled program: kernels in order, a plan for its temporaries, object code.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/hlo/types.h"

namespace tpu::compiler {

/// One kernel as a cost model sees it.
struct KernelDescription {
  std::string name;  ///< the ops in it: `fusion: multiply add tanh`, `dot_general`
  enum class Unit : uint8_t { kMxu, kVpu, kSparseCore, kDma } unit = Unit::kVpu;
  double flops = 0;
  double transcendentals = 0;
  int64_t bytes_read = 0;     ///< from HBM, as logical bytes
  int64_t bytes_written = 0;  ///< to HBM
};

/// Memory for temporaries while a program runs; one a queue, reused from run to run.
class Scratch {
 public:
  /// At least `bytes` bytes aligned to 64, valid until the next call.
  std::byte* reserve(size_t bytes);

 private:
  std::unique_ptr<std::byte[]> storage_;
  size_t capacity_ = 0;
};

class Executable {
 public:
  virtual ~Executable() = default;

  /// Runs to completion on the calling thread and its helpers. Pointers are one a parameter and
  /// one a result; element (0, ..., 0) is at the pointer. Throws DeviceError if the program
  /// faults; results are then unspecified, and memory outside of them is untouched.
  virtual void run(std::span<const std::byte* const> parameters,
                   std::span<std::byte* const> results, Scratch& scratch) const = 0;

  virtual std::span<const hlo::TensorType> parameter_types() const = 0;
  virtual std::span<const hlo::TensorType> result_types() const = 0;
  /// Bytes of temporaries one run needs.
  virtual size_t scratch_bytes() const = 0;
  /// In the order they run.
  virtual std::span<const KernelDescription> kernels() const = 0;
  /// True if a run can throw DeviceError.
  virtual bool may_fault() const = 0;

  /// A self-contained image: plan and relocatable object code.
  virtual std::vector<std::byte> serialize() const = 0;
  /// Inverse of `serialize`. Throws InvalidArgument if the image is torn, or of another version,
  /// or needs a vector extension that this host has not.
  static std::shared_ptr<const Executable> load(std::span<const std::byte> image);
};

}  // namespace tpu::compiler
