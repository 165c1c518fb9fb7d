// Windows, contractions and reductions against formulas that count.
#include <algorithm>

#include "emulator/base/property.h"
#include "emulator/hlo/ops/refusals.h"
#include "emulator/hlo/window.h"

namespace tpu::hlo::ops {
namespace {

using enum ElementType;
using testing::check_property;
using testing::Choices;

// Lays out the input with its holes and padding, then tries each start of the window in turn.
int64_t count_positions(int64_t input, const WindowDimension& w) {
  int64_t length = w.low_padding + w.high_padding;
  for (int64_t i = 0; i < input; ++i) length += i == 0 ? 1 : w.base_dilation;
  int64_t reach = 0;
  for (int64_t i = 0; i < w.size; ++i) reach += i == 0 ? 1 : w.window_dilation;
  int64_t positions = 0;
  if (length <= 0) return 0;
  for (int64_t start = 0; start + reach <= length; start += w.stride) ++positions;
  return positions;
}

WindowDimension random_window(Choices& choices, bool dilated = true) {
  return {.size = choices.in(1, 4),
          .stride = choices.in(1, 3),
          .low_padding = choices.in(-1, 3),
          .high_padding = choices.in(-1, 3),
          .base_dilation = dilated ? choices.in(1, 3) : 1,
          .window_dilation = dilated ? choices.in(1, 3) : 1};
}

std::string compare_shapes(const Dims& got, const Dims& want) {
  return got == want ? "" : "got " + to_string({kF32, got}) + ", want " + to_string({kF32, want});
}

TEST(ReduceWindow, OneResultForEachPosition) {
  check_property(500, [](Choices& choices) -> std::string {
    Dims shape(choices.in(0, 3)), want;
    Builder::Window window;
    window.padding = {static_cast<int64_t>(shape.size()), 2, {}};
    for (int64_t& size : shape) {
      size = choices.in(0, 9);
      const WindowDimension w = random_window(choices);
      window.dimensions.push_back(w.size);
      window.strides.push_back(w.stride);
      window.base_dilations.push_back(w.base_dilation);
      window.window_dilations.push_back(w.window_dilation);
      window.padding.values.insert(window.padding.values.end(), {w.low_padding, w.high_padding});
      want.push_back(count_positions(size, w));
    }
    const TensorType got = type_of_built([&](Builder& b) {
      return b.reduce_window({b.parameter({kF32, shape})}, {b.constant(kF32, 0.0)}, window,
                             Builder::combiner(OpKind::kAdd))[0];
    });
    return compare_shapes(got.shape, want);
  });
}

TEST(ReduceWindow, Refusals) {
  const Builder::Window good{{2}, {1}, {1}, {1}, {1, 2, {0, 0}}};
  const auto pool = [](Builder::Window window, std::vector<TensorType> inputs,
                       std::vector<TensorType> inits,
                       Builder::Body body = Builder::combiner(OpKind::kAdd)) {
    return [=](Builder& b) {
      std::vector<Value*> values, starts;
      for (const TensorType& type : inputs) values.push_back(b.parameter(type));
      for (const TensorType& type : inits) starts.push_back(b.parameter(type));
      b.reduce_window(values, starts, window, body);
    };
  };
  const TensorType x{kF32, {4}}, init{kF32, {}};
  const auto with = [&](auto change) {
    Builder::Window window = good;
    change(window);
    return pool(window, {x}, {init});
  };
  expect_refused({
      {"reduce_window_c1", pool(good, {x, x}, {init}, returning({init, init}))},
      {"reduce_window_c2", pool(good, {x, {kF32, {5}}}, {init, init}, returning({init, init}))},
      {"reduce_window_c3", pool(good, {x}, {{kF64, {}}})},
      {"reduce_window_c4", with([](auto& w) { w.dimensions = {2, 2}; })},
      {"reduce_window_c5", with([](auto& w) { w.dimensions = {0}; })},
      {"reduce_window_c6", with([](auto& w) { w.strides = {}; })},
      {"reduce_window_c7", with([](auto& w) { w.strides = {0}; })},
      {"reduce_window_c8", with([](auto& w) { w.base_dilations = {1, 1}; })},
      {"reduce_window_c9", with([](auto& w) { w.base_dilations = {-1}; })},
      {"reduce_window_c10", with([](auto& w) { w.window_dilations = {}; })},
      {"reduce_window_c11", with([](auto& w) { w.window_dilations = {0}; })},
      {"reduce_window_c12", with([](auto& w) { w.padding = {2, 1, {0, 0}}; })},
      {"reduce_window_c13", pool(good, {x}, {init}, returning({{kF32, {1}}}))},
      {"reduce_window_c13", pool(good, {x}, {init}, returning({init, init}))},
  });
}

TEST(SelectAndScatter, SourceHasAnElementForEachWindow) {
  const auto built = [](Dims source) {
    return [=](Builder& b) {
      const auto ge = [](Builder& inner, std::span<Value* const> args) {
        inner.ret({inner.compare(args[0], args[1], "GE")});
      };
      return b.select_and_scatter(b.parameter({kF32, {4, 6}}), b.parameter({kF32, source}),
                                  b.constant(kF32, 0.0), {3, 1}, {2, 2}, {2, 2, {0, 1, 0, 0}}, ge,
                                  Builder::combiner(OpKind::kAdd));
    };
  };
  EXPECT_EQ(type_of_built(built({2, 3})), (TensorType{kF32, {4, 6}}));
  const auto refused = [](TensorType source, TensorType init, Dims sizes, Dims strides,
                          IntMatrix padding, Builder::Body select, Builder::Body scatter) {
    return [=](Builder& b) {
      b.select_and_scatter(b.parameter({kF32, {4}}), b.parameter(source), b.parameter(init), sizes,
                           strides, padding, select, scatter);
    };
  };
  const TensorType s{kF32, {2}}, i{kF32, {}};
  const IntMatrix p{1, 2, {0, 0}};
  const Builder::Body pick = returning({{kI1, {}}}), add = Builder::combiner(OpKind::kAdd);
  expect_refused({
      {"select_and_scatter_c1", refused({kF64, {2}}, i, {2}, {2}, p, pick, add)},
      {"select_and_scatter_c2", refused({kF32, {3}}, i, {2}, {2}, p, pick, add)},
      {"select_and_scatter_c3", refused(s, {kF64, {}}, {2}, {2}, p, pick, add)},
      {"select_and_scatter_c4", refused(s, i, {2, 2}, {2}, p, pick, add)},
      {"select_and_scatter_c5", refused(s, i, {0}, {2}, p, pick, add)},
      {"select_and_scatter_c6", refused(s, i, {2}, {2, 2}, p, pick, add)},
      {"select_and_scatter_c7", refused(s, i, {2}, {0}, p, pick, add)},
      {"select_and_scatter_c8", refused(s, i, {2}, {2}, {2, 2, {0, 0, 0, 0}}, pick, add)},
      {"select_and_scatter_c9", refused(s, i, {2}, {2}, p, add, add)},
      {"select_and_scatter_c10", refused(s, i, {2}, {2}, p, pick, returning({{kSI32, {}}}))},
  });
}

struct Convolution {
  Dims lhs, rhs;
  ConvDimensionNumbers numbers;
  Builder::ConvolutionWindow window;
  Dims result;
};

Dims random_permutation(Choices& choices, int64_t size) {
  Dims permutation(size);
  for (int64_t i = 0; i < size; ++i) permutation[i] = i;
  for (int64_t i = 0; i < size; ++i)
    std::swap(permutation[i], permutation[choices.in(i, size - 1)]);
  return permutation;
}

// Sizes in the order (first, second, spatial...) put where `place` says.
Dims placed(const Dims& sizes, const Dims& place) {
  Dims shape(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) shape[place[i]] = sizes[i];
  return shape;
}

Convolution random_convolution(Choices& choices) {
  Convolution c;
  const int64_t spatial = choices.in(0, 3);
  const bool by_feature = choices.coin();
  const int64_t groups = choices.in(1, 3);
  c.window.feature_group_count = by_feature ? groups : 1;
  c.window.batch_group_count = by_feature ? 1 : groups;
  const int64_t batch = choices.in(0, 3) * c.window.batch_group_count;
  const int64_t features = choices.in(1, 3);
  const int64_t out_features = choices.in(1, 3) * groups;
  Dims lhs = {batch, features * c.window.feature_group_count}, rhs = {features, out_features};
  Dims result = {batch / c.window.batch_group_count, out_features};
  c.window.padding = {spatial, 2, {}};
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t size = choices.in(0, 7);
    const WindowDimension w = random_window(choices);
    lhs.push_back(size);
    rhs.push_back(w.size);
    result.push_back(count_positions(size, w));
    c.window.window_strides.push_back(w.stride);
    c.window.lhs_dilation.push_back(w.base_dilation);
    c.window.rhs_dilation.push_back(w.window_dilation);
    c.window.window_reversal.push_back(choices.coin());
    c.window.padding.values.insert(c.window.padding.values.end(), {w.low_padding, w.high_padding});
  }
  const Dims in = random_permutation(choices, spatial + 2);
  const Dims kernel = random_permutation(choices, spatial + 2);
  const Dims out = random_permutation(choices, spatial + 2);
  c.lhs = placed(lhs, in);
  c.rhs = placed(rhs, kernel);
  c.result = placed(result, out);
  c.numbers = {.input_batch_dimension = in[0],
               .input_feature_dimension = in[1],
               .input_spatial_dimensions = Dims(in.begin() + 2, in.end()),
               .kernel_input_feature_dimension = kernel[0],
               .kernel_output_feature_dimension = kernel[1],
               .kernel_spatial_dimensions = Dims(kernel.begin() + 2, kernel.end()),
               .output_batch_dimension = out[0],
               .output_feature_dimension = out[1],
               .output_spatial_dimensions = Dims(out.begin() + 2, out.end())};
  return c;
}

TEST(Convolution, ShapeFollowsFromCounting) {
  check_property(500, [](Choices& choices) -> std::string {
    const Convolution c = random_convolution(choices);
    const TensorType got = type_of_built([&](Builder& b) {
      return b.convolution(b.parameter({kBF16, c.lhs}), b.parameter({kBF16, c.rhs}), c.window,
                           c.numbers, kF32);
    });
    if (got.element != kF32) return "the result's element type was not respected";
    return compare_shapes(got.shape, c.result);
  });
}

TEST(Convolution, Refusals) {
  // [N, C, W] = [4, 6, 8] by [O, I, W] = [6, 6, 3].
  const ConvDimensionNumbers numbers{.input_spatial_dimensions = {2},
                                     .kernel_spatial_dimensions = {2},
                                     .output_spatial_dimensions = {2}};
  Builder::ConvolutionWindow window;
  window.window_strides = window.lhs_dilation = window.rhs_dilation = {1};
  window.padding = {1, 2, {0, 0}};
  window.window_reversal = {false};
  struct Case {
    TensorType lhs{kF32, {4, 6, 8}}, rhs{kF32, {6, 6, 3}};
    ConvDimensionNumbers n;
    Builder::ConvolutionWindow w;
    ElementType result = kF32;
    std::string precision = "HIGHEST";
  };
  const auto with = [&](auto change) {
    Case c{.n = numbers, .w = window};
    change(c);
    return [c](Builder& b) {
      b.convolution(b.parameter(c.lhs), b.parameter(c.rhs), c.w, c.n, c.result, c.precision);
    };
  };
  Module module;
  Builder good(module.add_function("main").body);
  EXPECT_NO_THROW(with([](Case&) {})(good));
  expect_refused({
      {"convolution_c1", with([](Case& c) { c.rhs.shape = {6, 6}; })},
      {"convolution_c2", with([](Case& c) { c.w.window_strides = {1, 1}; })},
      {"convolution_c3", with([](Case& c) { c.w.window_strides = {0}; })},
      {"convolution_c4", with([](Case& c) { c.w.padding = {2, 1, {0, 0}}; })},
      {"convolution_c5", with([](Case& c) { c.w.lhs_dilation = {}; })},
      {"convolution_c6", with([](Case& c) { c.w.lhs_dilation = {0}; })},
      {"convolution_c7", with([](Case& c) { c.w.rhs_dilation = {}; })},
      {"convolution_c8", with([](Case& c) { c.w.rhs_dilation = {-2}; })},
      {"convolution_c9", with([](Case& c) { c.w.window_reversal = {}; })},
      {"convolution_c10", with([](Case& c) { c.w.batch_group_count = 3; })},
      {"convolution_c11", with([](Case& c) { c.w.feature_group_count = 4; })},
      {"convolution_c12", with([](Case& c) { c.n.input_spatial_dimensions = {}; })},
      {"convolution_c13", with([](Case& c) { c.n.input_feature_dimension = 2; })},
      {"convolution_c13", with([](Case& c) { c.n.input_feature_dimension = 3; })},
      {"convolution_c14", with([](Case& c) { c.w.feature_group_count = 2; })},
      {"convolution_c15", with([](Case& c) { c.w.batch_group_count = 4; })},
      {"convolution_c16", with([](Case& c) {
         c.w.feature_group_count = 2;
         c.rhs.shape = {5, 3, 3};
       })},
      {"convolution_c17", with([](Case& c) { c.n.kernel_spatial_dimensions = {2, 2}; })},
      {"convolution_c18", with([](Case& c) { c.n.kernel_spatial_dimensions = {1}; })},
      {"convolution_c19", with([](Case& c) { c.n.output_spatial_dimensions = {}; })},
      {"convolution_c20", with([](Case& c) { c.n.output_batch_dimension = -1; })},
      {"convolution_c21", with([](Case& c) { c.w.feature_group_count = 0; })},
      {"convolution_c22", with([](Case& c) { c.w.batch_group_count = 0; })},
      {"convolution_c23", with([](Case& c) {
         c.w.batch_group_count = 2;
         c.w.feature_group_count = 2;
       })},
      {"convolution_c24", with([](Case& c) { c.precision = "EXACT"; })},
      {"convolution_c27", with([](Case& c) { c.rhs.element = kBF16; })},
      {"convolution_c27", with([](Case& c) { c.result = kSI32; })},
  });
}

TEST(DotGeneral, ShapeFollowsFromRoles) {
  check_property(500, [](Choices& choices) -> std::string {
    Dims batch(choices.in(0, 2)), sum(choices.in(0, 2)), left(choices.in(0, 2)),
        right(choices.in(0, 2));
    for (Dims* sizes : {&batch, &sum, &left, &right}) {
      for (int64_t& size : *sizes) size = choices.in(0, 4);
    }
    // Each side lists its batch, contracting and free sizes, then shuffles the dimensions.
    const auto side = [&](const Dims& free, Dims& shape, Dims& batching, Dims& contracting) {
      Dims sizes = batch;
      sizes.insert(sizes.end(), sum.begin(), sum.end());
      sizes.insert(sizes.end(), free.begin(), free.end());
      Dims place = random_permutation(choices, static_cast<int64_t>(sizes.size()));
      std::sort(place.begin() + static_cast<int64_t>(batch.size() + sum.size()), place.end());
      shape = placed(sizes, place);
      const auto middle = place.begin() + static_cast<int64_t>(batch.size());
      batching.assign(place.begin(), middle);
      contracting.assign(middle, middle + static_cast<int64_t>(sum.size()));
    };
    Dims lhs, rhs;
    DotDimensionNumbers n;
    side(left, lhs, n.lhs_batching_dimensions, n.lhs_contracting_dimensions);
    side(right, rhs, n.rhs_batching_dimensions, n.rhs_contracting_dimensions);
    Dims want = batch;
    want.insert(want.end(), left.begin(), left.end());
    want.insert(want.end(), right.begin(), right.end());
    const TensorType got = type_of_built([&](Builder& b) {
      return b.dot_general(b.parameter({kSI8, lhs}), b.parameter({kSI8, rhs}), n, kSI32);
    });
    return got.element == kSI32 ? compare_shapes(got.shape, want) : "wrong element type";
  });
}

TEST(DotGeneral, Refusals) {
  const auto dot = [](DotDimensionNumbers n, ElementType rhs = kF32, ElementType result = kF32,
                      std::string precision = "DEFAULT") {
    return [=](Builder& b) {
      b.dot_general(b.parameter({kF32, {2, 3, 4}}), b.parameter({rhs, {2, 4, 5}}), n, result,
                    precision);
    };
  };
  const DotDimensionNumbers good{{0}, {0}, {2}, {1}};
  expect_refused({
      {"dot_general_c1", dot({{0}, {}, {2}, {1}})},
      {"dot_general_c2", dot({{0}, {0}, {2}, {}})},
      {"dot_general_c3", dot({{0}, {0}, {0}, {1}})},
      {"dot_general_c4", dot({{0}, {0}, {2}, {0}})},
      {"dot_general_c5", dot({{3}, {0}, {2}, {1}})},
      {"dot_general_c6", dot({{0}, {0}, {-1}, {1}})},
      {"dot_general_c7", dot({{0}, {3}, {2}, {1}})},
      {"dot_general_c8", dot({{0}, {0}, {2}, {4}})},
      {"dot_general_c9", dot({{1}, {0}, {2}, {1}})},
      {"dot_general_c10", dot({{0}, {0}, {2}, {2}})},
      {"dot_general_c11", dot(good, kF32, kF32, "LOW")},
      {"dot_general_c13", dot(good, kBF16)},
      {"dot_general_c13", dot(good, kF32, kSI32)},
  });
}

TEST(Reduce, KeepsTheOtherDimensions) {
  check_property(300, [](Choices& choices) -> std::string {
    Dims shape(choices.in(0, 4)), dimensions, want;
    for (size_t d = 0; d < shape.size(); ++d) {
      shape[d] = choices.in(0, 4);
      if (choices.coin()) {
        dimensions.insert(dimensions.begin(), static_cast<int64_t>(d));
      } else {
        want.push_back(shape[d]);
      }
    }
    Module module;
    Builder b(module.add_function("main").body);
    const std::vector<Value*> got =
        b.reduce({b.parameter({kF32, shape}), b.parameter({kSI32, shape})},
                 {b.constant(kF32, 0.0), b.constant(kSI32, int64_t{0})}, dimensions,
                 [](Builder& inner, std::span<Value* const> args) {
                   inner.ret({inner.add(args[0], args[2]), inner.maximum(args[1], args[3])});
                 });
    if (got.size() != 2 || got[0]->type.element != kF32 || got[1]->type.element != kSI32) {
      return "wrong element types";
    }
    return compare_shapes(got[1]->type.shape, want);
  });
}

// A body may accumulate in a wider type (specification, is_promotable).
TEST(Reduce, ResultHasTheBodysElementType) {
  Module module;
  Builder b(module.add_function("main").body);
  auto body = std::make_unique<Block>();
  Builder inner(*body);
  Value* first = inner.parameter({kF32, {}});
  Value* second = inner.parameter({kF32, {}});
  inner.ret({inner.add(first, second)});
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::move(body));
  Op* op = b.create(OpKind::kReduce, {b.parameter({kBF16, {3}}), b.constant(kBF16, 0.0)},
                    {{"dimensions", Dims{0}}}, std::move(regions));
  EXPECT_EQ(op->result()->type, (TensorType{kF32, {}}));
}

