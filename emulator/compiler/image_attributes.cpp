#include "emulator/compiler/image_attributes.h"

#include <utility>

namespace tpu::compiler {
namespace {

using hlo::Attribute;

// One overload a member type of Attribute, in both directions.

void put(ImageWriter& to, bool value) {
  to.put<uint8_t>(value);
}
void put(ImageWriter& to, int64_t value) {
  to.put(value);
}
void put(ImageWriter& to, double value) {
  to.put(value);
}
void put(ImageWriter& to, const std::string& value) {
  to.put(value);
}
void put(ImageWriter& to, const hlo::EnumValue& value) {
  to.put(value.value);
}
void put(ImageWriter& to, const hlo::EnumValues& values) {
  to.put_all(values, [&](const hlo::EnumValue& value) { put(to, value); });
}
void put(ImageWriter& to, const hlo::Dims& value) {
  to.put(value);
}
void put(ImageWriter& to, const std::vector<bool>& values) {
  to.put<uint64_t>(values.size());
  for (const bool value : values) put(to, value);
}
void put(ImageWriter& to, const hlo::IntMatrix& value) {
  to.put(value.rows);
  to.put(value.columns);
  to.put(value.values);
}
void put(ImageWriter& to, const hlo::Literal& value) {
  put_type(to, value.type());
  to.put(value.bytes());
}
void put(ImageWriter& to, const hlo::SymbolRef& value) {
  to.put(value.name);
}
void put(ImageWriter& to, const std::vector<hlo::SymbolRef>& values) {
  to.put_all(values, [&](const hlo::SymbolRef& value) { put(to, value); });
}
void put(ImageWriter& to, const hlo::DotDimensionNumbers& value) {
  to.put(value.lhs_batching_dimensions);
  to.put(value.rhs_batching_dimensions);
  to.put(value.lhs_contracting_dimensions);
  to.put(value.rhs_contracting_dimensions);
}
void put(ImageWriter& to, const hlo::ConvDimensionNumbers& value) {
  to.put(value.input_batch_dimension);
  to.put(value.input_feature_dimension);
  to.put(value.input_spatial_dimensions);
  to.put(value.kernel_input_feature_dimension);
  to.put(value.kernel_output_feature_dimension);
  to.put(value.kernel_spatial_dimensions);
  to.put(value.output_batch_dimension);
  to.put(value.output_feature_dimension);
  to.put(value.output_spatial_dimensions);
}
void put(ImageWriter& to, const hlo::GatherDimensionNumbers& value) {
  to.put(value.offset_dims);
  to.put(value.collapsed_slice_dims);
  to.put(value.operand_batching_dims);
  to.put(value.start_indices_batching_dims);
  to.put(value.start_index_map);
  to.put(value.index_vector_dim);
}
void put(ImageWriter& to, const hlo::ScatterDimensionNumbers& value) {
  to.put(value.update_window_dims);
  to.put(value.inserted_window_dims);
  to.put(value.input_batching_dims);
  to.put(value.scatter_indices_batching_dims);
  to.put(value.scatter_dims_to_operand_dims);
  to.put(value.index_vector_dim);
}

void get(ImageReader& from, bool& value) {
  value = from.get_flag();
}
void get(ImageReader& from, int64_t& value) {
  value = from.get<int64_t>();
}
void get(ImageReader& from, double& value) {
  value = from.get<double>();
}
void get(ImageReader& from, std::string& value) {
  value = from.get_text();
}
void get(ImageReader& from, hlo::EnumValue& value) {
  value.value = from.get_text();
}
void get(ImageReader& from, hlo::EnumValues& values) {
  values = from.get_all([&] { return hlo::EnumValue{from.get_text()}; });
}
void get(ImageReader& from, hlo::Dims& value) {
  value = from.get_ints();
}
void get(ImageReader& from, std::vector<bool>& values) {
  for (const uint8_t value : from.get_all([&] { return from.get<uint8_t>(); })) {
    values.push_back(value != 0);
  }
}
void get(ImageReader& from, hlo::IntMatrix& value) {
  value.rows = from.get<int64_t>();
  value.columns = from.get<int64_t>();
  value.values = from.get_ints();
}
void get(ImageReader& from, hlo::Literal& value) {
  hlo::TensorType type = get_type(from);
  std::vector<std::byte> bytes = from.get_block();
  if (type.num_bytes() != static_cast<int64_t>(bytes.size())) {
    ImageReader::fail("a literal's size does not fit its type");
  }
  value = hlo::Literal(std::move(type), std::move(bytes));
}
void get(ImageReader& from, hlo::SymbolRef& value) {
  value.name = from.get_text();
}
void get(ImageReader& from, std::vector<hlo::SymbolRef>& values) {
  values = from.get_all([&] { return hlo::SymbolRef{from.get_text()}; });
}
void get(ImageReader& from, hlo::DotDimensionNumbers& value) {
  value.lhs_batching_dimensions = from.get_ints();
  value.rhs_batching_dimensions = from.get_ints();
  value.lhs_contracting_dimensions = from.get_ints();
  value.rhs_contracting_dimensions = from.get_ints();
}
void get(ImageReader& from, hlo::ConvDimensionNumbers& value) {
  value.input_batch_dimension = from.get<int64_t>();
  value.input_feature_dimension = from.get<int64_t>();
  value.input_spatial_dimensions = from.get_ints();
  value.kernel_input_feature_dimension = from.get<int64_t>();
  value.kernel_output_feature_dimension = from.get<int64_t>();
  value.kernel_spatial_dimensions = from.get_ints();
  value.output_batch_dimension = from.get<int64_t>();
  value.output_feature_dimension = from.get<int64_t>();
  value.output_spatial_dimensions = from.get_ints();
}
void get(ImageReader& from, hlo::GatherDimensionNumbers& value) {
  value.offset_dims = from.get_ints();
  value.collapsed_slice_dims = from.get_ints();
  value.operand_batching_dims = from.get_ints();
  value.start_indices_batching_dims = from.get_ints();
  value.start_index_map = from.get_ints();
  value.index_vector_dim = from.get<int64_t>();
}
void get(ImageReader& from, hlo::ScatterDimensionNumbers& value) {
  value.update_window_dims = from.get_ints();
  value.inserted_window_dims = from.get_ints();
  value.input_batching_dims = from.get_ints();
  value.scatter_indices_batching_dims = from.get_ints();
  value.scatter_dims_to_operand_dims = from.get_ints();
  value.index_vector_dim = from.get<int64_t>();
}

// Reads the alternative of number `which`.
template <size_t... I>
Attribute get_alternative(ImageReader& from, size_t which, std::index_sequence<I...>) {
  Attribute attribute;
  const auto read = [&]<size_t N>(std::integral_constant<size_t, N>) {
    if (which != N) return;
    get(from, attribute.template emplace<N>());
  };
  (read(std::integral_constant<size_t, I>()), ...);
  return attribute;
}

}  // namespace

void put_type(ImageWriter& image, const hlo::TensorType& type) {
  image.put(type.element);
  image.put(type.shape);
}

hlo::TensorType get_type(ImageReader& image) {
  constexpr int kCount = static_cast<int>(hlo::ElementType::kToken) + 1;
  const auto element = image.get_enum<hlo::ElementType>(kCount);
  hlo::Dims shape = image.get_ints();
  for (int64_t size : shape) {
    if (size < 0) ImageReader::fail("a dimension's size is negative");
  }
  return {element, std::move(shape)};
}

void put_attributes(ImageWriter& image, const hlo::Attributes& attributes) {
  image.put<uint64_t>(static_cast<uint64_t>(std::distance(attributes.begin(), attributes.end())));
  for (const auto& [name, attribute] : attributes) {
    image.put(name);
    image.put<uint8_t>(static_cast<uint8_t>(attribute.index()));
    std::visit([&](const auto& value) { put(image, value); }, attribute);
  }
}

hlo::Attributes get_attributes(ImageReader& image) {
  constexpr size_t kAlternatives = std::variant_size_v<Attribute>;
  hlo::Attributes attributes;
  const uint64_t count = image.get<uint64_t>();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = image.get_text();
    const size_t which = image.get<uint8_t>();
    if (which >= kAlternatives) ImageReader::fail("an attribute of unknown kind");
    attributes.set(name, get_alternative(image, which, std::make_index_sequence<kAlternatives>()));
  }
  return attributes;
}

}  // namespace tpu::compiler
