// StableHLO programs in memory: modules, functions, blocks, ops and values in SSA form.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/op_kind.h"
#include "emulator/hlo/types.h"

namespace tpu::hlo {

class Block;
class Op;

/// What an op makes or a block is given. Lives as long as its owner; passed by pointer.
struct Value {
  TensorType type;
  Op* def = nullptr;       ///< the op whose result this is; null for a block argument
  Block* block = nullptr;  ///< the block whose argument this is; null for a result
  int index = 0;           ///< position among the owner's results or arguments
};

/// One operation. Regions (the body of a reduce, the branches of a case) belong to it.
class Op {
 public:
  Op(OpKind kind, std::vector<Value*> operands, Attributes attributes,
     std::vector<std::unique_ptr<Block>> regions, std::vector<TensorType> result_types);
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op();

  OpKind kind() const { return kind_; }
  std::span<Value* const> operands() const { return operands_; }
  Value* operand(int i) const { return operands_[i]; }
  void set_operand(int i, Value* value) { operands_[i] = value; }

  int num_results() const { return static_cast<int>(results_.size()); }
  Value* result(int i = 0) const { return results_[i].get(); }

  const Attributes& attributes() const { return attributes_; }
  Attributes& attributes() { return attributes_; }

  int num_regions() const { return static_cast<int>(regions_.size()); }
  Block& region(int i) const { return *regions_[i]; }
  std::span<const std::unique_ptr<Block>> regions() const { return regions_; }

  /// The block that holds this op; null before it is inserted.
  Block* parent = nullptr;

 private:
  OpKind kind_;
  std::vector<Value*> operands_;
  std::vector<std::unique_ptr<Value>> results_;
  Attributes attributes_;
  std::vector<std::unique_ptr<Block>> regions_;
};

/// A straight list of ops with arguments. The last op is `return` (kReturn), whose operands are
/// the block's results. StableHLO regions have exactly one block.
class Block {
 public:
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  Value* add_argument(TensorType type);
  std::span<const std::unique_ptr<Value>> arguments() const { return arguments_; }
  Value* argument(int i) const { return arguments_[i].get(); }

  Op* append(std::unique_ptr<Op> op);
  std::vector<std::unique_ptr<Op>>& ops() { return ops_; }
  const std::vector<std::unique_ptr<Op>>& ops() const { return ops_; }
  /// The `return` op. Throws InvalidArgument if the block has none.
  Op& terminator() const;

 private:
  std::vector<std::unique_ptr<Value>> arguments_;
  std::vector<std::unique_ptr<Op>> ops_;
};

struct Function {
  std::string name;
  Block body;
  bool is_public = true;

  std::vector<TensorType> parameter_types() const;
  std::vector<TensorType> result_types() const;
};

/// A program. `main` is its entry; other functions are called from it.
class Module {
 public:
  explicit Module(std::string name = "module") : name_(std::move(name)) {}
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;

  const std::string& name() const { return name_; }
  Function& add_function(std::string name);
  std::span<const std::unique_ptr<Function>> functions() const { return functions_; }
  Function* find(std::string_view name) const;
  /// The entry function. Throws InvalidArgument if there is none.
  Function& main() const;

  /// A deep copy.
  Module clone() const;

 private:
  std::string name_;
  std::vector<std::unique_ptr<Function>> functions_;
};

}  // namespace tpu::hlo
