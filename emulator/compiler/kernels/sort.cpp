#include "emulator/compiler/kernels/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "emulator/base/merge_sort.h"
#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/sort_keys.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

using Pattern = RegionPattern;

class Sorter {
 public:
  explicit Sorter(const KernelCall& call)
      : call_(call),
        dimension_(static_cast<size_t>(sort_dimension(call))),
        pattern_(pattern_of(call, 0)),
        length_(call.operands[0].shape[dimension_]) {
    if (length_ > UINT32_MAX) {
      throw Unimplemented("sort of " + std::to_string(length_) +
                          " elements along one dimension; at most 2^32 - 1 are supported");
    }
    outer_shape_ = without(call.operands[0].shape);
    for (const ConstView& operand : call.operands)
      operand_strides_.push_back(without(operand.strides));
    for (const View& result : call.results) result_strides_.push_back(without(result.strides));
  }

  void run() const {
    const int64_t rows = hlo::num_elements(outer_shape_);
    if (rows * length_ == 0) return;
    const ConstView* operand = key_operand();
    parallel_for(rows, std::max<int64_t>(1, 2048 / length_), [&](int64_t begin, int64_t end) {
      if (!operand) return run_by_region(begin, end);
      visit_width(hlo::byte_width(operand->element), [&]<class Key>(std::type_identity<Key>) {
        if constexpr (!std::is_same_v<Key, Wide>) run_by_keys<Key>(*operand, begin, end);
      });
    });
  }

 private:
  static int64_t sort_dimension(const KernelCall& call) {
    const int64_t dimension = call.attributes.get_or<int64_t>("dimension", -1);
    const auto rank = static_cast<int64_t>(call.operands[0].shape.size());
    return dimension < 0 ? dimension + rank : dimension;
  }

  Dims without(std::span<const int64_t> values) const {
    Dims kept(values.begin(), values.end());
    kept.erase(kept.begin() + static_cast<ptrdiff_t>(dimension_));
    return kept;
  }

  int64_t operand_offset(int64_t row, size_t i) const {
    return Odometer<1>(outer_shape_, {operand_strides_[i]}, row).offset(0);
  }

  // The operand that decides, if its type and the comparator have keys.
  const ConstView* key_operand() const {
    const bool strict = pattern_.kind == Pattern::Kind::kCompare &&
                        (pattern_.direction == Pattern::Direction::kLt ||
                         pattern_.direction == Pattern::Direction::kGt);
    if (!strict) return nullptr;
    const ConstView& operand = call_.operands[static_cast<size_t>(pattern_.pair)];
    return has_keys(operand.element) ? &operand : nullptr;
  }

  // Rows by integer keys; a row with NaNs that the comparison does not order calls the region.
  template <class Key>
  void run_by_keys(const ConstView& operand, int64_t begin, int64_t end) const {
    const KeyOf<Key> key_of(operand.element, pattern_);
    KeySorter<Key> sorter;
    std::vector<Key> keys(static_cast<size_t>(length_));
    std::vector<uint32_t> permutation(keys.size());
    for (int64_t row = begin; row < end; ++row) {
      const Key* from = reinterpret_cast<const Key*>(operand.data) +
                        operand_offset(row, static_cast<size_t>(pattern_.pair));
      bool ordered = true;
      for (size_t i = 0; i < keys.size(); ++i) {
        const Key bits = from[static_cast<int64_t>(i) * operand.strides[dimension_]];
        ordered = ordered && (pattern_.total_order || !key_of.is_nan(bits));
        keys[i] = key_of(bits);
      }
      if (ordered) {
        sorter.sort(keys, permutation);
      } else {
        order_by_region(row, permutation);
      }
      move_row(row, permutation);
    }
  }

  void run_by_region(int64_t begin, int64_t end) const {
    std::vector<uint32_t> permutation(static_cast<size_t>(length_));
    for (int64_t row = begin; row < end; ++row) {
      order_by_region(row, permutation);
      move_row(row, permutation);
    }
  }

  void order_by_region(int64_t row, std::vector<uint32_t>& permutation) const {
    struct Column {
      const std::byte* data;
      int64_t step;
    };
    std::vector<Column> columns;
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      const ConstView& operand = call_.operands[i];
      const int64_t width = hlo::byte_width(operand.element);
      columns.push_back(
          {operand.data + operand_offset(row, i) * width, operand.strides[dimension_] * width});
    }
    std::vector<const std::byte*> arguments(2 * columns.size());
    const auto before = [&](uint32_t a, uint32_t b) {
      for (size_t i = 0; i < columns.size(); ++i) {
        arguments[2 * i] = columns[i].data + a * columns[i].step;
        arguments[2 * i + 1] = columns[i].data + b * columns[i].step;
      }
      std::byte value{0};
      std::byte* results[] = {&value};
      call_.regions[0](arguments.data(), results);
      return value != std::byte{0};
    };
    std::iota(permutation.begin(), permutation.end(), 0u);
    merge_sort(permutation, before);
  }

  // Writes row `row` of every result.
  void move_row(int64_t row, std::span<const uint32_t> permutation) const {
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      const ConstView& operand = call_.operands[i];
      const View& result = call_.results[i];
      const int64_t from_step = operand.strides[dimension_], to_step = result.strides[dimension_];
      const int64_t to_offset = Odometer<1>(outer_shape_, {result_strides_[i]}, row).offset(0);
      visit_width(hlo::byte_width(operand.element), [&]<class T>(std::type_identity<T>) {
        const T* from = reinterpret_cast<const T*>(operand.data) + operand_offset(row, i);
        T* to = reinterpret_cast<T*>(result.data) + to_offset;
        for (size_t k = 0; k < permutation.size(); ++k) {
          to[static_cast<int64_t>(k) * to_step] = from[permutation[k] * from_step];
        }
      });
    }
  }

  const KernelCall& call_;
  size_t dimension_;
  Pattern pattern_;
  int64_t length_;
  Dims outer_shape_;
  std::vector<Dims> operand_strides_, result_strides_;
};

}  // namespace

void sort(const KernelCall& call) {
  if (call.operands[0].shape.empty()) {
    throw InvalidArgument("sort needs operands of rank 1 or more");
  }
  Sorter(call).run();
}

}  // namespace tpu::compiler::kernels
