// PyTorch streams are the chip's queues: a stream's id is its queue's.
#pragma once

#include <c10/core/Stream.h>

#include "backend/runtime/device.h"

namespace torch_tpu::runtime {

/// The queue of a stream. Throws for a stream of another device or an unknown id.
tpu::runtime::Queue& queue_of(const c10::Stream& stream);
c10::Stream stream_of(const tpu::runtime::Queue& queue);

c10::Stream default_stream();
/// The calling thread's.
c10::Stream current_stream();
/// Makes `stream` the calling thread's current one; returns the one before.
c10::Stream exchange_stream(const c10::Stream& stream);
/// One of a small pool, in turn; a queue is made when its turn comes first.
c10::Stream stream_from_pool();

}  // namespace torch_tpu::runtime
