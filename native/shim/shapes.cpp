// The weight of an array, asked for each one that is made.
#include "shapes.h"

#include "mlxts.h"

extern "C" double mlxts_array_bytes(mlx_array a) {
  const auto* array = static_cast<const mlx::core::array*>(a.ctx);
  if (!array) {
    return 0;
  }
  return mlxts::countable(array->shape()) ? static_cast<double>(array->nbytes()) : -1;
}
