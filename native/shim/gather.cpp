// Elements that lie anywhere, copied one after another. MLX's own copy is an operation: it waits for the work that is
// running, brings up that work's failures, and computes into memory of its own, which then is copied once more.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fail.h"
#include "mlxts.h"

namespace {

struct Axis {
  int64_t length;
  int64_t from; // bytes from one index to the next in the source
  int64_t to; // and in the copy
};

// Where a row reads a little of many cache lines, of which the next row needs more: small squares find them still there.
constexpr int64_t tile = 32;
// A loop over fewer is not worth its start.
constexpr int64_t few = 8;

template <size_t width>
void elements(const char* from, char* to, const Axis& outer, const Axis& inner) {
  const bool squares = std::llabs(outer.from) < std::llabs(inner.from);
  const int64_t height = squares ? tile : outer.length;
  const int64_t breadth = squares ? tile : inner.length;
  for (int64_t top = 0; top < outer.length; top += height) {
    for (int64_t left = 0; left < inner.length; left += breadth) {
      const int64_t bottom = std::min(top + height, outer.length);
      const int64_t right = std::min(left + breadth, inner.length);
      for (int64_t row = top; row < bottom; row++) {
        const char* source = from + row * outer.from + left * inner.from;
        char* target = to + row * outer.to + left * static_cast<int64_t>(width);
        for (int64_t i = left; i < right; i++, source += inner.from, target += width) {
          std::memcpy(target, source, width);
        }
      }
    }
  }
}

void plane(const char* from, char* to, const Axis& outer, const Axis& inner, size_t width) {
  if (inner.from == static_cast<int64_t>(width)) {
    for (int64_t row = 0; row < outer.length; row++) {
      std::memcpy(to + row * outer.to, from + row * outer.from, inner.length * width);
    }
    return;
  }
  switch (width) {
    case 1:
      return elements<1>(from, to, outer, inner);
    case 2:
      return elements<2>(from, to, outer, inner);
    case 4:
      return elements<4>(from, to, outer, inner);
    default:
      return elements<8>(from, to, outer, inner);
  }
}

// The axes of more than one index, neighbours that lie like one joined. At least two, the innermost last.
std::vector<Axis> axesOf(const int64_t* shape, const int64_t* strides, size_t ndim, int64_t width) {
  std::vector<Axis> axes;
  int64_t to = width;
  for (size_t axis = ndim; axis-- > 0; to *= shape[axis]) {
    const int64_t from = strides[axis] * width;
    if (shape[axis] == 1) {
      continue;
    }
    if (!axes.empty() && from == axes.back().from * axes.back().length) {
      axes.back().length *= shape[axis];
    } else {
      axes.push_back({shape[axis], from, to});
    }
  }
  while (axes.size() < 2) {
    axes.push_back({1, axes.empty() ? width : 0, to});
  }
  return {axes.rbegin(), axes.rend()};
}

} // namespace

extern "C" int
mlxts_gather(void* out, const void* first, const void* shape, const void* strides, size_t ndim, size_t width) {
  return mlxts::guarded(1, [&] {
    std::vector<Axis> axes = axesOf(
        static_cast<const int64_t*>(shape),
        static_cast<const int64_t*>(strides),
        ndim,
        static_cast<int64_t>(width));
    const Axis inner = axes.back();
    axes.pop_back();
    // Beside the innermost axis, the one along which the source is closest together; of short ones, the longest.
    const auto better = [](const Axis& a, const Axis& b) {
      return a.length >= few && b.length >= few ? std::llabs(a.from) < std::llabs(b.from) : a.length > b.length;
    };
    const auto chosen = std::min_element(axes.begin(), axes.end(), better);
    const Axis outer = *chosen;
    axes.erase(chosen);

    const char* from = static_cast<const char*>(first);
    char* to = static_cast<char*>(out);
    std::vector<int64_t> index(axes.size(), 0);
    for (size_t axis = 0;;) {
      plane(from, to, outer, inner, width);
      for (axis = axes.size(); axis-- > 0;) {
        from += axes[axis].from;
        to += axes[axis].to;
        if (++index[axis] < axes[axis].length) {
          break;
        }
        from -= axes[axis].from * axes[axis].length;
        to -= axes[axis].to * axes[axis].length;
        index[axis] = 0;
      }
      if (axis == static_cast<size_t>(-1)) {
        return 0;
      }
    }
  });
}