TEST(Reduce, Refusals) {
  const auto reduce = [](std::vector<TensorType> inputs, std::vector<TensorType> inits,
                         Dims dimensions, Builder::Body body) {
    return [=](Builder& b) {
      std::vector<Value*> values, starts;
      for (const TensorType& type : inputs) values.push_back(b.parameter(type));
      for (const TensorType& type : inits) starts.push_back(b.parameter(type));
      b.reduce(values, starts, dimensions, body);
    };
  };
  const TensorType x{kF32, {4, 2}}, init{kF32, {}};
  const Builder::Body add = Builder::combiner(OpKind::kAdd);
  expect_refused({
      {"reduce_c1", reduce({x, {kF32, {4}}}, {init, init}, {0}, returning({init, init}))},
      {"reduce_c2", reduce({x}, {{kF64, {}}}, {0}, add)},
      {"reduce_c2", reduce({x}, {{kF32, {1}}}, {0}, add)},
      {"reduce_c3", reduce({x, x}, {init}, {0}, returning({init, init}))},
      {"reduce_c4", reduce({x}, {init}, {2}, add)},
      {"reduce_c5", reduce({x}, {init}, {1, 1}, add)},
      {"reduce_c6", reduce({x}, {init}, {0}, returning({{kSI32, {}}}))},
      {"reduce_c6", reduce({x}, {init}, {0}, returning({{kF32, {2}}}))},
      {"must end in 'return'", reduce({x}, {init}, {0}, [](Builder&, auto) {})},
  });
}

