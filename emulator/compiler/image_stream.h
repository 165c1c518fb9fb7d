// Bytes of an executable's image: little-endian, with lengths checked on the way in.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/base/error.h"

namespace tpu::compiler {

static_assert(std::endian::native == std::endian::little, "images are little-endian");

class ImageWriter {
 public:
  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put(const std::string& text) {
    put<uint64_t>(text.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), bytes, bytes + text.size());
  }
  void put(std::span<const std::byte> block) {
    put<uint64_t>(block.size());
    bytes_.insert(bytes_.end(), block.begin(), block.end());
  }
  template <class T, class F>
  void put_all(const std::vector<T>& items, F&& put_one) {
    put<uint64_t>(items.size());
    for (const T& item : items) put_one(item);
  }
  void put(const std::vector<int64_t>& items) {
    put_all(items, [this](int64_t item) { put(item); });
  }

  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Throws InvalidArgument where the bytes end too early or a value is out of range.
class ImageReader {
 public:
  explicit ImageReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  bool get_flag() { return get<uint8_t>() != 0; }
  /// An enumeration of `count` values from 0.
  template <class T>
  T get_enum(int count) {
    const auto value = static_cast<int64_t>(get<std::underlying_type_t<T>>());
    if (value < 0 || value >= count) fail("a value of an enumeration is out of range");
    return static_cast<T>(value);
  }
  std::string get_text() {
    const std::span<const std::byte> bytes = take(get<uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::vector<std::byte> get_block() {
    const std::span<const std::byte> bytes = take(get<uint64_t>());
    return {bytes.begin(), bytes.end()};
  }
  template <class F>
  auto get_all(F&& get_one) {
    std::vector<decltype(get_one())> items;
    const uint64_t count = get<uint64_t>();
    if (count > rest_.size()) fail("a list is longer than the image");
    for (uint64_t i = 0; i < count; ++i) items.push_back(get_one());
    return items;
  }
  std::vector<int64_t> get_ints() {
    return get_all([this] { return get<int64_t>(); });
  }
  bool at_end() const { return rest_.empty(); }

  [[noreturn]] static void fail(const std::string& what) {
    throw InvalidArgument("damaged executable image: " + what);
  }

 private:
  std::span<const std::byte> take(uint64_t count) {
    if (count > rest_.size()) fail("it ends too early");
    const std::span<const std::byte> taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  std::span<const std::byte> rest_;
};

}  // namespace tpu::compiler
