#include "emulator/hlo/text/dimension_numbers_text.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace tpu::hlo::text {
namespace {

// One field of `#stablehlo.name<field = value, ...>`: exactly one of the pointers is set.
template <class Numbers>
struct Field {
  std::string_view name;
  Dims Numbers::* dims = nullptr;
  int64_t Numbers::* number = nullptr;
};

using Dot = DotDimensionNumbers;
using Gather = GatherDimensionNumbers;
using Scatter = ScatterDimensionNumbers;

constexpr std::array<Field<Dot>, 4> kDotFields = {{
    {"lhs_batching_dimensions", &Dot::lhs_batching_dimensions},
    {"rhs_batching_dimensions", &Dot::rhs_batching_dimensions},
    {"lhs_contracting_dimensions", &Dot::lhs_contracting_dimensions},
    {"rhs_contracting_dimensions", &Dot::rhs_contracting_dimensions},
}};

constexpr std::array<Field<Gather>, 6> kGatherFields = {{
    {"offset_dims", &Gather::offset_dims},
    {"collapsed_slice_dims", &Gather::collapsed_slice_dims},
    {"operand_batching_dims", &Gather::operand_batching_dims},
    {"start_indices_batching_dims", &Gather::start_indices_batching_dims},
    {"start_index_map", &Gather::start_index_map},
    {"index_vector_dim", nullptr, &Gather::index_vector_dim},
}};

constexpr std::array<Field<Scatter>, 6> kScatterFields = {{
    {"update_window_dims", &Scatter::update_window_dims},
    {"inserted_window_dims", &Scatter::inserted_window_dims},
    {"input_batching_dims", &Scatter::input_batching_dims},
    {"scatter_indices_batching_dims", &Scatter::scatter_indices_batching_dims},
    {"scatter_dims_to_operand_dims", &Scatter::scatter_dims_to_operand_dims},
    {"index_vector_dim", nullptr, &Scatter::index_vector_dim},
}};

// Fields that are empty or zero are left out.
template <class Numbers, size_t N>
std::string fields_text(std::string_view mark, const std::array<Field<Numbers>, N>& fields,
                        const Numbers& numbers) {
  std::string items;
  for (const Field<Numbers>& field : fields) {
    const bool skipped = field.dims ? (numbers.*field.dims).empty() : numbers.*field.number == 0;
    if (skipped) continue;
    if (!items.empty()) items += ", ";
    items += std::string(field.name) + " = " +
             (field.dims ? list(numbers.*field.dims) : std::to_string(numbers.*field.number));
  }
  return std::string(mark) + "<" + items + ">";
}

// Fields in any order, each at most once.
template <class Numbers, size_t N>
Numbers parse_fields(Lexer& lexer, std::string_view mark,
                     const std::array<Field<Numbers>, N>& fields) {
  lexer.expect(mark);
  lexer.expect("<");
  Numbers numbers;
  for (bool first = true; !lexer.accept(">"); first = false) {
    // A comma may follow the last field, too.
    if (!first && (lexer.expect(","), lexer.accept(">"))) break;
    const Token name = lexer.expect(TokenKind::kWord, "a field's name");
    const auto field = std::ranges::find(fields, name.text, &Field<Numbers>::name);
    if (field == fields.end()) lexer.fail_at(name, "a field of " + std::string(mark));
    lexer.expect("=");
    if (field->dims) {
      numbers.*field->dims = lexer.expect_integer_list();
    } else {
      numbers.*field->number = lexer.expect_integer();
    }
  }
  return numbers;
}

// One of the three `[b, 0, 1, f]` of a convolution: where the two named dimensions stand, and
// the spatial ones in their order.
struct Layout {
  int64_t first = -1, second = -1;
  Dims spatial;
};

std::string layout_text(const Layout& layout, char first_name, char second_name) {
  std::vector<std::string> labels(layout.spatial.size() + 2, "?");
  const auto place = [&](int64_t at, std::string label) {
    if (at >= 0 && at < static_cast<int64_t>(labels.size())) labels[at] = std::move(label);
  };
  place(layout.first, {first_name});
  place(layout.second, {second_name});
  for (size_t i = 0; i < layout.spatial.size(); ++i) place(layout.spatial[i], std::to_string(i));
  std::string text;
  for (const std::string& label : labels) text += (text.empty() ? "" : ", ") + label;
  return "[" + text + "]";
}

Layout parse_layout(Lexer& lexer, std::string_view first_name, std::string_view second_name) {
  Layout layout;
  std::vector<std::pair<int64_t, int64_t>> spatial;  // Label, position.
  lexer.expect("[");
  const Token start = lexer.peek();
  for (int64_t at = 0; !lexer.accept("]"); ++at) {
    if (at) lexer.expect(",");
    if (layout.first < 0 && lexer.accept(first_name)) {
      layout.first = at;
    } else if (layout.second < 0 && lexer.accept(second_name)) {
      layout.second = at;
    } else if (lexer.at(TokenKind::kInteger)) {
      spatial.emplace_back(lexer.expect_integer(), at);
    } else {
      lexer.fail("'" + std::string(first_name) + "', '" + std::string(second_name) +
                 "' or a spatial dimension, each once");
    }
  }
  std::ranges::sort(spatial);
  for (size_t i = 0; i < spatial.size(); ++i) {
    if (spatial[i].first != static_cast<int64_t>(i)) {
      lexer.fail_at(start, "spatial dimensions 0, 1, ..., each once");
    }
    layout.spatial.push_back(spatial[i].second);
  }
  if (layout.first < 0 || layout.second < 0) {
    lexer.fail_at(start, "both '" + std::string(first_name) + "' and '" + std::string(second_name) +
                             "' in the list");
  }
  return layout;
}

}  // namespace

