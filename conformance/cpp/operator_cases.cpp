// Operators against float64 on the host, in several dtypes and layouts of their operands.
#include "cpp/cases.h"

namespace conformance {
namespace {

using Unary = at::Tensor (*)(const at::Tensor&);
using Binary = at::Tensor (*)(const at::Tensor&, const at::Tensor&);

struct Layout {
  const char* name;
  /// Operands of one layout are views of larger tensors: offsets and strides must count.
  at::Tensor (*view)(const at::Tensor& noise);
};

// Each takes 12 x 14 numbers and gives 4 x 6.
const Layout kLayouts[] = {
    {"dense", [](const at::Tensor& x) { return x.slice(0, 0, 4).slice(1, 0, 6).contiguous(); }},
    {"offset", [](const at::Tensor& x) { return x.flatten().slice(0, 5, 29).view({4, 6}); }},
    {"strided", [](const at::Tensor& x) { return x.slice(0, 1, 9, 2).slice(1, 2, 14, 2); }},
    {"transposed", [](const at::Tensor& x) { return x.slice(0, 3, 9).slice(1, 1, 5).t(); }},
};

constexpr at::ScalarType kFloats[] = {at::kFloat, at::kBFloat16};

std::string text(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return "float32";
    case at::kBFloat16:
      return "bfloat16";
    case at::kLong:
      return "int64";
    default:
      return "bool";
  }
}

const std::vector<std::pair<const char*, Unary>>& unary_operators() {
  static const std::vector<std::pair<const char*, Unary>> kOperators = {
      {"neg", at::neg},
      {"abs", at::abs},
      {"exp", at::exp},
      {"tanh", at::tanh},
      {"sigmoid", at::sigmoid},
      {"sin", at::sin},
      {"cos", at::cos},
      {"erf", at::erf},
      {"expm1", at::expm1},
      {"square", at::square},
      {"relu", at::relu},
      {"silu", at::silu},
      {"floor", at::floor},
      {"ceil", at::ceil},
      {"sign", at::sign},
      {"reciprocal", at::reciprocal},
      {"atan", at::atan},
      {"log", [](const at::Tensor& x) { return at::log(at::abs(x) + 0.5); }},
      {"sqrt", [](const at::Tensor& x) { return at::sqrt(at::abs(x)); }},
      {"rsqrt", [](const at::Tensor& x) { return at::rsqrt(at::abs(x) + 0.5); }},
      {"log1p", [](const at::Tensor& x) { return at::log1p(at::abs(x)); }},
      {"sum", [](const at::Tensor& x) { return at::sum(x, {0}); }},
      {"mean", [](const at::Tensor& x) { return at::mean(x, {1}); }},
      {"amax", [](const at::Tensor& x) { return at::amax(x, {0}); }},
      {"cumsum", [](const at::Tensor& x) { return at::cumsum(x, 1); }},
      {"softmax", [](const at::Tensor& x) { return at::softmax(x, 1); }},
      {"log_softmax", [](const at::Tensor& x) { return at::log_softmax(x, 0); }},
      {"argmax", [](const at::Tensor& x) { return at::argmax(x, 1); }},
      {"sort", [](const at::Tensor& x) { return std::get<1>(at::sort(x, true, 1, false)); }},
      {"flip", [](const at::Tensor& x) { return at::flip(x, {0, 1}); }},
      {"roll", [](const at::Tensor& x) { return at::roll(x, {1}, {1}); }},
      {"tril", [](const at::Tensor& x) { return at::tril(x); }},
      {"clamp", [](const at::Tensor& x) { return at::clamp(x, -0.5, 0.5); }},
      {"layer_norm", [](const at::Tensor& x) { return at::layer_norm(x, {x.size(1)}); }},
      {"gelu", [](const at::Tensor& x) { return at::gelu(x); }},
      {"var", [](const at::Tensor& x) { return at::var(x, at::IntArrayRef(1)); }},
      {"cat", [](const at::Tensor& x) { return at::cat({x, x}, 0); }},
      {"reshape", [](const at::Tensor& x) { return at::reshape(x, {3, -1}) * 1; }},
  };
  return kOperators;
}

const std::vector<std::pair<const char*, Binary>>& binary_operators() {
  static const std::vector<std::pair<const char*, Binary>> kOperators = {
      {"add", [](const at::Tensor& x, const at::Tensor& y) { return at::add(x, y, 2); }},
      {"sub", [](const at::Tensor& x, const at::Tensor& y) { return at::sub(x, y); }},
      {"mul", at::mul},
      {"div", [](const at::Tensor& x, const at::Tensor& y) { return at::div(x, y); }},
      {"maximum", at::maximum},
      {"atan2", at::atan2},
      {"lt", [](const at::Tensor& x, const at::Tensor& y) { return at::lt(x, y); }},
      {"where", [](const at::Tensor& x, const at::Tensor& y) { return at::where(x > 0, x, y); }},
      {"pow", [](const at::Tensor& x, const at::Tensor& y) { return at::pow(at::abs(x) + 1, y); }},
      {"broadcast", [](const at::Tensor& x, const at::Tensor& y) { return x + y.select(0, 1); }},
  };
  return kOperators;
}

Rounding rounding_of(const std::string& name) {
  // x (1 + erf(x / sqrt(2))) / 2: the sum's absolute error is a rounding of 1.
  if (name == "gelu") return {4, false, [](const Tensors& x) { return Tensors{x[0].abs()}; }};
  const bool sums = name == "sum" || name == "mean" || name == "cumsum" || name == "var" ||
                    name.find("softmax") != std::string::npos || name == "layer_norm";
  return {.terms = sums ? 16 : 4};
}

void add_pointwise(std::vector<CppCase>& cases) {
  for (const Layout& layout : kLayouts) {
    for (const at::ScalarType dtype : kFloats) {
      if (dtype != at::kFloat && std::string(layout.name) != "dense") continue;
      const auto operand = [layout, dtype](uint64_t seed) {
        return layout.view(noise({12, 14}, dtype, seed));
      };
      const std::string suffix = std::string(".") + layout.name + "." + text(dtype) + ".value.0";
      for (const auto& [name, call] : unary_operators()) {
        const auto body = [operand, call = call, name = std::string(name)](Trial& t) {
          t.check([call](const Tensors& x) { return Tensors{call(x[0])}; }, {operand(1)},
                  rounding_of(name));
        };
        cases.push_back({std::string("op.") + name + suffix, body});
      }
      for (const auto& [name, call] : binary_operators()) {
        const auto body = [operand, call = call](Trial& t) {
          t.check([call](const Tensors& x) { return Tensors{call(x[0], x[1])}; },
                  {operand(1), operand(2)}, {.terms = 4});
        };
        cases.push_back({std::string("op.") + name + suffix, body});
      }
    }
  }
}

void add_products(std::vector<CppCase>& cases) {
  for (const at::ScalarType dtype : kFloats) {
    const std::string suffix = "." + text(dtype) + ".value.0";
    cases.push_back({"op.mm.dense" + suffix, [dtype](Trial& t) {
                       t.check([](const Tensors& x) { return Tensors{at::mm(x[0], x[1])}; },
                               {noise({17, 33}, dtype, 1), noise({33, 9}, dtype, 2)},
                               {.terms = 33, .product = true});
                     }});
    cases.push_back({"op.mm.transposed" + suffix, [dtype](Trial& t) {
                       t.check([](const Tensors& x) { return Tensors{at::mm(x[0], x[1])}; },
                               {noise({33, 17}, dtype, 1).t(), noise({9, 33}, dtype, 2).t()},
                               {.terms = 33, .product = true});
                     }});
    cases.push_back({"op.bmm.dense" + suffix, [dtype](Trial& t) {
                       t.check([](const Tensors& x) { return Tensors{at::bmm(x[0], x[1])}; },
                               {noise({3, 5, 8}, dtype, 1), noise({3, 8, 4}, dtype, 2)},
                               {.terms = 8, .product = true});
                     }});
    cases.push_back(
        {"op.addmm.scaled" + suffix, [dtype](Trial& t) {
           t.check([](const Tensors& x) { return Tensors{at::addmm(x[0], x[1], x[2], 0.5, 2)}; },
                   {noise({4}, dtype, 1), noise({6, 8}, dtype, 2), noise({8, 4}, dtype, 3)},
                   {.terms = 9, .product = true});
         }});
    cases.push_back(
        {"op.conv2d.padded" + suffix, [dtype](Trial& t) {
           t.check(
               [](const Tensors& x) { return Tensors{at::conv2d(x[0], x[1], x[2], 2, 1)}; },
               {noise({2, 3, 8, 9}, dtype, 1), noise({4, 3, 3, 3}, dtype, 2), noise({4}, dtype, 3)},
               {.terms = 28, .product = true});
         }});
    cases.push_back({"op.max_pool2d.dense" + suffix, [dtype](Trial& t) {
                       t.check([](const Tensors& x) { return Tensors{at::max_pool2d(x[0], 2)}; },
                               {noise({2, 3, 8, 9}, dtype, 1)});
                     }});
  }
}

void add_integers(std::vector<CppCase>& cases) {
  const auto add = [&](const char* op, const Function& function, const Tensors& operands) {
    cases.push_back({std::string("op.") + op + ".integers.int64.value.0",
                     [=](Trial& t) { t.check(function, operands); }});
  };
  const at::Tensor x = numbers({4, 6}, at::kLong, -9), y = numbers({4, 6}, at::kLong, 40).flip({1});
  add("add", [](const Tensors& v) { return Tensors{v[0] + v[1]}; }, {x, y});
  add("mul", [](const Tensors& v) { return Tensors{v[0] * v[1] * (int64_t{1} << 33)}; }, {x, y});
  add("floor_divide", [](const Tensors& v) { return Tensors{at::floor_divide(v[0], v[1] - 55)}; },
      {x, numbers({4, 6}, at::kLong, 60)});
  add("remainder", [](const Tensors& v) { return Tensors{at::remainder(v[0], 4)}; }, {x});
  add("sum", [](const Tensors& v) { return Tensors{at::sum(v[0], {1}), at::sum(v[0])}; }, {x});
  add("cumsum", [](const Tensors& v) { return Tensors{at::cumsum(v[0], 0)}; }, {x});
  add("eq", [](const Tensors& v) { return Tensors{v[0] == v[1], v[0] < v[1]}; }, {x, y});
  add("index_select", [](const Tensors& v) { return Tensors{at::index_select(v[0], 1, v[1])}; },
      {x, numbers({3}, at::kLong, 2)});
  add("gather", [](const Tensors& v) { return Tensors{at::gather(v[0], 1, v[1])}; },
      {x, numbers({4, 6}, at::kLong).remainder(6)});
  add("scatter_add",
      [](const Tensors& v) {
        return Tensors{at::scatter_add(at::zeros_like(v[0]), 1, v[1], v[0])};
      },
      {x, numbers({4, 6}, at::kLong).remainder(2)});
  add("unique", [](const Tensors& v) { return Tensors{std::get<0>(at::_unique2(v[0] % 5))}; }, {y});
  add("nonzero", [](const Tensors& v) { return Tensors{at::nonzero(v[0])}; }, {x});
  add("bitwise", [](const Tensors& v) { return Tensors{v[0] & v[1], v[0] | v[1], v[0] ^ v[1]}; },
      {x, y});
}

}  // namespace

std::vector<CppCase> operator_cases() {
  std::vector<CppCase> cases;
  add_pointwise(cases);
  add_products(cases);
  add_integers(cases);
  return cases;
}

}  // namespace conformance
