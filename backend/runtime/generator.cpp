#include "backend/runtime/generator.h"

#include <ATen/Utils.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <mutex>

namespace torch_tpu::runtime {
namespace {

constexpr int64_t kStateBytes = 2 * sizeof(uint64_t);

}  // namespace

PhiloxGenerator::PhiloxGenerator(uint64_t seed)
    // Qualified: GeneratorImpl has a member of that name, which would read itself.
    : c10::GeneratorImpl(runtime::device(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      state_(c10::make_intrusive<State>()) {
  state_->seed = seed;
}

void PhiloxGenerator::set_current_seed(uint64_t seed) {
  state_->seed = seed;
  state_->offset = 0;
}

uint64_t PhiloxGenerator::seed() {
  const uint64_t random = c10::detail::getNonDeterministicRandom(/*is_cuda=*/true);
  set_current_seed(random);
  return random;
}

void PhiloxGenerator::set_state(const c10::TensorImpl& new_state) {
  at::detail::check_rng_state(new_state);
  TORCH_CHECK(new_state.numel() == kStateBytes, "expected an RNG state of ", kStateBytes,
              " bytes (seed and offset), got ", new_state.numel());
  const auto* bytes = static_cast<const uint8_t*>(new_state.data());
  std::memcpy(&state_->seed, bytes, sizeof(uint64_t));
  std::memcpy(&state_->offset, bytes + sizeof(uint64_t), sizeof(uint64_t));
}

c10::intrusive_ptr<c10::TensorImpl> PhiloxGenerator::get_state() const {
  const at::Tensor state = at::empty({kStateBytes}, at::TensorOptions(at::kByte).device(at::kCPU));
  auto* bytes = state.mutable_data_ptr<uint8_t>();
  std::memcpy(bytes, &state_->seed, sizeof(uint64_t));
  std::memcpy(bytes + sizeof(uint64_t), &state_->offset, sizeof(uint64_t));
  return state.getIntrusivePtr();
}

void PhiloxGenerator::graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& source) {
  auto* generator = dynamic_cast<PhiloxGenerator*>(source.get());
  TORCH_CHECK(generator != nullptr, "expected the state of a TPU generator");
  state_ = generator->state_;
}

c10::intrusive_ptr<c10::GeneratorImpl> PhiloxGenerator::graphsafe_get_state() const {
  auto generator = c10::make_intrusive<PhiloxGenerator>();
  generator->state_ = state_;
  return generator;
}

PhiloxGenerator* PhiloxGenerator::clone_impl() const {
  auto* copy = new PhiloxGenerator(state_->seed);
  copy->state_->offset = state_->offset;
  return copy;
}

const at::Generator& default_generator() {
  static const auto* generator = new at::Generator(at::make_generator<PhiloxGenerator>());
  return *generator;
}

at::Generator make_generator() {
  return at::make_generator<PhiloxGenerator>();
}

PhiloxState reserve_philox(const std::optional<at::Generator>& generator, int64_t blocks) {
  const bool given = generator.has_value() && generator->defined();
  const at::Generator& source = given ? *generator : default_generator();
  TORCH_CHECK(source.device().type() == kDeviceType, "Expected a '", kDeviceType,
              "' device type for generator but found '", source.device().type(), "'");
  auto* philox = source.get<PhiloxGenerator>();
  std::lock_guard lock(philox->mutex_);
  const PhiloxState state{philox->current_seed(), philox->get_offset()};
  philox->set_offset(state.offset + static_cast<uint64_t>(blocks));
  return state;
}

}  // namespace torch_tpu::runtime
