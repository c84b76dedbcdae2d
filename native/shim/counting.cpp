// The handle counts, if the libmlxc beside us is the counting build.
#include <cstdint>

#include "mlxts.h"

extern "C" __attribute__((weak)) void mlxts_count_live(int64_t* arrays, int64_t* others);

extern "C" int64_t mlxts_live_handles(void) {
  if (!mlxts_count_live) {
    return -1;
  }
  int64_t arrays = 0;
  int64_t others = 0;
  mlxts_count_live(&arrays, &others);
  return arrays + others;
}

extern "C" int64_t mlxts_live_arrays(void) {
  if (!mlxts_count_live) {
    return -1;
  }
  int64_t arrays = 0;
  int64_t others = 0;
  mlxts_count_live(&arrays, &others);
  return arrays;
}
