// Eight AVX2 lanes against the scalar form: the promise that bits do not depend on vector width,
// for every elementary function. Compiled for AVX2 and FMA; skipped on a host without them.
#include "emulator/tensorcore/vpu/avx2_machine.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <random>
#include <string>
#include <type_traits>

#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::tensorcore {

void PrintTo(const ElementaryFunctionInfo& row, std::ostream* out) {
  *out << row.name;
}

namespace {

constexpr int kLanes = Avx2Machine::kLanes;

class Avx2MachineTest : public testing::TestWithParam<ElementaryFunctionInfo> {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "needs AVX2 and FMA";
    }
    const char* text = std::getenv("TPU_TEST_SEED");
    seed_ = text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
    random_.seed(seed_);
  }

  /// Any bit pattern, or a number of moderate size.
  template <typename T>
  T random_number() {
    const uint64_t pattern = random_();
    T value;
    std::memcpy(&value, &pattern, sizeof value);
    if (random_() & 1) return value;
    return static_cast<T>(static_cast<double>(static_cast<int64_t>(pattern)) * 0x1p-59);
  }

  template <typename T>
  void check() {
    using Vector = Value<Avx2Machine, T>;
    SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed_));
    Avx2Machine machine;
    ScalarMachine scalar;
    for (int round = 0; round < 4000; ++round) {
      T x[kLanes], y[kLanes], got[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        x[i] = random_number<T>();
        y[i] = random_number<T>();
      }
      typename Vector::Native vx, vy;
      std::memcpy(&vx, x, sizeof vx);
      std::memcpy(&vy, y, sizeof vy);
      const bool is_unary = GetParam().arguments == 1;
      const auto result =
          is_unary ? unary(GetParam().function, Vector(machine, vx))
                   : binary(GetParam().function, Vector(machine, vx), Vector(machine, vy));
      const auto native = result.native();
      std::memcpy(got, &native, sizeof got);
      for (int i = 0; i < kLanes; ++i) {
        using Scalar = Value<ScalarMachine, T>;
        const T expected =
            (is_unary ? unary(GetParam().function, Scalar(scalar, x[i]))
                      : binary(GetParam().function, Scalar(scalar, x[i]), Scalar(scalar, y[i])))
                .native();
        if (std::isnan(expected) && std::isnan(got[i])) continue;
        using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        ASSERT_EQ(std::bit_cast<Bits>(expected), std::bit_cast<Bits>(T{got[i]}))
            << GetParam().name << "(" << x[i] << ", " << y[i] << "): vector " << got[i]
            << ", scalar " << expected;
      }
    }
  }

  uint64_t seed_ = 0;
  std::mt19937_64 random_;
};

TEST_P(Avx2MachineTest, FloatsHaveTheScalarBits) {
  check<float>();
}
TEST_P(Avx2MachineTest, DoublesHaveTheScalarBits) {
  check<double>();
}

INSTANTIATE_TEST_SUITE_P(All, Avx2MachineTest, testing::ValuesIn(kElementaryFunctions),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace tpu::tensorcore
