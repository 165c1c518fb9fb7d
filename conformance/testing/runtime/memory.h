// Memory of the mock device: the host's, counted.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Device.h>
#include <c10/core/Storage.h>

namespace mock {

inline constexpr c10::DeviceType kDeviceType = c10::DeviceType::PrivateUse1;

/// The one device.
inline c10::Device device() {
  return {kDeviceType, 0};
}

/// What torch.accelerator reads the statistics from.
c10::DeviceAllocator* device_allocator();

/// A pointer under the device's name to memory that `host` owns, which lives as long as it.
c10::DataPtr adopt_memory(const c10::Storage& host);

}  // namespace mock
