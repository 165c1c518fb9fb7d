#include "emulator/hlo/text/dictionary_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "emulator/hlo/text/attribute_text.h"

namespace tpu::hlo::text {
namespace {

std::string name_text(std::string_view name) {
  const std::string mark = symbol(name);  // Quotes what is not an identifier.
  return mark.substr(1);
}

// Ops whose meaning may depend on any attribute.
bool keeps_all_attributes(OpKind kind) {
  return kind == OpKind::kCustomCall || kind == OpKind::kComposite;
}

bool at_end_of_attribute(Lexer& lexer) {
  return lexer.at(",") || lexer.at("}");
}

// The table holds a channel's number; the dialect writes a handle, whose type says what it links.
constexpr std::string_view kChannelId = "channel_id", kChannelHandle = "channel_handle";

std::string channel_text(OpKind kind, const Attributes& attributes) {
  constexpr int kDeviceToDevice = 1, kDeviceToHost = 2, kHostToDevice = 3;
  const Attribute* host = attributes.find("is_host_transfer");
  const bool to_host = host && *host == Attribute(true);
  const int type = !to_host                ? kDeviceToDevice
                   : kind == OpKind::kRecv ? kHostToDevice
                                           : kDeviceToHost;
  return "#stablehlo.channel_handle<handle = " +
         std::to_string(attributes.get<int64_t>(kChannelId)) + ", type = " + std::to_string(type) +
         ">";
}

int64_t parse_channel(Lexer& lexer) {
  int64_t handle = 0;
  lexer.expect("#stablehlo.channel_handle");
  lexer.expect("<");
  for (bool first = true; !lexer.accept(">"); first = false) {
    if (!first) lexer.expect(",");
    const Token field = lexer.expect(TokenKind::kWord, "handle or type");
    lexer.expect("=");
    const int64_t value = lexer.expect_integer();
    if (field.text == "handle") handle = value;
  }
  return handle;
}

// Flags that the dialect writes as a name alone, and leaves out where they do not hold.
bool is_unit(std::string_view name) {
  return name == "use_global_device_ids";
}

// Whether the attribute is the text of a dictionary, not a string: in a typed custom call.
bool is_dictionary(std::string_view name, std::string_view text, const Attributes& attributes) {
  constexpr int64_t kTypedApi = 4;
  const Attribute* version = attributes.find("api_version");
  return name == "backend_config" && text.starts_with('{') && version &&
         *version == Attribute(kTypedApi);
}

// `name = value`; empty if it is not written.
std::string entry_text(OpKind kind, const Attributes& attributes, const std::string& name,
                       const Attribute& value) {
  if (is_unit(name)) return value == Attribute(true) ? name : "";
  const AttributeSpec* spec = find_spec(kind, name);
  if (spec && name == kChannelId) {
    return std::string(kChannelHandle) + " = " + channel_text(kind, attributes);
  }
  const auto* text = std::get_if<std::string>(&value);
  const bool verbatim = text && is_dictionary(name, *text, attributes);
  return name_text(name) + " = " +
         (verbatim ? *text : attribute_text(value, spec, Spelling::kDictionary));
}

std::string attribute_name(Lexer& lexer) {
  if (lexer.at(TokenKind::kString)) return lexer.expect_string();
  return std::string(lexer.expect(TokenKind::kWord, "an attribute's name").text);
}

}  // namespace

std::string dictionary_text(OpKind kind, const Attributes& attributes,
                            std::span<const std::string_view> in_place) {
  std::string items;
  for (const auto& [name, value] : attributes) {
    if (std::ranges::find(in_place, name) != in_place.end()) continue;
    const std::string entry = entry_text(kind, attributes, name, value);
    if (!items.empty() && !entry.empty()) items += ", ";
    items += entry;
  }
  return items.empty() ? "" : " {" + items + "}";
}

void refuse_unsupported(const Lexer& lexer, size_t offset, OpKind kind, std::string_view name) {
  if (kind != OpKind::kDotGeneral || name != "algorithm") return;
  lexer.fail_message(offset,
                     "dot_general's attribute 'algorithm' is not supported: say how exact "
                     "the product must be by precision_config");
}

bool is_inherent(OpKind kind, std::string_view name) {
  // What the dialect has and the table has not; and the other way round.
  using Name = std::pair<OpKind, std::string_view>;
  constexpr Name kUnlisted[] = {{OpKind::kCustomCall, "operand_layouts"},
                                {OpKind::kCustomCall, "result_layouts"},
                                {OpKind::kCustomCall, "output_operand_aliases"},
                                {OpKind::kComposite, "composite_attributes"}};
  constexpr Name kAdded = {OpKind::kCustomCall, "message"};
  const Name wanted{kind, name};
  const bool unlisted = std::ranges::find(kUnlisted, wanted) != std::end(kUnlisted);
  return unlisted || (find_spec(kind, name) && wanted != kAdded);
}

void drop_defaults(OpKind kind, Attributes& attributes) {
  if (kind != OpKind::kCustomCall) return;
  const auto drop = [&](std::string_view name, const Attribute& value) {
    const Attribute* found = attributes.find(name);
    if (found && *found == value) attributes.erase(name);
  };
  drop("has_side_effect", false);
  drop("api_version", int64_t{1});
  drop("called_computations", std::vector<SymbolRef>{});
}

void parse_dictionary(Lexer& lexer, OpKind kind, Attributes& attributes) {
  lexer.expect("{");
  for (bool first = true; !lexer.accept("}"); first = false) {
    if (!first) lexer.expect(",");
    const size_t start = lexer.position();
    const std::string name = attribute_name(lexer);
    const AttributeSpec* spec = find_spec(kind, name);
    refuse_unsupported(lexer, start, kind, name);
    if (at_end_of_attribute(lexer)) {
      // A name alone is a flag that holds.
      if (spec || keeps_all_attributes(kind)) attributes.set(name, true);
      continue;
    }
    lexer.expect("=");
    if (name == kChannelHandle && find_spec(kind, kChannelId)) {
      attributes.set(kChannelId, parse_channel(lexer));
    } else if (spec) {
      attributes.set(name, parse_attribute(lexer, *spec, Spelling::kDictionary));
    } else if (keeps_all_attributes(kind)) {
      attributes.set(name, parse_any_attribute(lexer));
    } else {
      lexer.skip_attribute();
    }
  }
}

}  // namespace tpu::hlo::text
