// The device's random number generator: a key and a position in a Philox stream.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <cstdint>

#include "backend/runtime/device.h"

namespace torch_tpu::runtime {

/// Philox 4x32-10 (Salmon et al., SC 2011) is keyed by the seed and counts 128-bit blocks; the
/// numbers themselves are drawn on the chip. The state is 16 bytes: seed, then offset, each a
/// little-endian 64-bit number.
class PhiloxGenerator final : public c10::GeneratorImpl {
 public:
  explicit PhiloxGenerator(uint64_t seed = c10::default_rng_seed_val);

  void set_current_seed(uint64_t seed) override;  ///< also sets the offset to 0
  uint64_t current_seed() const override { return state_->seed; }
  /// Draws a seed from the host's entropy and sets it.
  uint64_t seed() override;
  void set_offset(uint64_t offset) override { state_->offset = offset; }
  uint64_t get_offset() const override { return state_->offset; }

  /// Throws unless the state is a CPU byte tensor of 16 elements.
  void set_state(const c10::TensorImpl& new_state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;
  /// Generators that share one state by reference, as graph capture does.
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& source) override;
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override;

  static c10::DeviceType device_type() { return kDeviceType; }

 private:
  struct State : c10::intrusive_ptr_target {
    uint64_t seed = 0;
    uint64_t offset = 0;
  };
  PhiloxGenerator* clone_impl() const override;

  c10::intrusive_ptr<State> state_;
};

const at::Generator& default_generator();
at::Generator make_generator();

}  // namespace torch_tpu::runtime
