// Control flow, calls, creation of values, linear algebra, normalisation, communication, dynamism.
#include "emulator/hlo/ops/refusals.h"

namespace tpu::hlo::ops {
namespace {

using enum ElementType;

std::unique_ptr<Block> region(const std::vector<TensorType>& arguments, const Builder::Body& body) {
  auto block = std::make_unique<Block>();
  std::vector<Value*> values;
  for (const TensorType& type : arguments) values.push_back(block->add_argument(type));
  Builder inner(*block);
  body(inner, values);
  return block;
}

// One op by kind, with operands of the given types.
struct Call {
  OpKind kind;
  std::vector<TensorType> operands;
  Attributes attributes = {};
  std::vector<TensorType> results = {};
  std::vector<std::pair<std::vector<TensorType>, Builder::Body>> regions = {};

  Op* build(Builder& b) const {
    std::vector<Value*> values;
    for (const TensorType& type : operands) values.push_back(b.parameter(type));
    std::vector<std::unique_ptr<Block>> blocks;
    for (const auto& [arguments, body] : regions) blocks.push_back(region(arguments, body));
    return b.create(kind, values, attributes, std::move(blocks), results);
  }
};

std::vector<TensorType> result_types(const Call& call) {
  Module module;
  Builder b(module.add_function("main").body);
  const Op* op = call.build(b);
  std::vector<TensorType> types;
  for (int i = 0; i < op->num_results(); ++i) types.push_back(op->result(i)->type);
  return types;
}

void expect_calls_refused(const std::vector<std::pair<std::string, Call>>& calls) {
  std::vector<Refusal> refusals;
  for (const auto& [label, call] : calls) {
    refusals.push_back({label, [call = call](Builder& b) { call.build(b); }});
  }
  expect_refused(refusals);
}

using Types = std::vector<TensorType>;
const TensorType kScalar{kF32, {}}, kPredicate{kI1, {}}, kIndex{kSI32, {}}, kTokenType{kToken, {}};

TEST(While, CarriesItsOperands) {
  const Types carried = {kIndex, {kF32, {3}}};
  const auto loop = [&](Types cond_results, Types body_results) {
    return Call{
        .kind = OpKind::kWhile,
        .operands = carried,
        .regions = {{carried, returning(cond_results)}, {carried, returning(body_results)}}};
  };
  EXPECT_EQ(result_types(loop({kPredicate}, carried)), carried);
  Call wrong_arguments = loop({kPredicate}, carried);
  wrong_arguments.regions[0].first = {kIndex};
  expect_calls_refused({
      {"while_c1", loop({kIndex}, carried)},
      {"while_c1", loop({{kI1, {1}}}, carried)},
      {"while_c1", wrong_arguments},
      {"while_c2", loop({kPredicate}, {kIndex})},
      {"while_c2", loop({kPredicate}, {kIndex, {kF32, {4}}})},
  });
}

TEST(Branches, ReturnTheSameTypes) {
  const Types results = {{kF32, {2}}, kIndex};
  const auto branch = [](OpKind kind, TensorType selector, std::vector<Types> branches) {
    Call call{.kind = kind, .operands = {selector}};
    for (const Types& types : branches) call.regions.push_back({{}, returning(types)});
    return call;
  };
  EXPECT_EQ(result_types(branch(OpKind::kCase, kIndex, {results, results, results})), results);
  EXPECT_EQ(result_types(branch(OpKind::kIf, kPredicate, {results, results})), results);
  Call case_argument = branch(OpKind::kCase, kIndex, {{}, {}});
  case_argument.regions[1].first = {kScalar};
  Call if_argument = branch(OpKind::kIf, kPredicate, {{}, {}});
  if_argument.regions[0].first = {kScalar};
  expect_calls_refused({
      {"case_i1", branch(OpKind::kCase, {kSI64, {}}, {results})},
      {"one or more regions", branch(OpKind::kCase, kIndex, {})},
      {"case_c2", case_argument},
      {"case_c3", branch(OpKind::kCase, kIndex, {results, {kIndex}})},
      {"if_i1", branch(OpKind::kIf, kIndex, {results, results})},
      {"takes 2 regions", branch(OpKind::kIf, kPredicate, {results})},
      {"if_c1", if_argument},
      {"if_c2", branch(OpKind::kIf, kPredicate, {results, {}})},
  });
}

TEST(CustomCall, ChloFunctionsAreElementwise) {
  const auto call = [](std::string target, Types operands, Types results = {}) {
    return Call{.kind = OpKind::kCustomCall,
                .operands = operands,
                .attributes = {{"call_target_name", target}},
                .results = results};
  };
  const TensorType x{kBF16, {2, 3}};
  EXPECT_EQ(result_types(call("chlo.lgamma", {x})), Types{x});
  EXPECT_EQ(result_types(call("chlo.polygamma", {x, x}, {x})), Types{x});
  EXPECT_EQ(result_types(call("lapack_getrf", {x}, {x, kIndex})), (Types{x, kIndex}));
  EXPECT_EQ(result_types(call("nothing", {})), Types{});
  expect_calls_refused({
      {"same type", call("chlo.polygamma", {x, kScalar})},
      {"at least one operand", call("chlo.erf", {}, {x})},
      {"must have type", call("chlo.erf", {x}, {kScalar})},
  });
}

TEST(CustomCall, AssertTakesAPredicateAndAMessage) {
  const auto assertion = [](Types operands, Attributes attributes, Types results = {}) {
    attributes.set("call_target_name", std::string("tpu.assert"));
    return Call{.kind = OpKind::kCustomCall,
                .operands = operands,
                .attributes = attributes,
                .results = results};
  };
  const Attributes message{{"message", std::string("index out of range")}};
  EXPECT_EQ(result_types(assertion({kPredicate}, message)), Types{});
  expect_calls_refused({
      {"one scalar i1", assertion({{kI1, {2}}}, message)},
      {"one scalar i1", assertion({kPredicate, kPredicate}, message)},
      {"'message' is missing", assertion({kPredicate}, {})},
      {"has 0 result(s)", assertion({kPredicate}, message, {kPredicate})},
  });
}

TEST(Ordering, BarriersAndTokens) {
  const Types any = {{kF32, {2}}, kIndex, kTokenType};
  EXPECT_EQ(result_types({.kind = OpKind::kOptimizationBarrier, .operands = any}), any);
  EXPECT_EQ(result_types({.kind = OpKind::kAfterAll, .operands = {kTokenType, kTokenType}}),
            Types{kTokenType});
  expect_calls_refused(
      {{"after_all_i2", {.kind = OpKind::kAfterAll, .operands = {kTokenType, kScalar}}}});
}

TEST(Creation, ConstantsCountersAndSizes) {
  const Literal literal = splat(TensorType{kF16, {2, 2}}, 1.0);
  EXPECT_EQ(type_of_built([&](Builder& b) { return b.constant(literal); }), literal.type());
  EXPECT_EQ(type_of_built([](Builder& b) { return b.splat({kF32, {3}}, 1.5); }),
            (TensorType{kF32, {3}}));
  EXPECT_EQ(type_of_built([](Builder& b) { return b.iota({kBF16, {3, 4}}, 1); }),
            (TensorType{kBF16, {3, 4}}));
  const auto size_of = [](int64_t dimension) {
    return Call{.kind = OpKind::kGetDimensionSize,
                .operands = {{kF32, {5, 6}}},
                .attributes = {{"dimension", dimension}}};
  };
  EXPECT_EQ(result_types(size_of(1)), Types{kIndex});
  EXPECT_EQ(result_types({.kind = OpKind::kReplicaId, .operands = {}}), (Types{{kUI32, {}}}));
  expect_refused({
      {"iota_c1", [](Builder& b) { b.iota({kF32, {3}}, 1); }},
      {"iota_c1", [](Builder& b) { b.iota({kF32, {}}, 0); }},
      {"iota_c1", [](Builder& b) { b.iota({kI1, {3}}, 0); }},
      {"must have type",
       [&](Builder& b) {
         b.create(OpKind::kConstant, {}, {{"value", literal}}, {}, {{kF16, {4}}});
       }},
  });
  expect_calls_refused(
      {{"get_dimension_size_c1", size_of(2)}, {"get_dimension_size_c1", size_of(-1)}});
}

TEST(Random, StateAndBits) {
  const auto bits = [](TensorType state, TensorType out, std::string algorithm) {
    return [=](Builder& b) { b.rng_bit_generator(b.parameter(state), out, algorithm); };
  };
  for (const auto& [size, algorithm] : {std::pair<int64_t, std::string>{2, "THREE_FRY"},
                                        {2, "PHILOX"},
                                        {3, "PHILOX"},
                                        {2, "DEFAULT"}}) {
    Module module;
    Builder b(module.add_function("main").body);
    const auto results = b.rng_bit_generator(b.parameter({kUI64, {size}}), {kUI32, {5}}, algorithm);
    EXPECT_EQ(results[0]->type, (TensorType{kUI64, {size}}));
    EXPECT_EQ(results[1]->type, (TensorType{kUI32, {5}}));
  }
  const TensorType out{kUI32, {5}};
  expect_refused({
      {"rng_bit_generator_i1", bits({kUI64, {2}}, out, "MERSENNE")},
      {"rng_bit_generator_i2", bits({kUI32, {2}}, out, "PHILOX")},
      {"rng_bit_generator_i2", bits({kUI64, {}}, out, "PHILOX")},
      {"rng_bit_generator_c2", bits({kUI64, {3}}, out, "THREE_FRY")},
      {"rng_bit_generator_c2", bits({kUI64, {4}}, out, "PHILOX")},
  });
  expect_calls_refused({{"rng_bit_generator_c1",
                         {.kind = OpKind::kRngBitGenerator,
                          .operands = {{kUI64, {2}}},
                          .attributes = {{"rng_algorithm", EnumValue{"PHILOX"}}},
                          .results = {{kUI64, {3}}, out}}}});
}

TEST(LinearAlgebra, Cholesky) {
  const auto cholesky = [](TensorType a) {
    return Call{.kind = OpKind::kCholesky, .operands = {a}, .attributes = {{"lower", true}}};
  };
  EXPECT_EQ(result_types(cholesky({kComplexF32, {7, 3, 3}})), (Types{{kComplexF32, {7, 3, 3}}}));
  expect_calls_refused({{"cholesky_i1", cholesky({kSI32, {3, 3}})},
                        {"cholesky_c2", cholesky({kF32, {3}})},
                        {"cholesky_c3", cholesky({kF32, {3, 4}})}});
}

TEST(LinearAlgebra, TriangularSolve) {
  const auto solve = [](TensorType a, TensorType b, bool left, std::string transpose = "ADJOINT") {
    return Call{.kind = OpKind::kTriangularSolve,
                .operands = {a, b},
                .attributes = {{"left_side", left},
                               {"lower", true},
                               {"unit_diagonal", false},
                               {"transpose_a", EnumValue{transpose}}}};
  };
  const TensorType a{kF32, {2, 3, 3}};
  EXPECT_EQ(result_types(solve(a, {kF32, {2, 3, 5}}, true)), (Types{{kF32, {2, 3, 5}}}));
  EXPECT_EQ(result_types(solve(a, {kF32, {2, 5, 3}}, false)), (Types{{kF32, {2, 5, 3}}}));
  expect_calls_refused({
      {"triangular_solve_c1", solve(a, {kF64, {2, 3, 5}}, true)},
      {"triangular_solve_c2", solve(a, {kF32, {3, 5}}, true)},
      {"triangular_solve_c2", solve({kF32, {3}}, {kF32, {3}}, true)},
      {"triangular_solve_c3", solve(a, {kF32, {4, 3, 5}}, true)},
      {"triangular_solve_c3", solve(a, {kF32, {2, 5, 3}}, true)},
      {"triangular_solve_c3", solve({kF32, {2, 3, 4}}, {kF32, {2, 3, 4}}, true)},
      {"triangular_solve_i6", solve(a, {kF32, {2, 3, 5}}, true, "YES")},
  });
}

TEST(LinearAlgebra, Fft) {
  const auto fft = [](TensorType x, std::string kind, Dims length) {
    return Call{.kind = OpKind::kFft,
                .operands = {x},
                .attributes = {{"fft_type", EnumValue{kind}}, {"fft_length", length}}};
  };
  const TensorType complex{kComplexF64, {2, 8, 6}};
  EXPECT_EQ(result_types(fft(complex, "FFT", {8, 6})), Types{complex});
  EXPECT_EQ(result_types(fft({kF64, {2, 8, 6}}, "RFFT", {8, 6})),
            (Types{{kComplexF64, {2, 8, 4}}}));
  EXPECT_EQ(result_types(fft({kComplexF32, {8, 4}}, "IRFFT", {7})), (Types{{kF32, {8, 7}}}));
  EXPECT_EQ(result_types(fft({kComplexF32, {8, 4}}, "IRFFT", {6})), (Types{{kF32, {8, 6}}}));
  EXPECT_EQ(result_types(fft({kF32, {0}}, "RFFT", {0})), (Types{{kComplexF32, {0}}}));
  expect_calls_refused({
      {"fft_c1", fft({kComplexF32, {4}}, "FFT", {4, 4})},
      {"fft_c2", fft({kF32, {4}}, "FFT", {4})},
      {"fft_c2", fft({kComplexF32, {4}}, "RFFT", {4})},
      {"fft_c2", fft({kBF16, {4}}, "RFFT", {4})},
      {"fft_c3", fft(complex, "FFT", {})},
      {"fft_c3", fft({kComplexF32, {2, 2, 2, 2}}, "FFT", {2, 2, 2, 2})},
      {"fft_c4", fft({kF32, {8}}, "RFFT", {6})},
      {"fft_c4", fft({kComplexF32, {8, 4}}, "IRFFT", {7, 6})},
      {"fft_c5", fft({kComplexF32, {4}}, "IRFFT", {8})},
      {"fft_i2", fft(complex, "DCT", {6})},
  });
}

TEST(Normalization, BatchNorm) {
  const auto norm = [](OpKind kind, Types operands, int64_t feature = 1) {
    return Call{.kind = kind,
                .operands = operands,
                .attributes = {{"epsilon", 1e-5}, {"feature_index", feature}}};
  };
  const TensorType x{kF32, {4, 3, 8}}, v{kF32, {3}};
  EXPECT_EQ(result_types(norm(OpKind::kBatchNormTraining, {x, v, v})), (Types{x, v, v}));
  EXPECT_EQ(result_types(norm(OpKind::kBatchNormInference, {x, v, v, v, v})), Types{x});
  EXPECT_EQ(result_types(norm(OpKind::kBatchNormGrad, {x, v, v, v, x})), (Types{x, v, v}));
  expect_calls_refused({
      {"batch_norm_training_c1", norm(OpKind::kBatchNormTraining, {x, v, v}, 3)},
      {"batch_norm_training_c2", norm(OpKind::kBatchNormTraining, {x, v, {kF64, {3}}})},
      {"batch_norm_training_c3", norm(OpKind::kBatchNormTraining, {x, {kF32, {4}}, v})},
      {"batch_norm_grad_c3", norm(OpKind::kBatchNormGrad, {x, v, v, v, {kF32, {4, 3, 9}}})},
  });
}

TEST(Communication, Collectives) {
  const IntMatrix groups{2, 2, {0, 1, 2, 3}};
  const Types operand = {{kF32, {4, 6}}};
  const std::pair<Types, Builder::Body> sum = {{kScalar, kScalar}, Builder::combiner(OpKind::kAdd)};
  const auto with_groups = [&](Attributes attributes, IntMatrix g) {
    attributes.set("replica_groups", std::move(g));
    return attributes;
  };
  const auto gather = [&](int64_t dimension, IntMatrix g) {
    return Call{OpKind::kAllGather, operand, with_groups({{"all_gather_dim", dimension}}, g)};
  };
  EXPECT_EQ(result_types(gather(1, groups)), (Types{{kF32, {4, 12}}}));
  const Call reduce{OpKind::kAllReduce, operand, with_groups({}, groups), {}, {sum}};
  EXPECT_EQ(result_types(reduce), operand);
  const auto scatter = [&](int64_t dimension, IntMatrix g) {
    return Call{OpKind::kReduceScatter,
                operand,
                with_groups({{"scatter_dimension", dimension}}, g),
                {},
                {sum}};
  };
  EXPECT_EQ(result_types(scatter(0, groups)), (Types{{kF32, {2, 6}}}));
  const auto all_to_all = [&](int64_t split, int64_t concat, int64_t count) {
    return Call{
        OpKind::kAllToAll, operand,
        with_groups(
            {{"split_dimension", split}, {"concat_dimension", concat}, {"split_count", count}},
            groups)};
  };
  EXPECT_EQ(result_types(all_to_all(0, 1, 2)), (Types{{kF32, {2, 12}}}));
  EXPECT_EQ(result_types(all_to_all(0, 0, 2)), operand);
  const auto permute = [&](IntMatrix pairs) {
    return Call{OpKind::kCollectivePermute, operand, {{"source_target_pairs", pairs}}};
  };
  EXPECT_EQ(result_types(permute({2, 2, {0, 1, 1, 0}})), operand);
  Call global = reduce;
  global.attributes.set("use_global_device_ids", true);
  expect_calls_refused({
      {"all_gather_c1", gather(2, groups)},
      {"all_gather_c2", gather(0, {2, 2, {0, 1, 1, 2}})},
      {"all_gather_c4", gather(0, {1, 2, {0, -2}})},
      {"all_reduce_c4", global},
      {"reduce_scatter_c1", scatter(1, {1, 4, {0, 1, 2, 3}})},
      {"reduce_scatter_c2", scatter(-1, groups)},
      {"all_to_all_c1", all_to_all(2, 0, 2)},
      {"all_to_all_c3", all_to_all(0, 2, 2)},
      {"all_to_all_c4", all_to_all(0, 0, 0)},
      {"all_to_all_c8", all_to_all(0, 0, 4)},
      {"collective_permute_c1", permute({1, 3, {0, 1, 2}})},
      {"collective_permute_c2", permute({2, 2, {0, 1, 0, 2}})},
      {"collective_permute_c3", permute({2, 2, {0, 1, 2, 1}})},
      {"collective_permute_c4", permute({1, 2, {-1, 0}})},
  });
}

TEST(Communication, TokensOrderTransfers) {
  const Types arrived = {{kF32, {2}}, kTokenType};
  EXPECT_EQ(result_types({.kind = OpKind::kInfeed, .operands = {kTokenType}, .results = arrived}),
            arrived);
  EXPECT_EQ(result_types({.kind = OpKind::kOutfeed, .operands = {kScalar, kTokenType}}),
            Types{kTokenType});
  expect_calls_refused({
      {"infeed_c3", {.kind = OpKind::kInfeed, .operands = {kTokenType}, .results = {kScalar}}},
      {"recv_i1", {.kind = OpKind::kRecv, .operands = {kScalar}, .results = arrived}},
      {"send_i2", {.kind = OpKind::kSend, .operands = {kTokenType, kScalar}}},
  });
}

TEST(Dynamism, GivenTypesMustNotContradictTheOperands) {
  const TensorType vector2{kSI32, {2}};
  const auto reshape = [&](TensorType shape, TensorType result) {
    return Call{OpKind::kDynamicReshape, {{kF32, {6}}, shape}, {}, {result}};
  };
  EXPECT_EQ(result_types(reshape(vector2, {kF32, {2, 3}})), (Types{{kF32, {2, 3}}}));
  const auto broadcast = [&](Dims dims, TensorType result) {
    return Call{OpKind::kDynamicBroadcastInDim,
                {{kF32, {3}}, vector2},
                {{"broadcast_dimensions", dims}},
                {result}};
  };
  EXPECT_EQ(result_types(broadcast({1}, {kF32, {2, 3}})), (Types{{kF32, {2, 3}}}));
  expect_calls_refused({
      {"dynamic_reshape_c1", reshape(vector2, {kF64, {2, 3}})},
      {"dynamic_reshape_c2", reshape(vector2, {kF32, {2, 2}})},
      {"dynamic_reshape_c4", reshape({kSI32, {3}}, {kF32, {2, 3}})},
      {"dynamic_reshape_i2", reshape({kF32, {2}}, {kF32, {2, 3}})},
      {"dynamic_broadcast_in_dim_c2", broadcast({}, {kF32, {2, 3}})},
      {"dynamic_broadcast_in_dim_c3", broadcast({2}, {kF32, {2, 3}})},
      {"dynamic_broadcast_in_dim_c5", broadcast({0}, {kF32, {2, 3}})},
      {"dynamic_broadcast_in_dim_c7", broadcast({1}, {kF32, {1, 3, 1}})},
      {"dynamic_iota_c1",
       {OpKind::kDynamicIota, {vector2}, {{"iota_dimension", int64_t{2}}}, {{kF32, {2, 3}}}}},
      {"dynamic_pad_c2",
       {OpKind::kDynamicPad,
        {{kF32, {2, 3}}, kScalar, vector2, vector2, {kSI32, {1}}},
        {},
        {{kF32, {2, 3}}}}},
  });
}

}  // namespace
}  // namespace tpu::hlo::ops
