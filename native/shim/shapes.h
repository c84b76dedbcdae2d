// What MLX can count. A broadcast is free, so that an array's shape can claim far more elements than memory has: past
// 64 bits the count wraps, and what evaluates or prints such an array reads and writes wherever that leads.
#pragma once

#include "mlx/array.h"

namespace mlxts {

// No dtype has more than 8 bytes: below this, bytes and strides stay inside of an int64.
constexpr double kMostElements = 1152921504606846976.0; // 2^60

inline bool countable(const mlx::core::Shape& shape) {
  // In floating point nothing wraps, and what is left out of a product near 2^60 is far below 1 %.
  double count = 1;
  for (auto length : shape) {
    // A negative length is one that has wrapped in 32 bits.
    if (length < 0) {
      return false;
    }
    count *= length;
  }
  // Not >=, which a NaN of infinity times 0 would pass.
  return count < kMostElements;
}

} // namespace mlxts
