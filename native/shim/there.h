// Whether an array's value is there, for those who only look at it.
#pragma once

#include "mlx/mlx.h"

namespace mlxts {

// MLX's own question takes the error of an evaluation that failed in the background, throws it once, and counts the
// array as available from then on. That is for those who report errors: until one of them has asked, an array with an
// event is not there.
inline bool isThere(const mlx::core::array& a) {
  using Status = mlx::core::array::Status;
  return a.status() == Status::available || (a.status() == Status::evaluated && !a.event().valid());
}

} // namespace mlxts
