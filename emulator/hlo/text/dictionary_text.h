// Dictionaries of an op's attributes in StableHLO text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/op_kind.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

/// ` {name = value, ...}`, with a leading space; empty for no attributes. `in_place` names the
/// attributes that are printed elsewhere.
std::string dictionary_text(OpKind kind, const Attributes& attributes,
                            std::span<const std::string_view> in_place);

/// Throws InvalidArgument for an attribute that would change what the op computes and that nothing
/// here obeys: it must not be dropped in silence.
void refuse_unsupported(const Lexer& lexer, size_t offset, OpKind kind, std::string_view name);

/// Whether the attribute is one of the op's own: the generic form keeps those apart.
bool is_inherent(OpKind kind, std::string_view name);

/// Removes the attributes of a custom_call that hold their defaults, as MLIR's printer does, so
/// that both forms of a program give the same op.
void drop_defaults(OpKind kind, Attributes& attributes);

/// `{name = value, ...}` into `attributes`. Attributes that the op need not know are dropped,
/// except those of custom_call and composite.
void parse_dictionary(Lexer& lexer, OpKind kind, Attributes& attributes);

}  // namespace tpu::hlo::text
