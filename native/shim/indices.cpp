// Index arrays whose values are there already. MLX follows an index wherever it leads, out of the array too.
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "fail.h"
#include "mlx/mlx.h"
#include "mlxts.h"
#include "there.h"

namespace mlxts::indices {

using mlx::core::array;

template <typename T>
bool inside(T value, int64_t least, int64_t most) {
  if constexpr (std::numeric_limits<T>::is_signed) {
    return value >= least && value <= most;
  } else {
    return most >= 0 && static_cast<uint64_t>(value) <= static_cast<uint64_t>(most);
  }
}

// Every element that the array stores, in whatever order: enough to find that none is outside. The bounds are those of
// the type where they are wider, and the loop goes by blocks that have no way out, so that many elements are done at a time.
template <typename T>
bool allInside(const array& a, int64_t least, int64_t most) {
  using Limits = std::numeric_limits<T>;
  if (most < 0) {
    return false;
  }
  const T low = std::is_signed_v<T> && least > static_cast<int64_t>(Limits::min()) ? static_cast<T>(least) : Limits::min();
  const T high =
      static_cast<uint64_t>(most) < static_cast<uint64_t>(Limits::max()) ? static_cast<T>(most) : Limits::max();
  const T* data = a.data<T>();
  const size_t count = a.data_size();
  constexpr size_t kBlock = 32;
  T good = 1;
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (size_t k = 0; k < kBlock; k++) {
      good &= static_cast<T>(data[i + k] >= low) & static_cast<T>(data[i + k] <= high);
    }
  }
  for (; i < count; i++) {
    good &= static_cast<T>(data[i] >= low) & static_cast<T>(data[i] <= high);
  }
  return good == 1;
}

// The first element in logical order that is outside, as its position and value; false when there is none.
template <typename T>
bool find(const array& a, int64_t least, int64_t most, double* position, double* value) {
  const T* at = a.data<T>();
  std::vector<int> index(a.ndim(), 0);
  for (size_t i = 0; i < a.size(); i++) {
    if (!inside(*at, least, most)) {
      *position = static_cast<double>(i);
      *value = static_cast<double>(*at);
      return true;
    }
    for (int axis = static_cast<int>(a.ndim()) - 1; axis >= 0; axis--) {
      at += a.strides(axis);
      if (++index[axis] < a.shape(axis)) {
        break;
      }
      at -= a.strides(axis) * a.shape(axis);
      index[axis] = 0;
    }
  }
  return false;
}

template <typename T>
int look(const array& a, int64_t least, int64_t most, double* position, double* value) {
  if (a.flags().contiguous && allInside<T>(a, least, most)) {
    return 0;
  }
  return find<T>(a, least, most, position, value) ? 1 : 0;
}

inline int answer(const array& a, int64_t least, int64_t most, double* position, double* value) {
  using namespace mlx::core;
  const Dtype dtype = a.dtype();
  if (dtype == int32) return look<int32_t>(a, least, most, position, value);
  if (dtype == int64) return look<int64_t>(a, least, most, position, value);
  if (dtype == uint32) return look<uint32_t>(a, least, most, position, value);
  if (dtype == uint64) return look<uint64_t>(a, least, most, position, value);
  if (dtype == int16) return look<int16_t>(a, least, most, position, value);
  if (dtype == uint16) return look<uint16_t>(a, least, most, position, value);
  if (dtype == int8) return look<int8_t>(a, least, most, position, value);
  if (dtype == uint8) return look<uint8_t>(a, least, most, position, value);
  return -1;
}

} // namespace mlxts::indices

extern "C" int mlxts_indices_outside(mlx_array indices, double least, double most, double* position, double* value) {
  return mlxts::guarded<int>(-1, [&]() -> int {
    const auto* a = static_cast<const mlx::core::array*>(indices.ctx);
    if (!a || !position || !value || a->is_tracer() || !mlxts::isThere(*a) || !a->data_shared_ptr()) {
      return -1;
    }
    if (a->size() == 0) {
      return 0;
    }
    return mlxts::indices::answer(*a, static_cast<int64_t>(least), static_cast<int64_t>(most), position, value);
  });
}
