// Views and their bases are one memory; writes come in order.
#include "cpp/cases.h"

namespace conformance {
namespace {

using View = at::Tensor (*)(const at::Tensor&);

struct NamedView {
  const char* name;
  View of;
};

const NamedView kViews[] = {
    {"slice", [](const at::Tensor& x) { return x.slice(0, 1, 3); }},
    {"strided_slice", [](const at::Tensor& x) { return x.slice(1, 0, 6, 2); }},
    {"select", [](const at::Tensor& x) { return x.select(0, 2); }},
    {"select_column", [](const at::Tensor& x) { return x.select(1, 1); }},
    {"transpose", [](const at::Tensor& x) { return x.t(); }},
    {"diagonal", [](const at::Tensor& x) { return x.diagonal(); }},
    {"view", [](const at::Tensor& x) { return x.view({6, 4}); }},
    {"permute", [](const at::Tensor& x) { return x.view({2, 2, 6}).permute({2, 0, 1}); }},
    {"as_strided", [](const at::Tensor& x) { return x.as_strided({3, 2}, {7, 3}, 2); }},
    {"unfold", [](const at::Tensor& x) { return x.unfold(1, 2, 2); }},
    {"split", [](const at::Tensor& x) { return x.split(2, 1)[1]; }},
    {"chain", [](const at::Tensor& x) { return x.t().slice(0, 1, 5).select(1, 2).slice(0, 1); }},
};

// What `program` makes of a 4 x 6 tensor, on the device and on the host.
void agree(Trial& t, at::ScalarType dtype, const Function& program) {
  const Tensors want = program({numbers({4, 6}, dtype)});
  const Tensors got = program({t.upload(numbers({4, 6}, dtype))});
  for (size_t i = 0; i < want.size(); ++i) t.equal(got[i], want[i], c10::str("result ", i));
}

void add_view(std::vector<CppCase>& cases, const NamedView& view, at::ScalarType dtype) {
  const std::string type = dtype == at::kFloat ? "float32" : "int64";
  const std::string prefix = std::string("views.") + view.name + ".";
  const View of = view.of;
  const auto add = [&](const char* variant, const char* aspect, const Function& program) {
    cases.push_back({prefix + variant + "." + type + "." + aspect + ".0",
                     [=](Trial& t) { agree(t, dtype, program); }});
  };
  add("read", "value", [of](const Tensors& x) { return Tensors{of(x[0]).clone()}; });
  add("write", "base", [of](const Tensors& x) {
    of(x[0]).mul_(2).add_(1);
    return Tensors{x[0]};
  });
  add("fill", "base", [of](const Tensors& x) {
    of(x[0]).fill_(-3);
    return Tensors{x[0]};
  });
  add("copy", "base", [of](const Tensors& x) {
    const at::Tensor y = of(x[0]);
    y.copy_(numbers(y.sizes(), y.scalar_type(), 40));
    return Tensors{x[0], y.clone()};
  });
  add("base", "seen", [of](const Tensors& x) {
    const at::Tensor y = of(x[0]), before = y.clone();
    x[0].add_(100);
    return Tensors{y.clone(), y - before};
  });
}

void add_hazards(std::vector<CppCase>& cases) {
  const auto add = [&](const char* name, const Function& program) {
    cases.push_back({std::string("hazards.") + name + ".program.float32.value.0",
                     [=](Trial& t) { agree(t, at::kFloat, program); }});
  };
  add("read_before_write", [](const Tensors& x) {
    const at::Tensor a = x[0] + 1;
    x[0].mul_(10);
    return Tensors{a, x[0]};
  });
  add("row_then_column", [](const Tensors& x) {
    for (int64_t i = 0; i < 4; ++i) {
      x[0].select(0, i).fill_(i);
      x[0].select(1, i).fill_(-i);
    }
    return Tensors{x[0]};
  });
  add("self_assignment", [](const Tensors& x) {
    x[0].copy_(x[0]).add_(x[0]);
    at::Tensor out = x[0];
    at::mul_out(out, x[0], x[0]);
    return Tensors{x[0]};
  });
  add("resized_out", [](const Tensors& x) {
    at::Tensor out = at::empty({0}, x[0].options());
    at::add_out(out, x[0], x[0]);
    return Tensors{out};
  });
  add("temporaries", [](const Tensors& x) {
    for (int i = 0; i < 50; ++i) {
      x[0].add_(at::full({6}, i, x[0].options()));
      at::full({6}, -1, x[0].options());
    }
    return Tensors{x[0]};
  });
  add("long_chain", [](const Tensors& x) {
    at::Tensor y = x[0];
    for (int i = 0; i < 1000; ++i) y = i % 2 ? y + 1 : y - 1;
    return Tensors{y};
  });
}

}  // namespace

std::vector<CppCase> view_cases() {
  std::vector<CppCase> cases;
  for (const NamedView& view : kViews) {
    add_view(cases, view, at::kFloat);
    add_view(cases, view, at::kLong);
  }
  add_hazards(cases);
  return cases;
}

}  // namespace conformance
