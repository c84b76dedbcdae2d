// BLAS threads and C's environment.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>

#include "fail.h"
#include "mlxts.h"

namespace {

// Which BLAS lies under MLX is decided when the folder is assembled, so it is asked for by name. OpenBLAS from
// SciPy's wheel prefixes its symbols; a system OpenBLAS does not.
void* blasSymbol(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, (std::string("scipy_") + name).c_str());
  return found ? found : dlsym(RTLD_DEFAULT, name);
}

} // namespace

extern "C" const char* mlxts_blas_name(void) {
  return mlxts::guarded("reference", []() -> const char* {
#if defined(__APPLE__)
    return "Accelerate";
#else
    auto config = reinterpret_cast<const char* (*)()>(blasSymbol("openblas_get_config"));
    return config ? config() : "reference";
#endif
  });
}

extern "C" int mlxts_blas_set_threads(int threads) {
  return mlxts::guarded(1, [&] {
    if (threads < 1) {
      mlxts::fail("the number of BLAS threads must be at least 1, got " + std::to_string(threads));
      return 1;
    }
    auto set = reinterpret_cast<void (*)(int)>(blasSymbol("openblas_set_num_threads"));
    if (!set) {
      mlxts::fail(std::string("the BLAS in use (") + mlxts_blas_name() + ") has no thread setting");
      return 1;
    }
    set(threads);
    return 0;
  });
}

extern "C" int mlxts_blas_get_threads(void) {
  return mlxts::guarded(1, [] {
    auto get = reinterpret_cast<int (*)()>(blasSymbol("openblas_get_num_threads"));
    return get ? get() : 1;
  });
}

extern "C" int mlxts_setenv(const char* name, const char* value) {
  return mlxts::guarded(1, [&] {
    if (!name) {
      mlxts::fail("setenv: no name");
      return 1;
    }
    const int status = value ? setenv(name, value, 1) : unsetenv(name);
    if (status != 0) {
      mlxts::fail(std::string("setenv ") + name + ": " + std::strerror(errno));
    }
    return status == 0 ? 0 : 1;
  });
}
