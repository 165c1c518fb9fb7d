#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "backend/runtime/device.h"
#include "emulator/base/error.h"

namespace torch_tpu::runtime {
namespace {

// The text of the Torch exception that Emulator becomes.
template <class Torch, class Emulator>
std::string translated(const char* text) {
  try {
    translating([&] { throw Emulator(text); });
  } catch (const Torch& error) {
    EXPECT_EQ(typeid(error), typeid(Torch)) << "a base class was thrown";
    return error.what_without_backtrace();
  }
  ADD_FAILURE() << "another exception";
  return "";
}

TEST(Translate, EachErrorBecomesPyTorchs) {
  EXPECT_EQ((translated<c10::IndexError, tpu::IndexFault>("7 of 5")), "7 of 5");
  EXPECT_EQ((translated<c10::Error, tpu::DeviceError>("x / 0")), "x / 0");
  EXPECT_EQ((translated<c10::OutOfMemoryError, tpu::OutOfMemory>("full")), "full");
  EXPECT_EQ((translated<c10::NotImplementedError, tpu::Unimplemented>("op")), "op");
  EXPECT_EQ((translated<c10::Error, tpu::InvalidArgument>("shape")), "shape");
  EXPECT_EQ((translated<c10::Error, tpu::Error>("other")), "other");
}

TEST(Translate, AnIndexPrefixMakesAnIndexError) {
  EXPECT_EQ((translated<c10::IndexError, tpu::DeviceError>("IndexError: 7 of 5")), "7 of 5");
}

TEST(Translate, OtherExceptionsAndResultsPass) {
  EXPECT_THROW(translating([] { throw std::logic_error("mine"); }), std::logic_error);
  EXPECT_EQ(translating([] { return 3; }), 3);
}

}  // namespace
}  // namespace torch_tpu::runtime