TEST(Sort, TypesAndRefusals) {
  const auto sort = [](std::vector<TensorType> inputs, int64_t dimension, Builder::Body body) {
    return [=](Builder& b) -> Value* {
      std::vector<Value*> values;
      for (const TensorType& type : inputs) values.push_back(b.parameter(type));
      return b.sort(values, dimension, true, body).back();
    };
  };
  const Builder::Body less = [](Builder& b, std::span<Value* const> args) {
    b.ret({b.compare(args[0], args[1], "LT")});
  };
  const TensorType keys{kF32, {4, 2}}, values{kSI32, {4, 2}};
  for (int64_t dimension : {-2, -1, 0, 1}) {
    EXPECT_EQ(type_of_built(sort({keys, values}, dimension, less)), values);
  }
  const auto refused = [&](std::vector<TensorType> inputs, int64_t dimension, Builder::Body body) {
    return [=](Builder& b) { sort(inputs, dimension, body)(b); };
  };
  expect_refused({
      {"sort_c3", refused({keys, {kSI32, {4}}}, 0, less)},
      {"sort_c4", refused({keys}, 2, less)},
      {"sort_c4", refused({keys}, -3, less)},
      {"sort_c5", refused({keys}, 0, Builder::combiner(OpKind::kAdd))},
  });
}

TEST(Map, TypesAndRefusals) {
  const auto map = [](Dims dimensions, Builder::Body body) {
    return [=](Builder& b) {
      Value* x = b.parameter({kF32, {2, 3}});
      auto block = std::make_unique<Block>();
      std::vector<Value*> args = {block->add_argument({kF32, {}})};
      Builder inner(*block);
      body(inner, args);
      std::vector<std::unique_ptr<Block>> regions;
      regions.push_back(std::move(block));
      return b.create(OpKind::kMap, {x}, {{"dimensions", dimensions}}, std::move(regions))
          ->result();
    };
  };
  EXPECT_EQ(type_of_built(map({0, 1}, returning({{kSI32, {}}}))), (TensorType{kSI32, {2, 3}}));
  expect_refused({
      {"map_c3", [=](Builder& b) { map({1, 0}, returning({{kF32, {}}}))(b); }},
      {"map_c3", [=](Builder& b) { map({0}, returning({{kF32, {}}}))(b); }},
      {"map_c4", [=](Builder& b) { map({0, 1}, returning({{kF32, {1}}}))(b); }},
      {"map_c4", [=](Builder& b) { map({0, 1}, returning({}))(b); }},
  });
}

}  // namespace
}  // namespace tpu::hlo::ops
