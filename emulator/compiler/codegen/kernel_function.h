// The function of one loop kernel while it is being emitted: addresses, values and loops.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulator/compiler/codegen/element_ops.h"
#include "emulator/compiler/passes/loop_kernel.h"
#include "emulator/compiler/passes/schedule.h"

namespace tpu::compiler {

/// Emits `void name(ptr bases, i64 begin, i64 end, ptr scratch)`: the kernel's units [begin, end).
/// Values are emitted at the outermost level where they are known:
///   kOnce    before all loops
///   kUnit    once a unit (a row; a chunk of a map's or columns' vectorised variable; a row of
///   tiles) kColumn  for kColumns, once a vector of columns kPoint   in the innermost loop
class KernelFunction {
 public:
  enum class Level : uint8_t { kOnce, kUnit, kColumn, kPoint };

  KernelFunction(llvm::Module& module, const LoopKernel& kernel, const Schedule& schedule,
                 HostIsa isa, const std::string& name,
                 std::optional<LaneSplit> split = std::nullopt);

  /// Emits the whole function; returns the bytes of scratch that one call needs.
  int64_t emit();

 private:
  using Value = llvm::Value;
  using Dims = hlo::Dims;
  using ElementType = hlo::ElementType;

  // A position of the vectorised variable: `width` lanes from `index`, of which the last block of
  // a loop may hold fewer (`is_tail`, then `tail` of them are valid).
  struct Block {
    Value* index = nullptr;
    int width = 1;
    Value* is_tail = nullptr;  // null: all lanes are valid
    int64_t tail = 0;
  };

  // Whole kernels, by form.
  void emit_map();
  void emit_tiles();
  void emit_rows();
  void emit_lane_groups();
  void emit_columns();

  // Loops. Bodies run with the builder inside of the loop.
  void for_each(Value* begin, Value* end, int64_t step, const std::function<void(Value*)>& body);
  void for_units(const std::function<void(const std::vector<Value*>&)>& body);
  void for_reduced(size_t first, size_t last, Value* position,
                   const std::function<void(Value*)>& body);
  void if_then(Value* condition, const std::function<void()>& body);
  Block block_at(Value* index, int64_t size, int width, bool partial);

  // Preparation.
  void find_dependences();
  void find_needed();
  void find_spills();
  void emit_once();
  void begin_unit();
  void emit_unit_nodes(int pass);
  int cost(int node) const;

  // Values.
  Lanes value(int node, const Block& block);
  Lanes compute(int node, const Block& block);
  Lanes iota(int node, const Block& block);
  Lanes load(int node, const Block& block);
  void store(size_t store, Lanes lanes, const Block& block);
  void clear_points() { point_values_.assign(kernel_.nodes.size(), {}); }

  // Memory.
  Value* base_address(int slot);
  Value* unit_pointer(const MemoryAccess& access, ElementType type);
  Value* point_pointer(Value* unit, const MemoryAccess& access, ElementType type, Value* index);
  Value* load_part(Value* pointer, llvm::Type* element, int64_t stride_bytes, const Block& block);
  void store_part(Value* pointer, Value* lanes, llvm::Type* element, int64_t stride_bytes,
                  const Block& block);
  Value* add_bytes(Value* pointer, Value* count, int64_t bytes);
  Value* tail_buffer(int64_t bytes);
  Value* stack(llvm::Type* element, int64_t count, unsigned alignment = 64);
  Lanes load_lanes(ElementType type, Value* buffer, Value* imag_buffer, Value* offset, int width);
  void store_lanes(ElementType type, Lanes lanes, Value* buffer, Value* imag_buffer, Value* offset,
                   int width);
  llvm::Type* buffer_type(ElementType type);
  int64_t buffer_bytes(ElementType type);

  // Reductions.
  struct Accumulator {
    ElementType type;
    Value* real = nullptr;
    Value* imag = nullptr;
  };
  std::vector<Accumulator> make_accumulators(int reduction, int64_t count);
  std::vector<Lanes> apply(int reduction, std::vector<Lanes> accumulators,
                           const std::vector<Lanes>& x, int width);
  std::vector<Lanes> input_values(int reduction, const Block& block);
  void accumulate(int reduction, const std::vector<Accumulator>& accumulators, Value* position,
                  Value* lane_offset, const Block& block);
  Value* is_first(Value* position, const Block& block);
  void move_wrapped(const std::vector<Accumulator>& accumulators, Value* wraps, bool back);
  std::vector<Lanes> tree(int reduction, std::vector<Lanes> lanes, int64_t count);
  std::vector<Lanes> with_init(int reduction, const std::vector<Lanes>& lanes, int width);
  void finish_row(int reduction, const std::vector<Lanes>& lanes);
  bool register_pass(int pass) const;
  void emit_register_pass(int pass);
  using RowLanes = std::vector<std::vector<Lanes>>;  // by reduction of the pass, by value
  RowLanes values_at(const std::vector<int>& reductions, const Block& block);
  void accumulate_run(const std::vector<int>& reductions, RowLanes& lanes, Value* first, int width,
                      int64_t begin, int64_t end);
  Value* split_pointer(Value* row, int64_t value);
  Value* row_number();
  void emit_memory_pass(int pass);
  void emit_pass_stores(int pass, const Block& block);
  bool pass_has_stores(int pass) const;
  bool is_point_store(size_t store) const;

  // Tiles.
  void load_tile(int node, Value* row, Value* column);
  std::vector<Value*> transposed(std::vector<Value*> rows);

  // Columns.
  void for_columns(const std::function<void(const Block&)>& body);
  Accumulator& column_array(int node);
  void emit_column_prologue(int pass);
  void emit_column_pass(int pass);
  void finish_columns(int reduction, const std::vector<Accumulator>& accumulators,
                      const Block& block);

  const LoopKernel& kernel_;
  const Schedule& schedule_;
  const std::optional<LaneSplit> split_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  ElementOps ops_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* entry_ = nullptr;
  Value* table_ = nullptr;
  Value* begin_ = nullptr;
  Value* end_ = nullptr;
  Value* scratch_ = nullptr;

  std::vector<uint64_t> depends_;  // by node: schedule variables
  std::vector<Level> levels_;
  std::vector<bool> needed_;
  std::vector<Value*> bases_;  // by slot
  std::vector<Value*> index_;  // by schedule variable, where known
  std::vector<Lanes> once_values_, unit_values_, point_values_;
  std::vector<Value*> node_pointers_, store_pointers_;  // at the unit's first point
  Value* chunk_begin_ = nullptr;
  Value* chunk_end_ = nullptr;
  Value* tail_buffer_ = nullptr;

  // Rows: values kept from pass to pass, by node; offset into the scratch, or -1.
  std::vector<int64_t> spill_offset_;
  std::vector<int> spill_pass_;
  int64_t scratch_bytes_ = 0;
  Value* position_ = nullptr;  // of the point among the reduced ones
  int current_pass_ = 0;

  // Tiles: by node, the transposed tile; and where in it a point is.
  std::vector<Value*> tile_buffers_;
  Value* tile_offset_ = nullptr;

  // Columns: per-column values in stack arrays, by node.
  std::vector<Accumulator> column_arrays_;
  std::vector<bool> column_ready_;
};

}  // namespace tpu::compiler
