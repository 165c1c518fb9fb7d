// The emulator's exceptions. The backend turns each into PyTorch's own exception type.
#pragma once

#include <stdexcept>
#include <string>

namespace tpu {

/// Base of all errors the emulator throws on purpose. A message names what was got, what was
/// expected and, where there is something to do about it, what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller broke a documented precondition (wrong shape, type, attribute).
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// The operation is legal StableHLO but nothing here implements it.
class Unimplemented : public Error {
 public:
  using Error::Error;
};

/// The emulated HBM has no room.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A running program found a fault (an index out of range, a division by zero). It reaches the
/// host at the queue's next synchronisation.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// The fault is an index out of range; PyTorch has an exception type of its own for it.
class IndexFault : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace tpu
