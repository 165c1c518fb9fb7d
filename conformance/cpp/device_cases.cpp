// Copies, errors, random numbers, streams and events.
#include <ATen/Context.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <stdexcept>

#include "cpp/cases.h"

namespace conformance {
namespace {

constexpr int64_t kMany = 1 << 16;

void add_copies(std::vector<CppCase>& cases) {
  for (const auto& [name, dtype] : {std::pair{"float32", at::kFloat},
                                    {"bfloat16", at::kBFloat16},
                                    {"int64", at::kLong},
                                    {"bool", at::kBool}}) {
    const at::ScalarType type = dtype;
    cases.push_back({std::string("copying.round_trip.dense.") + name + ".bits.0", [type](Trial& t) {
                       const at::Tensor x = numbers({5, 7}, type);
                       t.equal(x.to(t.device()), x);
                       t.equal(x.t().to(t.device()), x.t());
                       t.equal(t.upload(x).slice(1, 1, 6, 2), x.slice(1, 1, 6, 2));
                     }});
  }
  cases.push_back({"copying.cast.upload.float32.value.0", [](Trial& t) {
                     const at::Tensor x = numbers({3, 4});
                     t.equal(x.to(t.device(), at::kLong), x.to(at::kLong));
                     t.equal(x.to(t.device()).to(at::kBFloat16), x.to(at::kBFloat16));
                   }});
  cases.push_back({"copying.copy_.broadcast.float32.value.0", [](Trial& t) {
                     const at::Tensor x = at::zeros({3, 4}, at::kFloat).to(t.device());
                     x.copy_(numbers({4}));
                     t.equal(x, numbers({4}).expand({3, 4}).contiguous());
                   }});
  cases.push_back({"copying.item.value.float32.value.0", [](Trial& t) {
                     const at::Tensor x = t.upload(numbers({3, 4}));
                     t.require(x.select(0, 2).select(0, 1).item<float>() == 10, "value", "item()");
                   }});
}

void add_errors(std::vector<CppCase>& cases) {
  const auto add = [&](const char* name, void (*mistake)(Trial&)) {
    cases.push_back(
        {std::string("errors.") + name + ".mistake.float32.raised.0", [mistake](Trial& t) {
           t.raises([&] { mistake(t); });
           t.equal(t.upload(numbers({3})) + 1, numbers({3}, at::kFloat, 2), "later");
         }});
  };
  add("add_shapes", [](Trial& t) { t.upload(numbers({3})) + t.upload(numbers({4})); });
  add("mm_shapes", [](Trial& t) { at::mm(t.upload(numbers({3, 4})), t.upload(numbers({3, 4}))); });
  add("view_size", [](Trial& t) { t.upload(numbers({6})).view({4, 2}); });
  add("index_beyond", [](Trial& t) {
    at::index_select(t.upload(numbers({3})), 0, t.upload(numbers({1}, at::kLong, 7))).to(at::kCPU);
  });
  add("expanded_write", [](Trial& t) { t.upload(numbers({3, 1})).expand({3, 4}).add_(1); });
  add("two_devices", [](Trial& t) {
    if (t.device().is_cpu()) throw std::invalid_argument("there is one device only");
    t.upload(numbers({3})) + numbers({3});
  });
}

at::Tensor draw(Trial& t) {
  return at::rand({256}, at::TensorOptions(at::kFloat).device(t.device()));
}

void add_random(std::vector<CppCase>& cases) {
  cases.push_back({"random.rand.seeded.float32.repeats.0", [](Trial& t) {
                     const auto seed = [&](uint64_t value) {
                       at::Generator generator = at::globalContext().defaultGenerator(t.device());
                       generator.set_current_seed(value);
                     };
                     seed(1);
                     const at::Tensor a = draw(t).to(at::kCPU), b = draw(t).to(at::kCPU);
                     seed(1);
                     t.equal(draw(t), a, "the same seed's numbers");
                     t.require(!at::equal(a, b), "value", "two draws are equal");
                     t.require(a.min().item<float>() >= 0 && a.max().item<float>() < 1, "value",
                               "outside of [0, 1)");
                     t.require(std::abs(a.mean().item<float>() - 0.5) < 0.11, "value", "the mean");
                   }});
}

void add_streams(std::vector<CppCase>& cases) {
  cases.push_back({"order.stream.event.float32.value.0", [](Trial& t) {
                     if (t.device().is_cpu()) return;
                     const c10::impl::VirtualGuardImpl guard(t.device().type());
                     const at::Device device(t.device().type(), 0);
                     const c10::Stream main = guard.getStream(device),
                                       side = guard.getNewStream(device);
                     const at::Tensor x = t.upload(numbers({kMany}));
                     c10::Event ready(t.device().type()), done(t.device().type());
                     ready.record(main);
                     side.wait(ready);
                     at::Tensor y;
                     {
                       const c10::StreamGuard on_side(side);
                       y = x * 2;
                       for (int i = 0; i < 20; ++i) y = y + 1;
                       done.record(side);
                     }
                     main.wait(done);
                     t.equal(y + 0, numbers({kMany}) * 2 + 20);
                   }});
  cases.push_back({"order.device.synchronize.float32.value.0", [](Trial& t) {
                     const at::Tensor x = t.upload(numbers({kMany})).add_(1);
                     if (!t.device().is_cpu()) {
                       c10::impl::VirtualGuardImpl(t.device().type()).synchronizeDevice(0);
                     }
                     t.equal(x, numbers({kMany}) + 1);
                   }});
}

}  // namespace

std::vector<CppCase> device_cases() {
  std::vector<CppCase> cases;
  add_copies(cases);
  add_errors(cases);
  add_random(cases);
  add_streams(cases);
  return cases;
}

std::vector<CppCase> all_cases() {
  std::vector<CppCase> cases;
  for (const auto table : {operator_cases, view_cases, device_cases}) {
    for (CppCase& entry : table()) cases.push_back(std::move(entry));
  }
  return cases;
}

}  // namespace conformance
