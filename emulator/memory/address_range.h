// A reserved stretch of the host's address space, committed as it grows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tpu::memory {

/// Owns the mapping. Nothing of it counts as used memory before `grow`, and after it only pages
/// that were touched do.
class AddressRange {
 public:
  /// Throws OutOfMemory if the host refuses so much address space. `bytes` is rounded up to pages.
  explicit AddressRange(int64_t bytes);
  ~AddressRange();
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  std::byte* base() const { return base_; }
  int64_t reserved() const { return reserved_; }
  int64_t committed() const { return committed_; }
  bool contains(const void* address) const {
    const auto* p = static_cast<const std::byte*>(address);
    return p >= base_ && p < base_ + reserved_;
  }

  /// Makes `bytes` more usable, zero-filled, in multiples of pages. False if the range is used up
  /// or the host refuses.
  bool grow(int64_t bytes);
  /// Gives the pages of [offset, offset + size) back to the host; they read as zero afterwards.
  void discard(int64_t offset, int64_t size);

  static constexpr int64_t kPage = 4096;

 private:
  std::byte* base_ = nullptr;
  int64_t reserved_ = 0;
  int64_t committed_ = 0;
};

}  // namespace tpu::memory
