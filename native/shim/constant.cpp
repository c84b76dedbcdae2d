// Handles that JavaScript makes once and keeps: numbers that stand beside arrays again and again. They are copies of
// handles of mlx-c, which counts those that are alive. What is kept on purpose is no leak, so it is made here, where
// nothing is counted.
#include "fail.h"
#include "mlx/mlx.h"
#include "mlxts.h"

extern "C" mlx_array mlxts_constant_new(mlx_array value) {
  return mlxts::guarded<mlx_array>({nullptr}, [&]() -> mlx_array {
    if (!value.ctx) {
      return {nullptr};
    }
    return {new mlx::core::array(*static_cast<const mlx::core::array*>(value.ctx))};
  });
}

extern "C" void mlxts_constant_free(mlx_array constant) {
  delete static_cast<mlx::core::array*>(constant.ctx);
}
