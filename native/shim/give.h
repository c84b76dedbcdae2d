// Handles of mlx-c to arrays that C++ found.
#pragma once

#include "mlx/c/array.h"
#include "mlx/mlx.h"

namespace mlxts {

// A new handle to `value` in *out: 0, or 1 with a message. mlx-c owns how a handle is made (and counted): an empty one,
// then set.
inline int give(mlx_array* out, const mlx::core::array& value) {
  mlx_array made = mlx_array_new();
  mlx::core::array copy = value;
  if (mlx_array_set(&made, mlx_array{&copy}) != 0) {
    return 1;
  }
  *out = made;
  return 0;
}

} // namespace mlxts
