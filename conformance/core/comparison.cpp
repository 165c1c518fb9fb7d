#include "core/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <stdexcept>

namespace conformance {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string text_of(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", x);
  return text;
}

void check_sizes(size_t got, size_t exact, size_t spread, size_t expected_spread) {
  if (got == exact && (spread == 0 || spread == expected_spread)) return;
  throw std::invalid_argument("a result of " + std::to_string(got) +
                              " components, a reference of " + std::to_string(exact) +
                              " and a spread of " + std::to_string(spread) + " do not go together");
}

// Error over bound of one real component.
double margin_of(const Element& element, double got, double exact, double bound) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : kInfinity;
  if (std::isnan(got)) return kInfinity;
  if (got == exact) return 0;
  // Near the largest number a result may round up to infinity, and one of infinity down to it.
  const bool may_overflow = std::abs(exact) + bound > element.max_finite;
  if (may_overflow && std::signbit(got) == std::signbit(exact)) {
    if (std::isinf(got) || std::isinf(exact)) {
      return std::isinf(got) || std::abs(got) + bound >= element.max_finite ? 0 : kInfinity;
    }
  }
  if (std::isinf(got) || std::isinf(exact)) return kInfinity;
  const double error = std::abs(got - exact);
  return bound > 0 ? error / bound : kInfinity;
}

class Worst {
 public:
  void add(double margin, int64_t index, const std::string& got, const std::string& exact,
           double bound) {
    if (margin <= result_.margin && result_.worst >= 0) return;
    if (margin <= 0) return;
    result_.margin = margin;
    result_.worst = index;
    result_.note = "at " + std::to_string(index) + ": got " + got + ", expected " + exact + " +- " +
                   text_of(bound);
  }
  void skip() { ++result_.unjudged; }
  Comparison take(int64_t components) {
    result_.components = components;
    return std::move(result_);
  }

 private:
  Comparison result_;
};

}  // namespace

Comparison compare_reals(const Element& element, std::span<const double> got,
                         std::span<const double> exact, std::span<const double> spread,
                         const Arithmetic& arithmetic) {
  check_sizes(got.size(), exact.size(), spread.size(), exact.size());
  Worst worst;
  for (size_t i = 0; i < got.size(); ++i) {
    const double width = spread.empty() ? 0 : spread[i];
    if (!std::isfinite(width)) {
      worst.skip();
      continue;
    }
    const double magnitude = std::min(std::abs(exact[i]), element.max_finite);
    const double bound = bound_of(element, magnitude, width, arithmetic);
    const double margin = margin_of(element, got[i], exact[i], bound);
    if (margin > 0) {
      worst.add(margin, static_cast<int64_t>(i), text_of(got[i]), text_of(exact[i]), bound);
    }
  }
  return worst.take(static_cast<int64_t>(got.size()));
}

Comparison compare_complex(const Element& element, std::span<const double> got,
                           std::span<const double> exact, std::span<const double> spread,
                           const Arithmetic& arithmetic) {
  check_sizes(got.size(), exact.size(), spread.size(), exact.size() / 2);
  Worst worst;
  for (size_t i = 0; i + 1 < got.size(); i += 2) {
    const double width = spread.empty() ? 0 : spread[i / 2];
    if (!std::isfinite(width)) {
      worst.skip();
      continue;
    }
    // An error of a part is measured by the modulus: complex arithmetic promises no more.
    const double modulus = std::hypot(exact[i], exact[i + 1]);
    const double bound = bound_of(element, std::isfinite(modulus) ? modulus : 0, width, arithmetic);
    // A complex number with one infinite part is an infinity, whatever the other part (C11, G.3).
    const bool both_infinite = (std::isinf(got[i]) || std::isinf(got[i + 1])) &&
                               (std::isinf(exact[i]) || std::isinf(exact[i + 1]));
    const bool both_nan = (std::isnan(got[i]) || std::isnan(got[i + 1])) &&
                          (std::isnan(exact[i]) || std::isnan(exact[i + 1]));
    if (both_infinite || both_nan) continue;
    const double margin = std::max(margin_of(element, got[i], exact[i], bound),
                                   margin_of(element, got[i + 1], exact[i + 1], bound));
    if (margin > 0) {
      worst.add(margin, static_cast<int64_t>(i / 2),
                text_of(got[i]) + "+" + text_of(got[i + 1]) + "j",
                text_of(exact[i]) + "+" + text_of(exact[i + 1]) + "j", bound);
    }
  }
  return worst.take(static_cast<int64_t>(got.size() / 2));
}

Comparison compare_integers(std::span<const int64_t> got, std::span<const int64_t> exact,
                            std::span<const double> spread) {
  check_sizes(got.size(), exact.size(), spread.size(), exact.size());
  Worst worst;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == exact[i]) continue;
    const double width = spread.empty() ? 0 : spread[i];
    if (!std::isfinite(width)) {
      worst.skip();
      continue;
    }
    const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(exact[i]));
    const double bound = kSafety * width;
    worst.add(bound > 0 ? error / bound : kInfinity, static_cast<int64_t>(i),
              std::to_string(got[i]), std::to_string(exact[i]), bound);
  }
  return worst.take(static_cast<int64_t>(got.size()));
}

}  // namespace conformance
