// Working memory of the kernels: aligned, kept between calls, never zeroed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tpu::tensorcore {

/// A lease of at least `count` elements of T, 64-byte aligned, contents undefined. Memory comes
/// from a free list of the calling thread and goes back to the thread that ends the lease; fresh
/// pages cost more than a small product does.
class ScratchBytes {
 public:
  explicit ScratchBytes(size_t bytes);
  ~ScratchBytes();
  ScratchBytes(const ScratchBytes&) = delete;
  ScratchBytes& operator=(const ScratchBytes&) = delete;

  std::byte* data() const { return block_.data.get(); }

  struct Free {
    void operator()(std::byte* data) const;
  };
  struct Block {
    std::unique_ptr<std::byte, Free> data;
    size_t bytes = 0;
  };

 private:
  Block block_;
};

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count) : bytes_(static_cast<size_t>(count) * sizeof(T)) {}
  T* data() const { return reinterpret_cast<T*>(bytes_.data()); }

 private:
  ScratchBytes bytes_;
};

}  // namespace tpu::tensorcore
