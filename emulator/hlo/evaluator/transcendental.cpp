#include "emulator/hlo/evaluator/transcendental.h"

#include "emulator/base/error.h"
#include "emulator/tensorcore/vpu/machine.h"

namespace tpu::hlo {
namespace {

tensorcore::ScalarMachine machine;

[[noreturn]] Element fail(const char* name) {
  throw Unimplemented(name);
}

}  // namespace

Element atan2(const Element&, const Element&) {
  fail("atan2");
}
Element cbrt(const Element&) {
  fail("cbrt");
}
Element cosine(const Element&) {
  fail("cosine");
}
Element exponential(const Element&) {
  fail("exponential");
}
Element exponential_minus_one(const Element&) {
  fail("exponential_minus_one");
}
Element log(const Element&) {
  fail("log");
}
Element log_plus_one(const Element&) {
  fail("log_plus_one");
}
Element logistic(const Element&) {
  fail("logistic");
}
Element power(const Element&, const Element&) {
  fail("power");
}
Element rsqrt(const Element&) {
  fail("rsqrt");
}
Element sine(const Element&) {
  fail("sine");
}
Element sqrt(const Element& x) {
  if (is_complex(x.type)) fail("complex sqrt");
  return map_float([](auto a) { return machine.sqrt(a); }, x);
}
Element tan(const Element&) {
  fail("tan");
}
Element tanh(const Element&) {
  fail("tanh");
}

ChloFunction chlo_function(std::string_view) {
  return nullptr;
}

}  // namespace tpu::hlo
