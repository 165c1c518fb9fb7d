// The emulator's exceptions as PyTorch's.
#include <c10/util/Exception.h>

#include <exception>
#include <string_view>

#include "backend/runtime/device.h"
#include "emulator/base/error.h"

namespace torch_tpu::runtime {

void rethrow_as_torch() {
  constexpr std::string_view kIndexPrefix = "IndexError: ";
  try {
    throw;
  } catch (const tpu::IndexFault& error) {
    TORCH_CHECK_INDEX(false, error.what());
  } catch (const tpu::DeviceError& error) {
    const std::string_view text = error.what();
    if (text.starts_with(kIndexPrefix)) {
      TORCH_CHECK_INDEX(false, text.substr(kIndexPrefix.size()));
    }
    TORCH_CHECK(false, text);
  } catch (const tpu::OutOfMemory& error) {
    TORCH_CHECK_WITH(OutOfMemoryError, false, error.what());
  } catch (const tpu::Unimplemented& error) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, error.what());
  } catch (const tpu::Error& error) {
    TORCH_CHECK(false, error.what());
  }
  std::terminate();  // not reached: each clause throws
}

}  // namespace torch_tpu::runtime
