// Names of values while a program is parsed.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

/// The names visible at a place: those of the enclosing regions and of the current one. A region
/// may not redefine a name that is visible; regions beside each other may share names.
class ValueScope {
 public:
  /// Opens a region for as long as it lives.
  class Region {
   public:
    explicit Region(ValueScope& scope) : scope_(scope), size_(scope.in_order_.size()) {}
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region() { scope_.forget(size_); }

   private:
    ValueScope& scope_;
    size_t size_;
  };

  /// `name` is the token `%x`; several values are written `%x#0`, `%x#1`, ...
  void define(const Lexer& lexer, const Token& name, const std::vector<Value*>& values);
  /// Reads `%x` or `%x#1`.
  Value* parse_use(Lexer& lexer) const;
  /// Reads any number of uses, separated by commas. A comma that no use follows is left alone.
  std::vector<Value*> parse_uses(Lexer& lexer) const;

 private:
  void forget(size_t size);

  std::unordered_map<std::string_view, std::vector<Value*>> values_;
  std::vector<std::string_view> in_order_;
};

}  // namespace tpu::hlo::text
