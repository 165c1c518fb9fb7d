// gather and scatter.
#include <algorithm>

#include "emulator/base/property.h"
#include "emulator/hlo/ops/refusals.h"

namespace tpu::hlo::ops {
namespace {

using enum ElementType;
using testing::check_property;
using testing::Choices;

// A gather of random form, and the result's shape put together dimension by dimension.
struct Gather {
  Dims operand, indices, sizes, result;
  GatherDimensionNumbers numbers;
};

Gather random_gather(Choices& choices) {
  Gather g;
  const int64_t batches = choices.in(0, 2);  // of start_indices, all but the index vector
  Dims index_shape;
  for (int64_t i = 0; i < batches; ++i) index_shape.push_back(choices.in(0, 3));
  Dims windows;
  for (int64_t d = choices.in(0, 3); d > 0; --d) {
    const int64_t dimension = static_cast<int64_t>(g.operand.size());
    g.operand.push_back(choices.in(1, 4));
    const int64_t role = choices.in(0, 1);
    if (role == 0) g.numbers.start_index_map.push_back(dimension);
    if (choices.coin()) {
      g.sizes.push_back(1);
      g.numbers.collapsed_slice_dims.push_back(dimension);
    } else {
      g.sizes.push_back(choices.in(0, g.operand.back()));
      windows.push_back(g.sizes.back());
    }
  }
  if (!index_shape.empty() && choices.coin()) {
    g.numbers.operand_batching_dims = {static_cast<int64_t>(g.operand.size())};
    g.numbers.start_indices_batching_dims = {0};
    g.operand.push_back(index_shape[0]);
    g.sizes.push_back(std::min<int64_t>(index_shape[0], 1));
  }
  // The index vector goes last, so that batching dimension 0 keeps its number.
  g.indices = index_shape;
  g.numbers.index_vector_dim = batches;
  if (g.numbers.start_index_map.size() != 1 || choices.coin()) {
    g.indices.push_back(static_cast<int64_t>(g.numbers.start_index_map.size()));
  }
  // Interleave batches and windows.
  size_t batch = 0, window = 0;
  while (batch < index_shape.size() || window < windows.size()) {
    const bool take_window =
        window < windows.size() && (batch == index_shape.size() || choices.coin());
    if (take_window) g.numbers.offset_dims.push_back(static_cast<int64_t>(g.result.size()));
    g.result.push_back(take_window ? windows[window++] : index_shape[batch++]);
  }
  return g;
}

TEST(Gather, ResultIsBatchesAndWindowsInterleaved) {
  check_property(1000, [](Choices& choices) -> std::string {
    const Gather g = random_gather(choices);
    try {
      const TensorType got = type_of_built([&](Builder& b) {
        return b.gather(b.parameter({kF32, g.operand}), b.parameter({kSI32, g.indices}), g.numbers,
                        g.sizes);
      });
      return got.shape == g.result ? "" : "got " + to_string(got);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  });
}

// What a gather reads, a scatter of the same form writes: its updates have the gather's shape.
TEST(Scatter, AcceptsTheGathersForm) {
  check_property(1000, [](Choices& choices) -> std::string {
    const Gather g = random_gather(choices);
    const ScatterDimensionNumbers n{
        g.numbers.offset_dims,           g.numbers.collapsed_slice_dims,
        g.numbers.operand_batching_dims, g.numbers.start_indices_batching_dims,
        g.numbers.start_index_map,       g.numbers.index_vector_dim};
    try {
      const TensorType got = type_of_built([&](Builder& b) {
        return b.scatter({b.parameter({kF32, g.operand})}, b.parameter({kSI32, g.indices}),
                         {b.parameter({kF32, g.result})}, n, false, false,
                         Builder::combiner(OpKind::kAdd))[0];
      });
      return got.shape == g.operand ? "" : "got " + to_string(got);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
  });
}

TEST(Gather, Refusals) {
  // Rows [2, 4] of a [5, 4] table, 3 batches of it: operand [3, 5, 4], indices [3, 2, 1].
  struct Case {
    TensorType operand{kF32, {3, 5, 4}}, indices{kSI32, {3, 2, 1}};
    GatherDimensionNumbers n{{2}, {1}, {0}, {0}, {1}, 2};
    Dims sizes{1, 1, 4};
  };
  const auto with = [](auto change) {
    Case c;
    change(c);
    return
        [c](Builder& b) { b.gather(b.parameter(c.operand), b.parameter(c.indices), c.n, c.sizes); };
  };
  Module module;
  Builder good(module.add_function("main").body);
  EXPECT_NO_THROW(with([](Case&) {})(good));
  expect_refused({
      {"gather_i2", with([](Case& c) { c.indices.element = kF32; })},
      {"gather_c1", with([](Case& c) { c.n.offset_dims = {}; })},
      {"gather_c2", with([](Case& c) { c.n.index_vector_dim = 4; })},
      {"gather_c3", with([](Case& c) { c.n.start_index_map = {1, 2}; })},
      {"gather_c4", with([](Case& c) {
         c.n = {{2, 1}, {1}, {}, {}, {1}, 2};
         c.operand.shape = {3, 5, 4};
       })},
      {"gather_c5", with([](Case& c) { c.n.offset_dims = {3}; })},
      {"gather_c6", with([](Case& c) { c.n.collapsed_slice_dims = {0}; })},
      {"gather_c7", with([](Case& c) { c.n = {{}, {2, 1}, {0}, {0}, {1}, 2}; })},
      {"gather_c8", with([](Case& c) { c.n.collapsed_slice_dims = {3}; })},
      {"gather_c9", with([](Case& c) { c.sizes = {1, 2, 4}; })},
      {"gather_c10", with([](Case& c) { c.n = {{2}, {}, {1, 0}, {1, 0}, {2}, 2}; })},
      {"gather_c11", with([](Case& c) { c.n.operand_batching_dims = {-1}; })},
      {"gather_c12", with([](Case& c) { c.sizes = {2, 1, 4}; })},
      {"gather_c13", with([](Case& c) { c.n = {{2}, {}, {0, 1}, {0, 0}, {2}, 2}; })},
      {"gather_c14", with([](Case& c) { c.n.start_indices_batching_dims = {3}; })},
      {"gather_c15", with([](Case& c) { c.n.start_indices_batching_dims = {2}; })},
      {"gather_c16", with([](Case& c) { c.n.start_indices_batching_dims = {}; })},
      {"gather_c17", with([](Case& c) { c.n.start_indices_batching_dims = {1}; })},
      {"gather_c18", with([](Case& c) { c.n.start_index_map = {0}; })},
      {"gather_c19", with([](Case& c) { c.n.start_index_map = {3}; })},
      {"gather_c20", with([](Case& c) { c.sizes = {1, 1}; })},
      {"gather_c21", with([](Case& c) { c.sizes = {1, 1, 5}; })},
  });
}

TEST(Scatter, Refusals) {
  struct Case {
    std::vector<TensorType> inputs{{kF32, {3, 5, 4}}};
    TensorType indices{kSI32, {3, 2, 1}};
    std::vector<TensorType> updates{{kF32, {3, 2, 4}}};
    ScatterDimensionNumbers n{{2}, {1}, {0}, {0}, {1}, 2};
    Builder::Body body = Builder::combiner(OpKind::kAdd);
  };
  const auto with = [](auto change) {
    Case c;
    change(c);
    return [c](Builder& b) {
      std::vector<Value*> inputs, updates;
      for (const TensorType& type : c.inputs) inputs.push_back(b.parameter(type));
      Value* indices = b.parameter(c.indices);
      for (const TensorType& type : c.updates) updates.push_back(b.parameter(type));
      b.scatter(inputs, indices, updates, c.n, false, false, c.body);
    };
  };
  Module module;
  Builder good(module.add_function("main").body);
  EXPECT_NO_THROW(with([](Case&) {})(good));
  const TensorType input{kF32, {3, 5, 4}}, update{kF32, {3, 2, 4}}, scalar{kF32, {}};
  expect_refused({
      {"scatter_i2", with([](Case& c) { c.indices.element = kF32; })},
      {"scatter_c1", with([&](Case& c) {
         c.inputs = {input, {kF32, {3, 5, 5}}};
         c.updates = {update, update};
         c.body = returning({scalar, scalar});
       })},
      {"scatter_c2", with([](Case& c) { c.n.inserted_window_dims = {}; })},
      {"scatter_c3", with([&](Case& c) {
         c.inputs = {input, input};
         c.updates = {update, {kF32, {3, 2, 3}}};
         c.body = returning({scalar, scalar});
       })},
      {"scatter_c4", with([](Case& c) { c.updates[0].shape = {3, 2, 5}; })},
      {"scatter_c4", with([](Case& c) { c.updates[0].shape = {3, 3, 4}; })},
      {"scatter_c4", with([](Case& c) { c.updates[0].shape = {3, 2, 4, 1}; })},
      {"scatter_c5", with([&](Case& c) { c.updates = {update, update}; })},
      {"scatter_c6", with([](Case& c) { c.updates[0].element = kF64; })},
      {"scatter_c7", with([](Case& c) { c.n = {{2, 1}, {}, {0}, {0}, {1}, 2}; })},
      {"scatter_c8", with([](Case& c) { c.n.update_window_dims = {3}; })},
      {"scatter_c9", with([](Case& c) { c.n.inserted_window_dims = {0}; })},
      {"scatter_c10", with([](Case& c) { c.n = {{}, {2, 1}, {0}, {0}, {1}, 2}; })},
      {"scatter_c11", with([](Case& c) { c.n.inserted_window_dims = {3}; })},
      {"scatter_c12", with([](Case& c) { c.n = {{2}, {}, {1, 0}, {1, 0}, {2}, 2}; })},
      {"scatter_c13", with([](Case& c) { c.n.input_batching_dims = {3}; })},
      {"scatter_c14", with([](Case& c) { c.n = {{2}, {}, {0, 1}, {0, 0}, {2}, 2}; })},
      {"scatter_c15", with([](Case& c) { c.n.scatter_indices_batching_dims = {3}; })},
      {"scatter_c16", with([](Case& c) { c.n.scatter_indices_batching_dims = {2}; })},
      {"scatter_c17", with([](Case& c) { c.n.scatter_indices_batching_dims = {}; })},
      {"scatter_c18", with([](Case& c) { c.n.scatter_indices_batching_dims = {1}; })},
      {"scatter_c19", with([](Case& c) { c.n.scatter_dims_to_operand_dims = {}; })},
      {"scatter_c20", with([](Case& c) { c.n.scatter_dims_to_operand_dims = {0}; })},
      {"scatter_c21", with([](Case& c) { c.n.scatter_dims_to_operand_dims = {3}; })},
      {"scatter_c22", with([](Case& c) { c.n.index_vector_dim = 4; })},
      {"scatter_c23", with([](Case& c) { c.body = returning({{kSI32, {}}}); })},
  });
}

}  // namespace
}  // namespace tpu::hlo::ops
