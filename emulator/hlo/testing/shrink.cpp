#include "emulator/hlo/testing/shrink.h"

#include <algorithm>
#include <map>
#include <set>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/testing/rewrite.h"

namespace tpu::hlo::testing {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const Predicate& fails, int budget)
      : best_(std::move(program)), fails_(fails), budget_(budget) {}

  Program run() {
    bool progress = true;
    while (progress && budget_ > 0) {
      progress = keep_one_result();
      progress |= return_earlier_value();
      progress |= cut_ops();
      progress |= unfold_ops();
      progress |= simplify_regions();
      progress |= drop_layouts();
      progress |= shrink_sizes();
      progress |= simplify_arguments();
    }
    return std::move(best_);
  }

 private:
  // Takes the candidate over if it still fails. `make` may throw InvalidArgument: no candidate.
  template <class Make>
  bool attempt(Make make) {
    if (budget_ <= 0) return false;
    try {
      Program candidate = sweep(make());
      --budget_;
      if (!fails_(candidate)) return false;
      best_ = std::move(candidate);
      return true;
    } catch (const InvalidArgument&) {
      return false;
    }
  }

  bool keep_one_result() {
    const size_t count = best_.result_strides.size();
    if (count < 2) return false;
    for (size_t i = 0; i < count; ++i) {
      const std::vector<size_t> kept = {i};
      if (attempt([&] { return rewrite(best_, {.results = &kept}); })) return true;
    }
    for (size_t i = count; i-- > 0 && best_.result_strides.size() > 1;) {
      std::vector<size_t> kept;
      for (size_t j = 0; j < best_.result_strides.size(); ++j) {
        if (j != i) kept.push_back(j);
      }
      attempt([&] { return rewrite(best_, {.results = &kept}); });
    }
    return best_.result_strides.size() < count;
  }

  // The first value of @main, in order, that shows the failure as its only result.
  bool return_earlier_value() {
    for (size_t index = 0; index + 1 < num_ops(); ++index) {
      for (int i = 0; i < op_at(index)->num_results(); ++i) {
        const auto returned = best_.module.main().body.terminator().operands();
        if (returned.size() == 1 && returned[0] == op_at(index)->result(i)) return false;
        const bool done = attempt([&] {
          Program copy = best_.clone();
          Block& body = copy.module.main().body;
          Value* value = body.ops()[index]->result(i);
          body.ops().pop_back();
          Builder(body).ret({value});
          copy.result_strides.assign(1, {});
          copy.aliases.assign(1, -1);
          return copy;
        });
        if (done) return true;
      }
    }
    return false;
  }

  // The values of all results of @main's own ops, in order; empty if the program faults.
  std::vector<Literal> trace() const {
    Program all = best_.clone();
    std::vector<Value*> values;
    for (const auto& op : all.module.main().body.ops()) {
      for (int i = 0; i < op->num_results(); ++i) values.push_back(op->result(i));
    }
    all.module.main().body.ops().pop_back();
    Builder(all.module.main().body).ret(values);
    try {
      return evaluate(all.module, all.arguments, {.max_iterations = kMaxIterations});
    } catch (const Error&) {
      return {};
    }
  }

  size_t num_ops() const { return best_.module.main().body.ops().size(); }

  const Op* op_at(size_t index) const { return best_.module.main().body.ops()[index].get(); }

  // Ops from the last to the first: away with it, if that may be; else its values as parameters.
  bool cut_ops() {
    bool progress = false;
    for (size_t index = num_ops(); index-- > 0;) {
      if (index >= num_ops() || op_at(index)->kind() == OpKind::kReturn) continue;
      progress |= op_at(index)->num_results() == 0 ? drop_op(index)
                                                   : forward_operand(index) || cut_op(index);
    }
    return progress;
  }

  bool drop_op(size_t index) {
    return attempt([&] {
      const Op* target = op_at(index);
      return rewrite(best_,
                     {.replace = [&](const Op& op, Builder&, ValueMap&) { return &op == target; }});
    });
  }

  // Uses an operand of the same type in place of the op's only result.
  bool forward_operand(size_t index) {
    const Op* target = op_at(index);
    if (target->num_results() != 1) return false;
    for (const Value* operand : target->operands()) {
      if (operand->type != target->result()->type) continue;
      const auto replace = [&](const Op& op, Builder&, ValueMap& map) {
        if (&op == target) map[op.result()] = map.at(operand);
        return &op == target;
      };
      if (attempt([&] { return rewrite(best_, {.replace = replace}); })) return true;
    }
    return false;
  }

  bool cut_op(size_t index) {
    const Op* target = op_at(index);
    const std::vector<Literal> values = trace();
    if (values.empty()) return false;
    size_t first = 0;
    for (size_t i = 0; i < index; ++i) first += op_at(i)->num_results();
    const std::vector<Literal> results(values.begin() + first,
                                       values.begin() + first + target->num_results());
    const auto replace = [&](const Op& op, Builder& to, ValueMap& map) {
      if (&op != target) return false;
      for (int i = 0; i < op.num_results(); ++i) {
        map[op.result(i)] = to.parameter(op.result(i)->type);
      }
      return true;
    };
    return attempt([&] { return rewrite(best_, {.replace = replace}, results); });
  }

  // A conditional becomes one of its branches, a loop one round of its body, a call its callee.
  bool unfold_ops() {
    bool progress = false;
    for (size_t index = num_ops(); index-- > 0;) {
      if (index >= num_ops()) continue;
      const Op& op = *op_at(index);
      if (op.kind() == OpKind::kIf || op.kind() == OpKind::kCase) {
        for (int i = 0; i < op.num_regions(); ++i) {
          if (unfold(op, op.region(i))) {
            progress = true;
            break;
          }
        }
      } else if (op.kind() == OpKind::kWhile) {
        progress |= unfold(op, op.region(1));
      } else if (op.kind() == OpKind::kCall) {
        const auto& callee = op.attributes().get<SymbolRef>("callee");
        progress |= unfold(op, best_.module.find(callee.name)->body);
      }
    }
    return progress;
  }

  bool unfold(const Op& target, const Block& body) {
    const auto replace = [&](const Op& op, Builder& to, ValueMap& map) {
      if (&op != &target) return false;
      for (const auto& argument : body.arguments()) {
        map[argument.get()] = map.at(op.operand(argument->index));
      }
      copy_ops(body, to, map, {});
      for (int i = 0; i < op.num_results(); ++i) {
        map[op.result(i)] = map.at(body.terminator().operand(i));
      }
      return true;
    };
    return attempt([&] { return rewrite(best_, {.replace = replace}); });
  }

  static void collect_inner_ops(const Block& block, bool inner, std::vector<const Op*>& ops) {
    for (const auto& op : block.ops()) {
      if (inner && op->kind() != OpKind::kReturn) ops.push_back(op.get());
      for (int i = 0; i < op->num_regions(); ++i) collect_inner_ops(op->region(i), true, ops);
    }
  }

  // Ops of regions and of other functions: an operand, or 0, in place of their result.
  bool simplify_regions() {
    bool progress = false;
    for (size_t skip = 0;; ++skip) {
      std::vector<const Op*> ops;
      for (const auto& function : best_.module.functions()) {
        collect_inner_ops(function->body, function->name != "main", ops);
      }
      if (skip >= ops.size() || budget_ <= 0) return progress;
      const Op* target = ops[ops.size() - 1 - skip];
      if (simplify_inner(target)) {
        progress = true;
        --skip;
      }
    }
  }

  bool simplify_inner(const Op* target) {
    const bool is_constant =
        target->kind() == OpKind::kConstant ||
        (target->kind() == OpKind::kBroadcastInDim && target->operand(0)->def &&
         target->operand(0)->def->kind() == OpKind::kConstant);
    if (is_constant) return false;
    const auto replace = [&](bool forward) {
      return [=](const Op& op, Builder& to, ValueMap& map) {
        if (&op != target) return false;
        for (int i = 0; i < op.num_results(); ++i) {
          const Value* result = op.result(i);
          const auto same = std::ranges::find_if(
              op.operands(), [&](const Value* operand) { return operand->type == result->type; });
          map[result] = forward && same != op.operands().end() ? map.at(*same)
                                                               : to.constant(Literal(result->type));
        }
        return true;
      };
    };
    return attempt([&] { return rewrite(best_, {.replace = replace(true)}); }) ||
           attempt([&] { return rewrite(best_, {.replace = replace(false)}); });
  }

  bool drop_layouts() {
    bool progress = false;
    const auto try_change = [&](auto change) {
      progress |= attempt([&] {
        Program copy = best_.clone();
        change(copy);
        return copy;
      });
    };
    const auto no_aliases = [](Program& p) { p.aliases.assign(p.aliases.size(), -1); };
    if (std::ranges::any_of(best_.aliases, [](int alias) { return alias >= 0; })) {
      try_change(no_aliases);
    }
    for (size_t i = 0; i < best_.result_strides.size(); ++i) {
      if (best_.result_strides[i].empty() || best_.aliases[i] >= 0) continue;
      try_change([&](Program& p) { p.result_strides[i].clear(); });
    }
    for (size_t i = 0; i < best_.parameter_strides.size(); ++i) {
      const bool aliased = std::ranges::find(best_.aliases, int(i)) != best_.aliases.end();
      if (best_.parameter_strides[i].empty() || aliased) continue;
      try_change([&](Program& p) { p.parameter_strides[i].clear(); });
    }
    return progress;
  }

  static void collect_sizes(const Block& block, std::set<int64_t>& sizes) {
    const auto add = [&](const Value* value) {
      sizes.insert(value->type.shape.begin(), value->type.shape.end());
    };
    for (const auto& argument : block.arguments()) add(argument.get());
    for (const auto& op : block.ops()) {
      for (int i = 0; i < op->num_results(); ++i) add(op->result(i));
      for (int i = 0; i < op->num_regions(); ++i) collect_sizes(op->region(i), sizes);
    }
  }

  // Every dimension of one size gets a smaller one, all over the program. Where that does not
  // make a valid program (a concatenation, a pad) it is left.
  bool shrink_sizes() {
    bool progress = false;
    std::set<int64_t> sizes;
    for (const auto& function : best_.module.functions()) collect_sizes(function->body, sizes);
    for (auto from = sizes.rbegin(); from != sizes.rend(); ++from) {
      for (int64_t to : {int64_t{1}, int64_t{2}, *from / 2, *from - 1}) {
        if (to < 1 || to >= *from) continue;
        if (attempt([&] { return with_size(*from, to); })) {
          progress = true;
          break;
        }
      }
    }
    return progress;
  }

  Program with_size(int64_t from, int64_t to) const {
    const auto resize = [=](TensorType type) {
      std::ranges::replace(type.shape, from, to);
      return type;
    };
    const auto attributes = [&](const Op& op) {
      Attributes changed = op.attributes();
      for (const auto& [name, value] : op.attributes()) {
        if (const auto* literal = std::get_if<Literal>(&value)) {
          changed.set(name, crop(*literal, resize(literal->type())));
        }
        const bool sizes = name == "slice_sizes" || name == "limit_indices" ||
                           name == "fft_length" || name == "window_dimensions";
        if (const auto* dims = std::get_if<Dims>(&value); dims && sizes) {
          Dims resized = *dims;
          std::ranges::replace(resized, from, to);
          changed.set(name, resized);
        }
      }
      return changed;
    };
    Program source = best_.clone();
    for (Literal& argument : source.arguments) argument = crop(argument, resize(argument.type()));
    source.parameter_strides.assign(source.parameter_strides.size(), {});
    source.result_strides.assign(source.result_strides.size(), {});
    source.aliases.assign(source.aliases.size(), -1);
    return rewrite(source, {.retype = resize, .attributes = attributes});
  }

  // The corner of `literal` that a smaller type has.
  static Literal crop(const Literal& literal, const TensorType& type) {
    if (literal.type() == type) return literal;
    Literal result(type);
    const int64_t width = byte_width(type.element);
    const Dims strides = row_major_strides(literal.type().shape);
    const Dims inner = row_major_strides(type.shape);
    for (int64_t i = 0; i < type.num_elements(); ++i) {
      int64_t position = 0;
      for (size_t d = 0; d < type.shape.size(); ++d) {
        position += i / inner[d] % type.shape[d] * strides[d];
      }
      std::copy_n(literal.bytes().data() + position * width, width,
                  result.mutable_bytes().data() + i * width);
    }
    return result;
  }

  // Whole arguments to 0, then their elements.
  bool simplify_arguments() {
    constexpr int64_t kElements = 64;
    bool progress = false;
    const auto is_zero = [](const Literal& literal) {
      return std::ranges::all_of(literal.bytes(), [](std::byte b) { return b == std::byte{0}; });
    };
    for (size_t i = 0; i < best_.arguments.size(); ++i) {
      if (is_zero(best_.arguments[i])) continue;
      if (attempt([&] {
            Program copy = best_.clone();
            copy.arguments[i] = Literal(copy.arguments[i].type());
            return copy;
          })) {
        progress = true;
        continue;
      }
      const TensorType type = best_.arguments[i].type();
      if (!best_.parameter_strides[i].empty() || type.num_elements() > kElements) continue;
      const int64_t width = byte_width(type.element);
      for (int64_t e = 0; e < type.num_elements(); ++e) {
        const auto bytes = best_.arguments[i].bytes().subspan(e * width, width);
        if (std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) continue;
        progress |= attempt([&] {
          Program copy = best_.clone();
          const auto element = copy.arguments[i].mutable_bytes().subspan(e * width, width);
          std::ranges::fill(element, std::byte{0});
          return copy;
        });
      }
    }
    return progress;
  }

  Program best_;
  const Predicate& fails_;
  int budget_;
};

}  // namespace

Program shrink(Program program, const Predicate& fails, int budget) {
  return Shrinker(std::move(program), fails, budget).run();
}

}  // namespace tpu::hlo::testing
