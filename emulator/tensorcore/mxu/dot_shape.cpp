#include "emulator/tensorcore/mxu/dot_shape.h"

#include <algorithm>
#include <span>
#include <string>

#include "emulator/base/error.h"

namespace tpu::tensorcore {
namespace {

hlo::Dims rest_of(size_t rank, const hlo::Dims& batch, const hlo::Dims& contracting) {
  hlo::Dims rest;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d) {
    if (std::ranges::find(batch, d) == batch.end() &&
        std::ranges::find(contracting, d) == contracting.end()) {
      rest.push_back(d);
    }
  }
  return rest;
}

void require_same_sizes(const char* what, std::span<const int64_t> lhs, const hlo::Dims& lhs_dims,
                        std::span<const int64_t> rhs, const hlo::Dims& rhs_dims) {
  if (lhs_dims.size() != rhs_dims.size()) {
    throw InvalidArgument("dot_general: lhs has " + std::to_string(lhs_dims.size()) + " " + what +
                          " dimensions, rhs " + std::to_string(rhs_dims.size()));
  }
  for (size_t i = 0; i < lhs_dims.size(); ++i) {
    if (lhs[lhs_dims[i]] != rhs[rhs_dims[i]]) {
      throw InvalidArgument("dot_general: " + std::string(what) + " dimension " +
                            std::to_string(i) + " has size " + std::to_string(lhs[lhs_dims[i]]) +
                            " in lhs and " + std::to_string(rhs[rhs_dims[i]]) + " in rhs");
    }
  }
}

}  // namespace

DotShape dot_shape(const hlo::Attributes& attributes, std::span<const int64_t> lhs,
                   std::span<const int64_t> rhs, std::span<const int64_t> result) {
  const auto& numbers = attributes.get<hlo::DotDimensionNumbers>("dot_dimension_numbers");
  DotShape shape{numbers.lhs_batching_dimensions,
                 numbers.rhs_batching_dimensions,
                 numbers.lhs_contracting_dimensions,
                 numbers.rhs_contracting_dimensions,
                 {},
                 {}};
  require_same_sizes("batching", lhs, shape.lhs_batch, rhs, shape.rhs_batch);
  require_same_sizes("contracting", lhs, shape.lhs_contracting, rhs, shape.rhs_contracting);
  shape.lhs_rest = rest_of(lhs.size(), shape.lhs_batch, shape.lhs_contracting);
  shape.rhs_rest = rest_of(rhs.size(), shape.rhs_batch, shape.rhs_contracting);
  hlo::Dims expected;
  for (int64_t d : shape.lhs_batch) expected.push_back(lhs[d]);
  for (int64_t d : shape.lhs_rest) expected.push_back(lhs[d]);
  for (int64_t d : shape.rhs_rest) expected.push_back(rhs[d]);
  if (!std::ranges::equal(expected, result)) {
    throw InvalidArgument("dot_general: the result's shape is not batch, lhs rest, rhs rest");
  }
  return shape;
}

}  // namespace tpu::tensorcore
