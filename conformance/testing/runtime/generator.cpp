#include "testing/runtime/generator.h"

#include <ATen/CPUGeneratorImpl.h>

#include "testing/faults/fault.h"
#include "testing/runtime/memory.h"

namespace mock {
namespace {

class Generator final : public c10::GeneratorImpl {
 public:
  explicit Generator(at::Generator host = at::detail::createCPUGenerator())
      : c10::GeneratorImpl(mock::device(), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        host_(std::move(host)) {}

  const at::Generator& host() const { return host_; }

  void set_current_seed(uint64_t seed) override {
    if (is_on("generator.seed.ignored")) return;
    host_.set_current_seed(is_on("generator.seed.constant") ? 1 : seed);
  }
  void set_offset(uint64_t) override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "the mock generator has no offset");
  }
  uint64_t get_offset() const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "the mock generator has no offset");
  }
  uint64_t current_seed() const override {
    return host_.current_seed() + (is_on("generator.initial_seed.wrong") ? 1 : 0);
  }
  uint64_t seed() override { return host_.seed(); }
  void set_state(const c10::TensorImpl& state) override {
    if (is_on("generator.set_state.ignored")) return;
    host_.unsafeGetGeneratorImpl()->set_state(state);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    const at::Generator& from = is_on("generator.get_state.fresh")
                                    ? at::detail::createCPUGenerator(host_.current_seed())
                                    : host_;
    return from.unsafeGetGeneratorImpl()->get_state();
  }
  void graphsafe_set_state(const c10::intrusive_ptr<c10::GeneratorImpl>& state) override {
    host_ = static_cast<Generator*>(state.get())->host_.clone();
  }
  c10::intrusive_ptr<c10::GeneratorImpl> graphsafe_get_state() const override {
    return c10::make_intrusive<Generator>(host_.clone());
  }

 private:
  Generator* clone_impl() const override { return new Generator(host_.clone()); }

  at::Generator host_;
};

}  // namespace

const at::Generator& default_generator() {
  static const auto* generator = new at::Generator(at::make_generator<Generator>());
  return *generator;
}

at::Generator make_generator() {
  if (is_on("generator.new.shared")) return default_generator();
  return at::make_generator<Generator>();
}

at::Generator host_generator(const std::optional<at::Generator>& generator) {
  const bool given = generator.has_value() && generator->defined();
  const bool ours = given && !is_on("generator.argument.ignored");
  const at::Generator& chosen = ours ? *generator : default_generator();
  TORCH_CHECK(chosen.device().type() == kDeviceType, "Expected a '", kDeviceType,
              "' device type for generator but found '", chosen.device().type(), "'");
  const at::Generator& host = chosen.get<Generator>()->host();
  return is_on("generator.state.not_advanced") ? host.clone() : host;
}

}  // namespace mock