std::string dot_text(const DotDimensionNumbers& numbers) {
  return fields_text("#stablehlo.dot", kDotFields, numbers);
}

DotDimensionNumbers parse_dot(Lexer& lexer) {
  return parse_fields(lexer, "#stablehlo.dot", kDotFields);
}

std::string inline_dot_text(const DotDimensionNumbers& numbers) {
  std::string text;
  if (!numbers.lhs_batching_dimensions.empty() || !numbers.rhs_batching_dimensions.empty()) {
    text = "batching_dims = " + list(numbers.lhs_batching_dimensions) + " x " +
           list(numbers.rhs_batching_dimensions) + ", ";
  }
  return text + "contracting_dims = " + list(numbers.lhs_contracting_dimensions) + " x " +
         list(numbers.rhs_contracting_dimensions);
}

DotDimensionNumbers parse_inline_dot(Lexer& lexer) {
  DotDimensionNumbers numbers;
  const auto parse_pair = [&](Dims& lhs, Dims& rhs) {
    lexer.expect("=");
    lhs = lexer.expect_integer_list();
    lexer.expect("x");
    rhs = lexer.expect_integer_list();
  };
  if (lexer.accept_word("batching_dims")) {
    parse_pair(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions);
    lexer.expect(",");
  }
  lexer.expect("contracting_dims");
  parse_pair(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions);
  return numbers;
}

std::string inline_conv_text(const ConvDimensionNumbers& n) {
  return layout_text(
             {n.input_batch_dimension, n.input_feature_dimension, n.input_spatial_dimensions}, 'b',
             'f') +
         "x" +
         layout_text({n.kernel_input_feature_dimension, n.kernel_output_feature_dimension,
                      n.kernel_spatial_dimensions},
                     'i', 'o') +
         "->" +
         layout_text(
             {n.output_batch_dimension, n.output_feature_dimension, n.output_spatial_dimensions},
             'b', 'f');
}

ConvDimensionNumbers parse_inline_conv(Lexer& lexer) {
  const Layout input = parse_layout(lexer, "b", "f");
  lexer.expect("x");
  const Layout kernel = parse_layout(lexer, "i", "o");
  lexer.expect("->");
  const Layout output = parse_layout(lexer, "b", "f");
  return {input.first,    input.second, input.spatial, kernel.first,  kernel.second,
          kernel.spatial, output.first, output.second, output.spatial};
}

std::string conv_text(const ConvDimensionNumbers& numbers) {
  return "#stablehlo.conv<" + inline_conv_text(numbers) + ">";
}

ConvDimensionNumbers parse_conv(Lexer& lexer) {
  lexer.expect("#stablehlo.conv");
  lexer.expect("<");
  ConvDimensionNumbers numbers = parse_inline_conv(lexer);
  lexer.expect(">");
  return numbers;
}

std::string gather_text(const GatherDimensionNumbers& numbers) {
  return fields_text("#stablehlo.gather", kGatherFields, numbers);
}

GatherDimensionNumbers parse_gather(Lexer& lexer) {
  return parse_fields(lexer, "#stablehlo.gather", kGatherFields);
}

std::string scatter_text(const ScatterDimensionNumbers& numbers) {
  return fields_text("#stablehlo.scatter", kScatterFields, numbers);
}

ScatterDimensionNumbers parse_scatter(Lexer& lexer) {
  return parse_fields(lexer, "#stablehlo.scatter", kScatterFields);
}

}  // namespace tpu::hlo::text
