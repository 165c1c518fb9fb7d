#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/expect.h"

namespace tpu::hlo {
namespace {

TEST(ControlFlow, While) {
  expect_pairs(R"(
    func.func @main() -> (tensor<i32>, tensor<i32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %zero, %p = %one) : tensor<i32>, tensor<i32>
      cond {
        %five = stablehlo.constant dense<5> : tensor<i32>
        %c = stablehlo.compare LT, %i, %five, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %next = stablehlo.add %i, %one : tensor<i32>
        %product = stablehlo.multiply %p, %next : tensor<i32>
        stablehlo.return %next, %product : tensor<i32>, tensor<i32>
      }
      %e = stablehlo.constant dense<120> : tensor<i32>
      return %0#1, %e : tensor<i32>, tensor<i32>
    })");
}

TEST(ControlFlow, EndlessLoopsCanBeCutOff) {
  const std::string program = R"(func.func @main() -> tensor<i1> {
    %true = stablehlo.constant dense<true> : tensor<i1>
    %0 = stablehlo.while(%c = %true) : tensor<i1>
    cond {
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %c : tensor<i1>
    }
    return %0 : tensor<i1>
  })";
  EXPECT_THROW(evaluate_text(program, {.max_iterations = 10}), InvalidArgument);
}

TEST(ControlFlow, CaseTakesTheLastBranchForAnIndexOutOfRange) {
  for (const auto& [index, expected] :
       {std::pair("0", "10"), std::pair("1", "20"), std::pair("-1", "20"), std::pair("7", "20")}) {
    expect_op(R"("stablehlo.case"(%a) ({
          %x = stablehlo.constant dense<10> : tensor<i32>
          stablehlo.return %x : tensor<i32>
        }, {
          %y = stablehlo.constant dense<20> : tensor<i32>
          stablehlo.return %y : tensor<i32>
        }) : (tensor<i32>) -> tensor<i32>)",
              {std::string("dense<") + index + "> : tensor<i32>"},
              std::string("dense<") + expected + "> : tensor<i32>");
  }
}

TEST(ControlFlow, IfUsesValuesAroundIt) {
  for (const auto& [pred, expected] : {std::pair("true", "8"), std::pair("false", "7")}) {
    expect_op(R"("stablehlo.if"(%a) ({
          %x = stablehlo.add %b, %b : tensor<i32>
          stablehlo.return %x : tensor<i32>
        }, {
          stablehlo.return %c : tensor<i32>
        }) : (tensor<i1>) -> tensor<i32>)",
              {std::string("dense<") + pred + "> : tensor<i1>", "dense<4> : tensor<i32>",
               "dense<7> : tensor<i32>"},
              std::string("dense<") + expected + "> : tensor<i32>");
  }
}

TEST(ControlFlow, CallsAndBarriers) {
  expect_pairs(R"(
    module {
      func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
        %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %0 = call @twice(%a) : (tensor<2xi32>) -> tensor<2xi32>
        %1 = stablehlo.optimization_barrier %0 : tensor<2xi32>
        %e = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
        return %1, %e : tensor<2xi32>, tensor<2xi32>
      }
      func.func private @twice(%x: tensor<2xi32>) -> tensor<2xi32> {
        %0 = stablehlo.add %x, %x : tensor<2xi32>
        return %0 : tensor<2xi32>
      }
    })");
}

TEST(ControlFlow, AssertFaultsWithItsMessage) {
  const auto program = [](const std::string& value) {
    return R"(func.func @main() {
      %ok = stablehlo.constant dense<)" +
           value + R"(> : tensor<i1>
      stablehlo.custom_call @tpu.assert(%ok) {message = "index out of range"} : (tensor<i1>) -> ()
      return
    })";
  };
  EXPECT_TRUE(evaluate_text(program("true")).empty());
  try {
    evaluate_text(program("false"));
    FAIL() << "no fault";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "index out of range");
  }
}

TEST(ControlFlow, ArgumentsMustFit) {
  const Module module = parse(
      "func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {\n"
      "  return %a : tensor<2xi32>\n}");
  EXPECT_THROW(evaluate(module, {}), InvalidArgument);
  const Literal wrong[] = {scalar(ElementType::kSI32, int64_t{1})};
  EXPECT_THROW(evaluate(module, wrong), InvalidArgument);
}

}  // namespace
}  // namespace tpu::hlo
