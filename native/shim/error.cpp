// The thread-local error handler. mlx-c has one handler for the process and calls it on the thread that failed; a
// JavaScript callback there would hang a Worker, so the message waits in C until its own thread fetches it.
#include <string>

#include "mlx/c/error.h"
#include "mlxts.h"
#include "sanitizer.h"

namespace {

struct Messages {
  std::string last;
  std::string taken;
  bool pending = false;
};

Messages& messages() {
  static thread_local Messages mine;
  return mine;
}

void remember(const char* message, void*) {
  Messages& mine = messages();
  mine.pending = true;
  try {
    mine.last = message ? message : "";
  } catch (...) {
    mine.last.clear(); // no memory for the text: an empty one still says that there was an error
  }
}

} // namespace

extern "C" int mlxts_install_error_handler(void) {
#if defined(__SANITIZE_ADDRESS__)
  mlxts::alignSignalStack();
#endif
  mlx_set_error_handler(remember, nullptr, nullptr);
  return 0;
}

extern "C" const char* mlxts_error_take(void) {
  Messages& mine = messages();
  if (!mine.pending) {
    return nullptr;
  }
  mine.pending = false;
  mine.taken.swap(mine.last);
  return mine.taken.c_str();
}
