#include <string>

#include "mlx/version.h"
#include "mlxts.h"

#define MLXTS_TEXT_(x) #x
#define MLXTS_TEXT(x) MLXTS_TEXT_(x)

#ifndef MLXTS_MLXC_VERSION
#error "MLXTS_MLXC_VERSION must name the version of the mlx-c sources"
#endif

extern "C" const char* mlxts_versions(void) {
  // The headers' version was fixed when this file was compiled, the library's is asked for now: they differ when
  // somebody put another libmlx beside us. Never destroyed: another thread may still hold it at exit.
  static const std::string& text = *new std::string(std::string("{\"mlx\":\"") + mlx::core::version() +
      "\",\"headers\":\"" MLXTS_TEXT(MLX_VERSION_MAJOR) "." MLXTS_TEXT(MLX_VERSION_MINOR) "." MLXTS_TEXT(
          MLX_VERSION_PATCH) "\",\"mlxc\":\"" MLXTS_MLXC_VERSION "\",\"abi\":" MLXTS_TEXT(MLXTS_ABI) "}");
  return text.c_str();
}
