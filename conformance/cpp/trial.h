// One run of a C++ case on the device: what it computes and checks with.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace conformance {

/// A check failed. The cause groups failures: value, dtype, shape, device, alias, error.
class CheckError : public std::runtime_error {
 public:
  CheckError(std::string cause, const std::string& message)
      : std::runtime_error(message), cause(std::move(cause)) {}
  std::string cause;
};

using Tensors = std::vector<at::Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

/// What the tolerance of a result follows from, beside its dtype.
struct Rounding {
  /// How many products or addends a component of a result has.
  int64_t terms = 1;
  /// Whether operands are rounded to the device's declared precision of products.
  bool product = false;
  /// Absolute errors inside of the operator, in roundoffs, where a difference of near numbers hides
  /// them from a disturbance of the operands; may be empty.
  Function inside = nullptr;
};

class Trial {
 public:
  /// `product_roundoff` is that of the operands of float32 products, as the device declares it.
  Trial(at::Device device, double product_roundoff)
      : device_(device), product_roundoff_(product_roundoff) {}

  at::Device device() const { return device_; }
  /// The largest error over its bound so far.
  double margin() const { return margin_; }

  /// `tensor` on the device, with its strides and offset.
  at::Tensor upload(const at::Tensor& tensor) const;

  void require(bool holds, const std::string& cause, const std::string& message) const;

  /// `function` on the device against float64 on the host: dtypes, shapes, values. Integers and
  /// bools must be equal.
  void check(const Function& function, const Tensors& operands, const Rounding& rounding = {});

  /// Bits, dtype and shape as on the host.
  void equal(const at::Tensor& got, const at::Tensor& want, const std::string& label = "result");

  /// That `call` raises a c10::Error, or a std::exception at all, at once or when waited for.
  void raises(const std::function<void()>& call);

 private:
  void compare(const at::Tensor& got, const at::Tensor& exact, const at::Tensor& spread,
               const std::string& label);

  at::Device device_;
  double product_roundoff_;
  double margin_ = 0;
};

/// start, start + 1, ... in a shape, on the host: exact in every dtype up to 256.
at::Tensor numbers(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat, int64_t start = 1);

/// Normally distributed, the same in every run.
at::Tensor noise(at::IntArrayRef shape, at::ScalarType dtype = at::kFloat, uint64_t seed = 1);

}  // namespace conformance
