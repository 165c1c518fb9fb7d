// The emulator's threads: one pool, whose size the user sets, on oneTBB.
#pragma once

#include <cstdint>
#include <functional>

namespace tpu {

/// Threads that a program may use, the calling one included. 1 or more.
int num_threads();
/// Takes effect for work that starts afterwards.
void set_num_threads(int count);

/// Calls `body(begin, end)` for disjoint ranges that cover [0, count), on up to `num_threads()`
/// threads; ranges have at least `grain` indices, except the last. Returns when all are done.
/// An exception of a body is rethrown. How the range was cut must not change a bit.
void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t)>& body);

}  // namespace tpu
