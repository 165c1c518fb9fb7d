// Shapes against formulas that count elements instead of computing sizes.
#include <algorithm>
#include <set>

#include "emulator/base/property.h"
#include "emulator/hlo/ops/refusals.h"

namespace tpu::hlo::ops {
namespace {

using enum ElementType;
using testing::check_property;
using testing::Choices;

Dims random_shape(Choices& choices, int64_t max_rank = 4, int64_t min_size = 0) {
  Dims shape(choices.in(0, max_rank));
  for (int64_t& size : shape) size = choices.in(min_size, 5);
  return shape;
}

Dims random_permutation(Choices& choices, int64_t size) {
  Dims permutation(size);
  for (int64_t i = 0; i < size; ++i) permutation[i] = i;
  for (int64_t i = 0; i < size; ++i)
    std::swap(permutation[i], permutation[choices.in(i, size - 1)]);
  return permutation;
}

std::string compare_shapes(const Dims& got, const Dims& want) {
  return got == want ? "" : "got " + to_string({kF32, got}) + ", want " + to_string({kF32, want});
}

TEST(Slice, SizeIsTheNumberOfIndicesVisited) {
  check_property(500, [](Choices& choices) -> std::string {
    const Dims shape = random_shape(choices);
    Dims start, limit, strides, want;
    for (int64_t size : shape) {
      start.push_back(choices.in(0, size));
      limit.push_back(choices.in(start.back(), size));
      strides.push_back(choices.in(1, 3));
      int64_t visited = 0;
      for (int64_t i = start.back(); i < limit.back(); i += strides.back()) ++visited;
      want.push_back(visited);
    }
    const auto built = [&](Builder& b) {
      return b.slice(b.parameter({kF32, shape}), start, limit, strides);
    };
    return compare_shapes(type_of_built(built).shape, want);
  });
}

TEST(Slice, Refusals) {
  const auto slice = [](Dims start, Dims limit, Dims strides) {
    return [=](Builder& b) { b.slice(b.parameter({kF32, {4, 4}}), start, limit, strides); };
  };
  expect_refused({
      {"slice_c2", slice({0}, {4, 4}, {1, 1})},
      {"slice_c2", slice({0, 0}, {4}, {1, 1})},
      {"slice_c2", slice({0, 0}, {4, 4}, {1, 1, 1})},
      {"slice_c3", slice({-1, 0}, {4, 4}, {1, 1})},
      {"slice_c3", slice({3, 0}, {2, 4}, {1, 1})},
      {"slice_c3", slice({0, 0}, {4, 5}, {1, 1})},
      {"slice_c4", slice({0, 0}, {4, 4}, {1, 0})},
  });
}

// Lays the elements of one dimension out one by one, then cuts or adds at the ends.
int64_t padded_size(int64_t size, int64_t low, int64_t high, int64_t interior) {
  int64_t laid = 0;
  for (int64_t i = 0; i < size; ++i) laid += 1 + (i + 1 < size ? interior : 0);
  return laid + low + high;
}

TEST(Pad, SizeIsTheNumberOfElementsLaidOut) {
  check_property(500, [](Choices& choices) -> std::string {
    const Dims shape = random_shape(choices);
    Dims low, high, interior, want;
    for (int64_t size : shape) {
      low.push_back(choices.in(-2, 3));
      high.push_back(choices.in(-2, 3));
      interior.push_back(choices.in(0, 2));
      want.push_back(padded_size(size, low.back(), high.back(), interior.back()));
    }
    const auto built = [&](Builder& b) {
      Value* zero = b.constant(kF32, 0.0);
      return b.pad(b.parameter({kF32, shape}), zero, low, high, interior);
    };
    const bool negative = std::ranges::any_of(want, [](int64_t size) { return size < 0; });
    try {
      const std::string problem = compare_shapes(type_of_built(built).shape, want);
      return negative ? "a negative size was accepted" : problem;
    } catch (const InvalidArgument& error) {
      return negative ? "" : error.what();
    }
  });
}

TEST(Pad, Refusals) {
  const auto pad = [](TensorType value, Dims low, Dims high, Dims interior) {
    return [=](Builder& b) {
      b.pad(b.parameter({kF32, {4}}), b.parameter(value), low, high, interior);
    };
  };
  expect_refused({
      {"pad_c1", pad({kF64, {}}, {0}, {0}, {0})},
      {"pad_i2", pad({kF32, {1}}, {0}, {0}, {0})},
      {"pad_c2", pad({kF32, {}}, {0, 0}, {0}, {0})},
      {"pad_c3", pad({kF32, {}}, {0}, {0}, {-1})},
      {"pad_c4", pad({kF32, {}}, {-3}, {-2}, {0})},
  });
}

// A broadcast is right exactly if every result index, mapped back, is an index of the operand.
TEST(BroadcastInDim, AcceptsWhatMapsBack) {
  check_property(1000, [](Choices& choices) -> std::string {
    const Dims result = random_shape(choices, 3, 1);
    const int64_t rank = choices.in(0, static_cast<int64_t>(result.size()));
    Dims dims = random_permutation(choices, static_cast<int64_t>(result.size()));
    dims.resize(rank);
    Dims operand;
    bool fits = true;
    for (int64_t d : dims) {
      operand.push_back(choices.coin() ? result[d] : choices.in(1, 3));
      // Size 1 repeats; otherwise index i of the result reads index i of the operand, and each
      // element of the operand is read.
      fits &= operand.back() == 1 || operand.back() == result[d];
    }
    const auto built = [&](Builder& b) {
      return b.broadcast_in_dim(b.parameter({kF32, operand}), result, dims);
    };
    try {
      const std::string problem = compare_shapes(type_of_built(built).shape, result);
      return fits ? problem : "was accepted";
    } catch (const InvalidArgument& error) {
      return fits ? error.what() : "";
    }
  });
}

TEST(BroadcastInDim, Refusals) {
  const auto broadcast = [](Dims operand, Dims result, Dims dims) {
    return [=](Builder& b) { b.broadcast_in_dim(b.parameter({kF32, operand}), result, dims); };
  };
  expect_refused({
      {"broadcast_in_dim_c1",
       [](Builder& b) {
         b.create(OpKind::kBroadcastInDim, {b.parameter({kF32, {}})},
                  {{"broadcast_dimensions", Dims{}}}, {}, {{kF64, {2}}});
       }},
      {"broadcast_in_dim_c2", broadcast({2}, {2, 2}, {})},
      {"broadcast_in_dim_c3", broadcast({2}, {2, 2}, {2})},
      {"broadcast_in_dim_c3", broadcast({2}, {2, 2}, {-1})},
      {"broadcast_in_dim_c4", broadcast({2, 2}, {2, 2}, {1, 1})},
      {"broadcast_in_dim_c5", broadcast({2}, {3, 3}, {0})},
  });
}

TEST(Transpose, IsUndoneByTheInverse) {
  check_property(300, [](Choices& choices) -> std::string {
    const Dims shape = random_shape(choices);
    const Dims permutation = random_permutation(choices, static_cast<int64_t>(shape.size()));
    Dims inverse(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) inverse[permutation[i]] = static_cast<int64_t>(i);
    Module module;
    Builder b(module.add_function("main").body);
    Value* there = b.transpose(b.parameter({kF32, shape}), permutation);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (there->type.shape[i] != shape[permutation[i]]) return "wrong size";
    }
    return compare_shapes(b.transpose(there, inverse)->type.shape, shape);
  });
}

TEST(Transpose, ReverseReshapeRefusals) {
  const auto x = [](Builder& b) { return b.parameter({kF32, {2, 3}}); };
  expect_refused({
      {"transpose_c2", [=](Builder& b) { b.transpose(x(b), {0}); }},
      {"transpose_c2", [=](Builder& b) { b.transpose(x(b), {0, 0}); }},
      {"transpose_c2", [=](Builder& b) { b.transpose(x(b), {1, 2}); }},
      {"reverse_c2", [=](Builder& b) { b.reverse(x(b), {0, 0}); }},
      {"reverse_c3", [=](Builder& b) { b.reverse(x(b), {2}); }},
      {"reshape_c2", [=](Builder& b) { b.reshape(x(b), {2, 2}); }},
      {"reshape_c1",
       [=](Builder& b) { b.create(OpKind::kReshape, {x(b)}, {}, {}, {{kF64, {6}}}); }},
  });
  EXPECT_EQ(type_of_built([=](Builder& b) { return b.reverse(x(b), {1}); }),
            (TensorType{kF32, {2, 3}}));
  EXPECT_EQ(type_of_built([=](Builder& b) { return b.reshape(x(b), {3, 1, 2}); }),
            (TensorType{kF32, {3, 1, 2}}));
}

TEST(Concatenate, IsUndoneBySlices) {
  check_property(300, [](Choices& choices) -> std::string {
    Dims shape = random_shape(choices);
    if (shape.empty()) shape = {2};
    const int64_t dimension = choices.in(0, static_cast<int64_t>(shape.size()) - 1);
    Module module;
    Builder b(module.add_function("main").body);
    std::vector<Value*> inputs;
    for (int64_t i = choices.in(1, 4); i > 0; --i) {
      shape[dimension] = choices.in(0, 3);
      inputs.push_back(b.parameter({kF32, shape}));
    }
    Value* whole = b.concatenate(inputs, dimension);
    Dims start(shape.size(), 0), limit = whole->type.shape;
    for (Value* input : inputs) {
      limit[dimension] = start[dimension] + input->type.shape[dimension];
      Value* part = b.slice(whole, start, limit, Dims(shape.size(), 1));
      if (part->type != input->type) return "a part has another shape";
      start[dimension] = limit[dimension];
    }
    return start[dimension] == whole->type.shape[dimension] ? "" : "elements are left over";
  });
  const auto concatenate = [](std::vector<TensorType> types, int64_t dimension) {
    return [=](Builder& b) {
      std::vector<Value*> inputs;
      for (const TensorType& type : types) inputs.push_back(b.parameter(type));
      b.concatenate(inputs, dimension);
    };
  };
  expect_refused({
      {"concatenate_c1", concatenate({{kF32, {2}}, {kF64, {2}}}, 0)},
      {"concatenate_c2", concatenate({{kF32, {2, 3}}, {kF32, {2, 4}}}, 0)},
      {"concatenate_c2", concatenate({{kF32, {2, 3}}, {kF32, {2}}}, 0)},
      {"takes 1 or more operands", concatenate({}, 0)},
      {"concatenate_c4", concatenate({{kF32, {2}}}, 1)},
      {"concatenate_c4", concatenate({{kF32, {}}}, 0)},
  });
}

TEST(DynamicSlice, SizesAndRefusals) {
  const auto slice = [](std::vector<TensorType> starts, Dims sizes) {
    return [=](Builder& b) -> Value* {
      std::vector<Value*> indices;
      for (const TensorType& type : starts) indices.push_back(b.parameter(type));
      return b.dynamic_slice(b.parameter({kF32, {4, 5}}), indices, sizes);
    };
  };
  const TensorType index{kSI32, {}};
  EXPECT_EQ(type_of_built(slice({index, index}, {4, 0})), (TensorType{kF32, {4, 0}}));
  const auto refused = [&](std::vector<TensorType> starts, Dims sizes) {
    return [=](Builder& b) { slice(starts, sizes)(b); };
  };
  expect_refused({
      {"dynamic_slice_c2", refused({index}, {4, 0})},
      {"dynamic_slice_c2", refused({index, index}, {4})},
      {"dynamic_slice_c3", refused({index, {kSI64, {}}}, {1, 1})},
      {"dynamic_slice_c4", refused({index, index}, {5, 1})},
      {"dynamic_slice_c4", refused({index, index}, {1, -1})},
      {"dynamic_slice_i2", refused({{kF32, {}}, {kF32, {}}}, {1, 1})},
      {"dynamic_slice_i3", refused({index, {kSI32, {1}}}, {1, 1})},
  });
}

TEST(DynamicUpdateSlice, SizesAndRefusals) {
  const auto update = [](TensorType type, int indices) {
    return [=](Builder& b) {
      std::vector<Value*> starts;
      for (int i = 0; i < indices; ++i) starts.push_back(b.parameter({kUI32, {}}));
      b.dynamic_update_slice(b.parameter({kF32, {4, 5}}), b.parameter(type), starts);
    };
  };
  EXPECT_EQ(type_of_built([](Builder& b) {
              Value* zero = b.constant(kSI64, int64_t{0});
              return b.dynamic_update_slice(b.parameter({kF32, {4, 5}}),
                                            b.parameter({kF32, {4, 1}}), {zero, zero});
            }),
            (TensorType{kF32, {4, 5}}));
  expect_refused({
      {"dynamic_update_slice_c2", update({kF64, {1, 1}}, 2)},
      {"dynamic_update_slice_c3", update({kF32, {1}}, 2)},
      {"dynamic_update_slice_c4", update({kF32, {1, 1}}, 1)},
      {"dynamic_update_slice_c6", update({kF32, {1, 6}}, 2)},
      {"dynamic_update_slice_c5",
       [](Builder& b) {
         b.dynamic_update_slice(b.parameter({kF32, {4, 5}}), b.parameter({kF32, {1, 1}}),
                                {b.parameter({kUI32, {}}), b.parameter({kSI32, {}})});
       }},
  });
}

}  // namespace
}  // namespace tpu::hlo::ops
