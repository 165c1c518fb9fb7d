// Fills one block with random ops; regions get a generator of their own.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/hlo/builder.h"
#include "emulator/hlo/testing/generator.h"
#include "emulator/hlo/testing/values.h"

namespace tpu::hlo::testing {

using TypePredicate = bool (*)(ElementType);

/// True for every type but tokens.
bool is_any(ElementType type);
/// Integers, floats and complex numbers.
bool is_number(ElementType type);
/// Integers and floats.
bool is_real(ElementType type);

class BlockGenerator {
 public:
  /// For @main: values may become parameters, whose arguments go to `program`.
  BlockGenerator(Rng& rng, const GeneratorOptions& options, Block& block, Program& program)
      : rng_(rng), options_(options), builder_(block), program_(&program) {}
  /// For a region inside of `outer`, whose values it may use, or (null) for another function.
  BlockGenerator(Rng& rng, const GeneratorOptions& options, Block& block,
                 const BlockGenerator* outer, int depth);

  /// Appends `steps` random steps.
  void run(int steps);
  /// Values that the block made or was given, oldest first.
  const std::vector<Value*>& pool() const { return pool_; }
  void add_to_pool(Value* value) { pool_.push_back(value); }

  /// A value of exactly this type: one that exists, or a new one.
  Value* value_of(const TensorType& type);
  Builder& builder() { return builder_; }

 private:
  struct Step {
    int weight;
    bool (BlockGenerator::*generate)();
    bool exact = true;  ///< also with GeneratorOptions::exact
  };
  static const std::vector<Step>& steps();

  // Choosing types and operands (generator.cpp).
  ElementType random_element(TypePredicate allowed);
  Dims random_shape();
  int64_t random_size();
  bool small_enough(const Dims& shape) const;
  Value* any_value(TypePredicate allowed, int min_rank = 0);
  Value* new_value(const TensorType& type, ValueStyle style);
  Value* new_value(const TensorType& type) { return new_value(type, random_style(rng_)); }
  Value* scalar_index();
  Dims random_permutation(int64_t count);
  /// Each of 0 .. count - 1 with probability one half, ascending.
  Dims random_subset(int64_t count);
  void keep(Value* value) { pool_.push_back(value); }
  void keep(const std::vector<Value*>& values);

  // Elementwise (generate_elementwise.cpp).
  bool unary();
  bool chlo_function();
  bool binary();
  bool comparison();
  bool choice();
  bool conversion();
  bool complex_parts();

  // Shape (generate_shape.cpp).
  bool broadcast();
  bool reshape();
  bool transpose();
  bool reverse();
  bool slice();
  bool concatenate();
  bool pad();
  bool iota();
  bool dynamic_slice();
  bool dynamic_update_slice();
  bool bitcast_input();

  // Indexing (generate_indexing.cpp).
  bool gather();
  bool scatter();

  // Reductions (generate_reductions.cpp).
  Builder::Body random_combiner(ElementType type);
  Value* init_value(ElementType type);
  bool reduce();
  bool arg_reduce();
  bool reduce_window();
  bool cumulative();
  bool select_and_scatter();
  bool sort();
  bool map();

  // Contractions and the rest of the library (generate_contractions.cpp).
  bool dot_general();
  bool convolution();
  bool matrix_op();
  bool fft();
  bool random_bits();

  // Control flow (generate_control.cpp).
  Builder::Body random_branch(const std::vector<TensorType>& types);
  bool conditional();
  bool loop();
  bool call();
  bool barrier();
  bool fault();

  Rng& rng_;
  const GeneratorOptions& options_;
  Builder builder_;
  Program* program_ = nullptr;
  int depth_ = 0;
  std::vector<Value*> pool_;
};

}  // namespace tpu::hlo::testing
