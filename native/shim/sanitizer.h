// Only in the build for AddressSanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <cstdint>
#include <cstdlib>

#include <signal.h>

namespace mlxts {

// When an exception is thrown, AddressSanitizer marks the thread's signal stack as usable and insists that it starts
// at a multiple of 8. Bun's does not: give the thread one that does.
inline void alignSignalStack() {
  stack_t current;
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & (SS_DISABLE | SS_ONSTACK)) != 0) {
    return;
  }
  if (reinterpret_cast<uintptr_t>(current.ss_sp) % 8 == 0 && current.ss_size % 8 == 0) {
    return;
  }
  const size_t size = (current.ss_size + 4095) / 4096 * 4096;
  stack_t aligned = {};
  aligned.ss_sp = std::aligned_alloc(4096, size);
  aligned.ss_size = size;
  if (aligned.ss_sp) {
    sigaltstack(&aligned, nullptr);
  }
}

} // namespace mlxts
#endif
