// Instructions for one elementwise op on W lanes, with the evaluator's bits.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "emulator/compiler/compiler.h"
#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::compiler {

/// W values of one element type in registers. By element type, `value` is a vector of
///   i1                    i1
///   integers              integers of the type's bytes; 4-bit values sign- or zero-extended
///   fp8, bf16, f16, f32   float; always a number the type can represent
///   f64                   double
///   complex               float or double: the real part; `imag` holds the imaginary part
/// A width of 1 is a scalar, not a vector.
struct Lanes {
  llvm::Value* value = nullptr;
  llvm::Value* imag = nullptr;
};

class ElementOps {
 public:
  ElementOps(llvm::IRBuilder<>& builder, HostIsa isa) : b_(builder), isa_(isa) {}

  llvm::IRBuilder<>& builder() { return b_; }

  /// The type of one lane in registers (of one part, for complex).
  llvm::Type* lane_type(hlo::ElementType type) const;
  /// The type of one element in memory (of one part, for complex).
  llvm::Type* memory_type(hlo::ElementType type) const;
  static llvm::Type* widened(llvm::Type* element, int width);

  Lanes from_memory(hlo::ElementType type, llvm::Value* stored, int width);
  /// Complex values are handled by the caller, part by part.
  llvm::Value* to_memory(hlo::ElementType type, llvm::Value* lanes, int width);

  /// Element 0 of the literal in all lanes.
  Lanes constant(const hlo::Literal& literal, int width);
  Lanes splat(Lanes scalar, int width);
  /// `position` (lanes of i32 or i64) converted to the type, as iota does.
  Lanes from_index(hlo::ElementType type, llvm::Value* position, int width);

  /// Result `result` of an elementwise op. Throws Unimplemented for an op it does not know.
  Lanes apply(const hlo::Op& op, std::span<const Lanes> operands, int width);
  /// All results of a block of elementwise ops on rank-0 values.
  std::vector<Lanes> apply_region(const hlo::Block& block, std::span<const Lanes> arguments,
                                  int width);
  Lanes select(llvm::Value* mask, Lanes on_true, Lanes on_false);

 private:
  using ElementType = hlo::ElementType;

  Lanes apply_float(const hlo::Op& op, std::span<const Lanes> x, ElementType type, int width);
  Lanes apply_integer(const hlo::Op& op, std::span<const Lanes> x, ElementType type, int width);
  Lanes apply_boolean(const hlo::Op& op, std::span<const Lanes> x, int width);
  Lanes apply_complex(const hlo::Op& op, std::span<const Lanes> x, ElementType type, int width);
  template <class F>
  Lanes complex_parts(std::span<const Lanes> x, ElementType type, int width, F&& f);
  llvm::Value* elementary(const hlo::Op& op, std::span<const Lanes> x, ElementType type, int width);
  Lanes complex_elementary(const hlo::Op& op, std::span<const Lanes> x, ElementType type,
                           int width);

  Lanes convert(Lanes x, ElementType from, ElementType to, int width);
  llvm::Value* convert_real(llvm::Value* x, ElementType from, ElementType to, int width);
  llvm::Value* float_to_integer(llvm::Value* x, ElementType to, int width);
  llvm::Value* compare(const hlo::Op& op, std::span<const Lanes> x, ElementType type, int width);
  llvm::Value* total_order_key(llvm::Value* x, int width);
  llvm::Value* reduce_precision(const hlo::Op& op, llvm::Value* x, int width);
  llvm::Value* integer_power(llvm::Value* x, llvm::Value* y, ElementType type, int width);
  llvm::Value* float_remainder(llvm::Value* x, llvm::Value* y);
  llvm::Value* divide_integers(llvm::Value* x, llvm::Value* y, ElementType type, bool remainder);

  /// Rounds float lanes to a narrower type, kept as float.
  llvm::Value* round_to(ElementType type, llvm::Value* x, int width);
  llvm::Value* round_to_bf16(llvm::Value* x, int width);
  llvm::Value* encode_narrow(ElementType type, llvm::Value* x, int width);
  llvm::Value* decode_narrow(ElementType type, llvm::Value* code, int width);
  /// Brings a 4-bit result back into range.
  llvm::Value* wrap(ElementType type, llvm::Value* x);
  llvm::Value* intrinsic(unsigned id, std::initializer_list<llvm::Value*> arguments);
  llvm::Value* integer_constant(llvm::Type* like, int64_t value);
  bool has_f16c() const { return isa_ != HostIsa::kBaseline; }

  llvm::IRBuilder<>& b_;
  HostIsa isa_;
};

}  // namespace tpu::compiler
