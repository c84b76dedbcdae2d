// Leaving the process while MLX computes. Bun on Linux ends with quick_exit, which runs no destructor, and that is
// safe. Whatever calls exit() instead (a native add-on, a program that embeds the runtime) would run OpenBLAS's
// destructor under MLX's stream threads: OpenBLAS then joins a worker that was just given work, and waits for ever.
// So at exit(), once the handlers registered after ours have run, the process ends without destructors.
#include <cstdlib> // defines __GLIBC__

#if defined(__GLIBC__)

#include <cstdio>

#include <unistd.h>

namespace {

void leave(int status, void*) {
  std::fflush(nullptr);
  _exit(status);
}

__attribute__((constructor)) void registerExit() {
  on_exit(leave, nullptr);
}

} // namespace

#endif
