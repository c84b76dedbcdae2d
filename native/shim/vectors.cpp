// Lists of arrays in one call: the arrays that a transform gives, and a whole vmap. Each would be a handful of calls
// of mlx-c, which JavaScript makes for every function that it differentiates, maps or runs compiled.
#include <functional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "fail.h"
#include "mlx/mlx.h"
#include "mlx/transforms_impl.h"
#include "mlxts.h"

namespace {

using mlx::core::array;
using Arrays = std::vector<array>;
using Function = std::function<Arrays(const Arrays&)>;

// Where the results of the function that is being traced gain their axes.
std::vector<int>& outAxes() {
  static thread_local std::vector<int> axes;
  return axes;
}

// mlx-c lets the list grow one by one.
Arrays copies(const mlx_array* arrays, size_t arrays_num) {
  Arrays copied;
  copied.reserve(arrays_num);
  for (size_t i = 0; i < arrays_num; i++) {
    if (!arrays[i].ctx) {
      throw std::runtime_error("expected a non-empty mlx_array");
    }
    copied.push_back(*static_cast<const array*>(arrays[i].ctx));
  }
  return copied;
}

} // namespace

extern "C" mlx_vector_array mlxts_vector_new(const mlx_array* arrays, size_t arrays_num) {
  return mlxts::guarded<mlx_vector_array>({nullptr}, [&]() -> mlx_vector_array {
    Arrays copied = copies(arrays, arrays_num);
    // By mlx-c, which counts its handles.
    const mlx_vector_array vector = mlx_vector_array_new();
    if (vector.ctx) {
      *static_cast<Arrays*>(vector.ctx) = std::move(copied);
    }
    return vector;
  });
}

extern "C" int64_t mlxts_vector_handles(mlx_vector_array vector, bool frees, mlx_array* handles, size_t capacity) {
  return mlxts::guarded<int64_t>(-1, [&]() -> int64_t {
    if (!vector.ctx) {
      throw std::runtime_error("expected a non-empty mlx_vector_array");
    }
    const size_t size = static_cast<const Arrays*>(vector.ctx)->size();
    if (size > capacity) {
      return static_cast<int64_t>(size);
    }
    for (size_t i = 0; i < size; i++) {
      handles[i] = {nullptr};
      // By mlx-c, which counts its handles.
      if (mlx_vector_array_get(&handles[i], vector, i) != 0) {
        while (i-- > 0) {
          mlx_array_free(handles[i]);
        }
        return -1;
      }
    }
    if (frees) {
      mlx_vector_array_free(vector);
    }
    return static_cast<int64_t>(size);
  });
}

extern "C" mlx_closure mlxts_closure_new(
    int (*fun)(mlx_vector_array*, const mlx_vector_array, void*),
    void* payload) {
  return mlxts::guarded<mlx_closure>({nullptr}, [&]() -> mlx_closure {
    return {new Function([fun, payload](const Arrays& inputs) {
      mlx_vector_array out = {nullptr};
      const int status = fun(&out, {const_cast<Arrays*>(&inputs)}, payload);
      Arrays results;
      if (out.ctx) {
        results = std::move(*static_cast<Arrays*>(out.ctx));
        mlx_vector_array_free(out);
      }
      if (status != 0) {
        throw std::runtime_error("the function has thrown");
      }
      return results;
    })};
  });
}

extern "C" int mlxts_vmap(
    mlx_vector_array* out,
    mlx_closure fun,
    const mlx_array* inputs,
    size_t inputs_num,
    const int* in_axes,
    size_t in_axes_num) {
  return mlxts::guarded<int>(1, [&] {
    if (!fun.ctx) {
      throw std::runtime_error("expected a function");
    }
    const Arrays given = copies(inputs, inputs_num);
    const std::vector<int> ins(in_axes, in_axes + in_axes_num);
    auto [placeholders, traced] = mlx::core::detail::vmap_trace(*static_cast<const Function*>(fun.ctx), given, ins);
    const std::vector<int> outs = std::exchange(outAxes(), {});
    if (outs.size() != traced.size()) {
      throw std::runtime_error("expected an axis for each result");
    }
    auto results = mlx::core::detail::vmap_replace(given, placeholders, traced, ins, outs);
    // By mlx-c, which counts its handles.
    const mlx_vector_array made = mlx_vector_array_new();
    if (!made.ctx) {
      return 1;
    }
    *static_cast<Arrays*>(made.ctx) = std::move(results);
    *out = made;
    return 0;
  });
}

extern "C" int mlxts_vmap_axes(const int* axes, size_t axes_num) {
  return mlxts::guarded<int>(1, [&] {
    outAxes().assign(axes, axes + axes_num);
    return 0;
  });
}
