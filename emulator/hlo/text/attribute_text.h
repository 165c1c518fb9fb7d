// Attributes in StableHLO text, as the table of ops describes them.
#pragma once

#include <string>
#include <string_view>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/op_table.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

/// How an attribute is spelled: as a value of a dictionary (`array<i64: 1, 0>`,
/// `#stablehlo<comparison_direction LT>`), or where an op's pretty form has a place for it
/// (`[1, 0]`, `LT`).
enum class Spelling : uint8_t { kDictionary, kInline };

/// The table's row for the attribute; null for one that the op need not know.
const AttributeSpec* find_spec(OpKind kind, std::string_view name);

/// `spec` may be null; then the spelling follows from what the attribute holds.
std::string attribute_text(const Attribute& attribute, const AttributeSpec* spec,
                           Spelling spelling);

Attribute parse_attribute(Lexer& lexer, const AttributeSpec& spec, Spelling spelling);

/// An attribute without a row in the table. Plain values become themselves; all others become
/// an EnumValue with their text, which prints as it is.
Attribute parse_any_attribute(Lexer& lexer);

}  // namespace tpu::hlo::text
