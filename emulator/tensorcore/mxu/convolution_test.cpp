// The fast convolution against the scalar reference, bit for bit, on every host kernel table.
#include "emulator/tensorcore/mxu/convolution.h"

#include "emulator/tensorcore/mxu/reference.h"
#include "emulator/tensorcore/mxu/test_support.h"

namespace tpu::tensorcore::testing {
namespace {

using compiler::KernelCall;

struct Spatial {
  int64_t input = 1, kernel = 1, stride = 1, low = 0, high = 0, base = 1, dilation = 1;
  bool reversed = false;

  int64_t output() const {
    const int64_t padded = (input > 0 ? (input - 1) * base + 1 : 0) + low + high;
    const int64_t window = (kernel - 1) * dilation + 1;
    return padded < window ? 0 : (padded - window) / stride + 1;
  }
};

struct Case {
  Types types;
  std::vector<Spatial> spatial;
  int64_t batch = 1, features = 1, outputs = 1;  // of one group
  int64_t feature_groups = 1, batch_groups = 1;
  std::string precision = "DEFAULT";
  int depth = 128;
  Layout layout = Layout::kDense;
  bool shuffled = false;
  Values values = Values::kNormal;
  uint64_t seed = 0;
};

struct Operands {
  Tensor lhs, rhs;
  hlo::Attributes attributes;
  Dims result_shape;
};

/// Positions for two special dimensions and the spatial ones, in random order if `shuffled`.
Dims positions(size_t rank, bool shuffled, Random& random) {
  Dims order(rank + 2);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (shuffled) std::shuffle(order.begin(), order.end(), random);
  return order;
}

Dims place(const Dims& order, int64_t first, int64_t second, const Dims& spatial) {
  Dims shape(order.size());
  shape[order[0]] = first;
  shape[order[1]] = second;
  for (size_t i = 0; i < spatial.size(); ++i) shape[order[i + 2]] = spatial[i];
  return shape;
}

Operands make_operands(const Case& c) {
  Random random(c.seed);
  const size_t rank = c.spatial.size();
  const Dims in = positions(rank, c.shuffled, random), kernel = positions(rank, c.shuffled, random);
  const Dims out = positions(rank, c.shuffled, random);
  Dims input_sizes, kernel_sizes, output_sizes, stride, base, dilation;
  hlo::IntMatrix padding{static_cast<int64_t>(rank), 2, {}};
  std::vector<bool> reversal;
  for (const Spatial& s : c.spatial) {
    input_sizes.push_back(s.input);
    kernel_sizes.push_back(s.kernel);
    output_sizes.push_back(s.output());
    stride.push_back(s.stride);
    base.push_back(s.base);
    dilation.push_back(s.dilation);
    padding.values.insert(padding.values.end(), {s.low, s.high});
    reversal.push_back(s.reversed);
  }
  const int64_t all_outputs = c.outputs * c.feature_groups * c.batch_groups;
  Operands o{
      make_tensor(c.types.lhs,
                  place(in, c.batch * c.batch_groups, c.features * c.feature_groups, input_sizes),
                  c.layout, random),
      make_tensor(c.types.rhs, place(kernel, all_outputs, c.features, kernel_sizes), c.layout,
                  random),
      {},
      place(out, c.batch, all_outputs, output_sizes)};
  fill(o.lhs, c.values, random);
  fill(o.rhs, c.values, random);
  hlo::ConvDimensionNumbers numbers;
  numbers.input_batch_dimension = in[0];
  numbers.input_feature_dimension = in[1];
  numbers.input_spatial_dimensions.assign(in.begin() + 2, in.end());
  numbers.kernel_output_feature_dimension = kernel[0];
  numbers.kernel_input_feature_dimension = kernel[1];
  numbers.kernel_spatial_dimensions.assign(kernel.begin() + 2, kernel.end());
  numbers.output_batch_dimension = out[0];
  numbers.output_feature_dimension = out[1];
  numbers.output_spatial_dimensions.assign(out.begin() + 2, out.end());
  o.attributes.set("dimension_numbers", numbers);
  o.attributes.set("window_strides", stride);
  o.attributes.set("padding", padding);
  o.attributes.set("lhs_dilation", base);
  o.attributes.set("rhs_dilation", dilation);
  o.attributes.set("window_reversal", reversal);
  o.attributes.set("feature_group_count", c.feature_groups);
  o.attributes.set("batch_group_count", c.batch_groups);
  o.attributes.set("precision_config", hlo::EnumValues{{c.precision}, {c.precision}});
  return o;
}

template <class Function>
Tensor call(const Case& c, const Operands& operands, const Function& function) {
  Random random(c.seed + 1);
  Tensor result = make_tensor(c.types.result, operands.result_shape, c.layout, random);
  std::fill(result.bytes.begin(), result.bytes.end(), std::byte{0x55});
  const compiler::ConstView inputs[] = {operands.lhs.const_view(), operands.rhs.const_view()};
  const compiler::View outputs[] = {result.view()};
  function(
      KernelCall{hlo::OpKind::kConvolution, operands.attributes, inputs, outputs, {}, {}, c.depth});
  return result;
}

std::string describe(const Case& c) {
  std::string text = " batch " + std::to_string(c.batch) + " features " +
                     std::to_string(c.features) + " outputs " + std::to_string(c.outputs) +
                     " groups " + std::to_string(c.feature_groups) + "/" +
                     std::to_string(c.batch_groups) + " " + c.precision + " depth " +
                     std::to_string(c.depth) + " values " +
                     std::to_string(static_cast<int>(c.values)) + " seed " + std::to_string(c.seed);
  for (const Spatial& s : c.spatial) {
    text += " [in " + std::to_string(s.input) + " kernel " + std::to_string(s.kernel) + " stride " +
            std::to_string(s.stride) + " pad " + std::to_string(s.low) + "," +
            std::to_string(s.high) + " base " + std::to_string(s.base) + " dilation " +
            std::to_string(s.dilation) + (s.reversed ? " reversed]" : "]");
  }
  return text;
}

std::string disagreement(const Case& c) {
  const Operands operands = make_operands(c);
  const Tensor expected = call(c, operands, reference::convolution);
  const std::string problem = testing::disagreement(expected, [&](const HostKernels& host) {
    return call(c, operands, [&](const KernelCall& k) { convolution(k, host); });
  });
  if (problem.empty()) return "";
  return problem + " for " + testing::describe(operands.lhs) + " x " +
         testing::describe(operands.rhs) + describe(c);
}

Spatial choose_spatial(Choices& choices, int64_t largest) {
  Spatial s;
  s.input = choices.in(0, 15) < 15 ? choices.in(1, largest) : 0;
  s.kernel = choices.in(1, 5);
  if (choices.in(0, 2) == 2) s.stride = choices.in(1, 3);
  if (choices.in(0, 2) == 2) s.base = choices.in(1, 4);
  if (choices.in(0, 3) == 3) s.dilation = choices.in(1, 3);
  if (choices.in(0, 2) > 0) {
    s.low = choices.in(0, 6) - 2;
    s.high = choices.in(0, 6) - 2;
  }
  s.reversed = choices.in(0, 3) == 3;
  return s;
}

void choose_groups(Choices& choices, Case& c) {
  switch (choices.in(0, 6)) {
    case 4:
      c.feature_groups = choices.in(2, 20);
      break;
    case 5:
      c.batch_groups = choices.in(2, 12);
      break;
    case 6:  // depthwise
      (choices.coin() ? c.feature_groups : c.batch_groups) = choices.in(2, 40);
      c.features = choices.in(1, 3);
      c.outputs = choices.in(1, 2);
      break;
    default:
      break;
  }
}

Case choose_case(Choices& choices) {
  Case c;
  c.types = choose(choices, kTypes);
  const int64_t rank = choose(choices, std::vector<int64_t>{1, 1, 2, 2, 2, 0, 3});
  for (int64_t d = 0; d < rank; ++d) {
    c.spatial.push_back(choose_spatial(choices, rank == 3 ? 5 : rank == 2 ? 9 : 30));
  }
  if (choices.in(0, 4) == 4) {
    for (Spatial& s : c.spatial) s = Spatial{s.input, 1, s.stride};
  }
  c.batch = choices.in(1, 4);
  c.features = choices.in(1, choices.in(0, 3) < 3 ? 8 : 70);
  c.outputs = choices.in(1, choices.in(0, 3) < 3 ? 6 : 40);
  choose_groups(choices, c);
  c.precision = choose(choices, std::vector<std::string>{"DEFAULT", "HIGH", "HIGHEST"});
  c.depth = choose(choices, std::vector<int>{128, 128, 256, 8, 1, 33});
  c.layout = choose(choices, std::vector{Layout::kDense, Layout::kStrided});
  c.shuffled = choices.coin();
  c.values = choose(choices,
                    std::vector{Values::kNormal, Values::kNormal, Values::kWide, Values::kSpecial});
  c.seed = static_cast<uint64_t>(choices.in(0, 1 << 30));
  return c;
}

TEST(Convolution, AgreesWithTheReference) {
  tpu::testing::check_property(300,
                               [](Choices& choices) { return disagreement(choose_case(choices)); });
}

/// The three convolutions of a layer's training step, as a backend expresses them.
TEST(Convolution, GradientsAgreeWithTheReference) {
  tpu::testing::check_property(6, [](Choices& choices) {
    const int64_t kernel = choose(choices, std::vector<int64_t>{1, 3, 5}), pad = kernel / 2;
    const int64_t stride = choices.in(1, 2), size = choices.in(kernel, 12);
    const int64_t output = (size + 2 * pad - kernel) / stride + 1;
    Case forward{.types = {ElementType::kF32, ElementType::kF32, ElementType::kF32}, .spatial = {}};
    forward.batch = choices.in(1, 5);
    forward.features = choices.in(1, 20);
    forward.outputs = choices.in(1, 20);
    Case input = forward, weight = forward;
    forward.spatial.assign(2, Spatial{size, kernel, stride, pad, pad});
    input.features = forward.outputs;
    input.outputs = forward.features;
    const int64_t low = kernel - 1 - pad, dilated = (output - 1) * stride + 1;
    input.spatial.assign(
        2, Spatial{output, kernel, 1, low, size + kernel - 1 - dilated - low, stride, 1, true});
    weight.batch = forward.features;
    weight.features = forward.batch;
    weight.spatial.assign(
        2, Spatial{size, output, 1, pad, dilated + kernel - 1 - size - pad, 1, stride});
    for (const Case& c : {forward, input, weight}) {
      const std::string problem = disagreement(c);
      if (!problem.empty()) return problem;
    }
    return std::string();
  });
}

// Padding contributes +0 even where the kernel is infinite.
TEST(Convolution, PaddingIgnoresTheKernel) {
  Case c{.types = {ElementType::kF32, ElementType::kF32, ElementType::kF32},
         .spatial = {Spatial{4, 3, 1, 1, 1}}};
  Operands operands = make_operands(c);
  for (float& x : std::span(reinterpret_cast<float*>(operands.lhs.bytes.data()), 4)) x = 1.0f;
  const float kernel[] = {INFINITY, 2.0f, -INFINITY};
  std::memcpy(operands.rhs.bytes.data(), kernel, sizeof(kernel));
  const Tensor result =
      call(c, operands, [](const KernelCall& k) { convolution(k, host_kernels()); });
  const auto* values = reinterpret_cast<const float*>(result.bytes.data());
  EXPECT_EQ(values[0], -INFINITY);     // padding, 2, -inf
  EXPECT_TRUE(std::isnan(values[1]));  // inf, 2, -inf
  EXPECT_EQ(values[3], INFINITY);      // inf, 2, padding
}

// Strides that step from padding into the input and out of it again leave windows without any tap.
TEST(Convolution, WindowsOfPaddingAloneAreZero) {
  for (ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32}) {
    for (int64_t input : {1, 2, 3, 7}) {
      for (int64_t stride : {1, 2, 3}) {
        Case c{.types = {type, type, type}, .spatial = {Spatial{input, 1, stride, 1, 2}}};
        c.spatial.push_back(Spatial{2, 1, 2, 0, 3});
        c.values = Values::kSpecial;
        for (c.seed = 0; c.seed < 8; ++c.seed) EXPECT_EQ(disagreement(c), "");
      }
    }
  }
}

}  // namespace
}  // namespace tpu::tensorcore::testing
