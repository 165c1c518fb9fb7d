// The pretty forms of ops, as a table that both the printer and the parser walk.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/hlo/op_kind.h"

namespace tpu::hlo::text {

enum class PieceKind : uint8_t {
  kText,              ///< literal text
  kOperand,           ///< one operand
  kOperands,          ///< all further operands, separated by commas
  kAttribute,         ///< an attribute's value
  kDictionary,        ///< all attributes that have no place of their own
  kOptional,          ///< pieces that are there if their attribute is
  kSliceRanges,       ///< `[0:2, 1:3:2]`
  kWindow,            ///< a convolution's `stride = [1, 1], pad = [[0, 0], [0, 0]], ...`
  kExponentMantissa,  ///< `e5m2`
  kTarget,            ///< a custom call's `@name`
  kTypes,             ///< types of operands and results
};

/// How the types are written.
enum class TypesForm : uint8_t {
  kFunctional,  ///< `(a, b) -> c`
  kSame,        ///< `a` if all are the same
  kSelect,      ///< `p, a` for `(p, a, a) -> a`
  kComplex,     ///< `complex<a>` for `(a, a) -> complex<a>`
  kEach,        ///< `a, b` for `(a, b) -> (a, b)`
  kResults,     ///< `a` for `() -> a`
  kArrow,       ///< `a, b -> c`: CHLO
};

struct Piece {
  PieceKind kind = PieceKind::kText;
  std::string_view text;                 ///< kText: the text; kAttribute: the name
  std::vector<std::string_view> tokens;  ///< kText: its tokens
  TypesForm types = TypesForm::kFunctional;
  std::vector<Piece> optional;  ///< kOptional
};

using Syntax = std::vector<Piece>;

/// The op's pretty form after its name; null if it has none, or one that the table cannot
/// describe (reduce, while, return).
const Syntax* find_syntax(OpKind kind);

/// The pretty form of `chlo.<name>`; null if there is no such op, or none that the IR can hold.
const Syntax* find_chlo_syntax(std::string_view name);

/// Names of the attributes that stand in a place of their own.
std::vector<std::string_view> attributes_in_place(const Syntax& syntax);

}  // namespace tpu::hlo::text
