// The fast convolution against the scalar reference, bit for bit, on every host kernel table.
#include "emulator/tensorcore/mxu/convolution.h"

#include "emulator/base/parallel.h"
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
  for (const HostKernels* host : available_host_kernels()) {
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      const Tensor got = call(c, operands, [&](const KernelCall& k) { convolution(k, *host); });
      const int64_t at = first_difference(got, expected);
      if (at >= 0) {
        return std::string(host->name) + ", " + std::to_string(threads) + " threads, element " +
               std::to_string(at) + " differs: " + testing::describe(operands.lhs) + " x " +
               testing::describe(operands.rhs) + " -> " + testing::describe(got) + describe(c);
      }
    }
  }
  return "";
}

std::string shrink(Case c) {
  std::string text = disagreement(c);
  const auto keep_if_failing = [&](const Case& candidate) {
    const std::string shorter = disagreement(candidate);
    if (shorter.empty()) return false;
    c = candidate;
    text = shorter;
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (int64_t Case::* size : {&Case::batch, &Case::features, &Case::outputs,
                                 &Case::feature_groups, &Case::batch_groups}) {
      Case candidate = c;
      candidate.*size /= 2;
      if (c.*size > 1 && keep_if_failing(candidate)) smaller = true;
    }
    for (size_t d = 0; d < c.spatial.size(); ++d) {
      for (int64_t Spatial::* size : {&Spatial::input, &Spatial::kernel, &Spatial::stride,
                                      &Spatial::base, &Spatial::dilation}) {
        Case candidate = c;
        candidate.spatial[d].*size -= 1;
        if (c.spatial[d].*size > 1 && keep_if_failing(candidate)) smaller = true;
      }
    }
  }
  return text;
}

void expect_agreement(const Case& c) {
  if (!disagreement(c).empty()) FAIL() << shrink(c);
}

Spatial random_spatial(Random& random, int64_t largest) {
  Spatial s;
  s.input = pick(random, 0, 15) ? pick(random, 1, largest) : 0;
  s.kernel = pick(random, 1, 5);
  if (pick(random, 0, 2) == 0) s.stride = pick(random, 1, 3);
  if (pick(random, 0, 2) == 0) s.base = pick(random, 1, 4);
  if (pick(random, 0, 3) == 0) s.dilation = pick(random, 1, 3);
  if (pick(random, 0, 2)) {
    s.low = pick(random, -2, 4);
    s.high = pick(random, -2, 4);
  }
  s.reversed = pick(random, 0, 3) == 0;
  return s;
}

Case random_case(uint64_t seed) {
  Random random(seed);
  Case c;
  c.types = pick(random, kTypes);
  const int64_t rank = pick(random, std::vector<int64_t>{0, 1, 1, 2, 2, 2, 3});
  for (int64_t d = 0; d < rank; ++d) {
    c.spatial.push_back(random_spatial(random, rank == 3 ? 5 : rank == 2 ? 9 : 30));
  }
  if (pick(random, 0, 4) == 0) {
    for (Spatial& s : c.spatial) s = Spatial{s.input, 1, s.stride};
  }
  c.batch = pick(random, 1, 4);
  c.features = pick(random, 0, 3) ? pick(random, 1, 8) : pick(random, 1, 70);
  c.outputs = pick(random, 0, 3) ? pick(random, 1, 6) : pick(random, 1, 40);
  const int64_t grouped = pick(random, 0, 5);
  if (grouped == 0) c.feature_groups = pick(random, 2, 20);
  if (grouped == 1) c.batch_groups = pick(random, 2, 12);
  if (c.feature_groups > 1 && pick(random, 0, 1)) {
    c.features = 1;
    c.outputs = pick(random, 1, 2);
  }
  c.precision = pick(random, std::vector<std::string>{"DEFAULT", "HIGH", "HIGHEST"});
  c.depth = pick(random, std::vector<int>{128, 128, 256, 8, 1, 33});
  c.layout = pick(random, 0, 1) ? Layout::kStrided : Layout::kDense;
  c.shuffled = pick(random, 0, 1);
  c.values = pick(random, std::vector<Values>{Values::kNormal, Values::kNormal, Values::kWide,
                                              Values::kSpecial});
  c.seed = random();
  return c;
}

TEST(Convolution, AgreesWithTheReferenceOnRandomCases) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  for (uint64_t i = 0; i < 400 && !HasFatalFailure(); ++i) expect_agreement(random_case(seed + i));
}

}  // namespace
}  // namespace tpu::tensorcore::testing
