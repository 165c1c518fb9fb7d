// Knowing that this process is a forked child, in which the emulator's threads do not exist.
#pragma once

namespace tpu {

/// From now on a child of fork() counts as a bad fork. Called by whoever starts a thread or takes
/// a lock that a child would inherit in an unknown state. Cheap when repeated.
void forbid_use_after_fork();

/// True in a child forked after `forbid_use_after_fork`. One relaxed load.
bool in_bad_fork();

/// Throws Error, naming the spawn start method as the way out, if `in_bad_fork()`.
void check_not_forked();

}  // namespace tpu
