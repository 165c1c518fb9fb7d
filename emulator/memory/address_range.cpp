#include "emulator/memory/address_range.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "emulator/base/error.h"

namespace tpu::memory {

AddressRange::AddressRange(int64_t bytes) : reserved_((bytes + kPage - 1) / kPage * kPage) {
  // Without access rights the range counts neither as used nor as promised memory, whatever the
  // host's overcommit policy is.
  void* mapped = mmap(nullptr, static_cast<size_t>(reserved_), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw OutOfMemory("the host refused to reserve " + std::to_string(reserved_) +
                      " bytes of address space for the emulated HBM (" + std::strerror(errno) +
                      "); raise the limit on virtual memory (ulimit -v) or lower the capacity");
  }
  base_ = static_cast<std::byte*>(mapped);
}

AddressRange::~AddressRange() {
  munmap(base_, static_cast<size_t>(reserved_));
}

bool AddressRange::grow(int64_t bytes) {
  const int64_t size = (bytes + kPage - 1) / kPage * kPage;
  if (size > reserved_ - committed_) return false;
  if (mprotect(base_ + committed_, static_cast<size_t>(size), PROT_READ | PROT_WRITE) != 0) {
    return false;
  }
  committed_ += size;
  return true;
}

void AddressRange::discard(int64_t offset, int64_t size) {
  madvise(base_ + offset, static_cast<size_t>(size), MADV_DONTNEED);
}

}  // namespace tpu::memory
