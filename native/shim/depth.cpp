// How deep a graph is. MLX's transforms walk it by recursion, one level for each operation, and a stack that ends there
// ends the process.
#include <pthread.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fail.h"
#include "id_set.h"
#include "mlx/mlx.h"
#include "mlxts.h"

namespace mlxts::graphs {

using mlx::core::array;

// Bytes of stack that one level takes. Measured with MLX 0.32.2 on Linux x86-64: 144 in compile, 110 in vmap and in
// the graph's text, fewer in vjp and jvp. Elsewhere it is not measured.
#if defined(__linux__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
constexpr size_t kLevel = 192;
#else
constexpr size_t kLevel = 384;
#endif

// What the calls before and behind the recursion need.
constexpr size_t kReserve = 256 * 1024;

// The lowest address of this thread's stack; 0 where the system does not tell.
inline uintptr_t lowest() {
#if defined(__APPLE__)
  const auto top = reinterpret_cast<uintptr_t>(pthread_get_stackaddr_np(pthread_self()));
  return top - pthread_get_stacksize_np(pthread_self());
#elif defined(__linux__)
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  void* low = nullptr;
  size_t size = 0;
  const int status = pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return status == 0 ? reinterpret_cast<uintptr_t>(low) : 0;
#else
  return 0;
#endif
}

inline size_t levels() {
  // The stack of a thread stays where it is, and asking the system is slow.
  static thread_local const uintptr_t low = lowest();
  const char here = 0;
  const auto now = reinterpret_cast<uintptr_t>(&here);
  if (low == 0) {
    return 10000;
  }
  return now > low + kReserve ? (now - low - kReserve) / kLevel : 0;
}

// The depth that a walk by recursion over inputs reaches, each node once, in the order in which MLX goes; it ends early
// past `most`.
inline size_t depth(const std::vector<array>& outputs, const std::vector<array>& inputs, size_t most) {
  static thread_local mlxts::IdSet seen;
  static thread_local std::vector<std::pair<const array*, size_t>> path;
  seen.clear();
  path.clear();
  for (const auto& input : inputs) {
    seen.insert(input.id());
  }
  size_t deepest = 0;
  for (const auto& output : outputs) {
    if (!seen.insert(output.id())) {
      continue;
    }
    path.emplace_back(&output, 0);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == node->inputs().size()) {
        path.pop_back();
        continue;
      }
      const array& input = node->inputs()[next++];
      if (!seen.insert(input.id())) {
        continue;
      }
      path.emplace_back(&input, 0);
      if (path.size() > deepest) {
        deepest = path.size();
        if (deepest > most) {
          return deepest;
        }
      }
    }
  }
  return deepest;
}

} // namespace mlxts::graphs

extern "C" int mlxts_check_depth(mlx_vector_array outputs, mlx_vector_array inputs) {
  return mlxts::guarded<int>(1, [&]() -> int {
    using List = std::vector<mlx::core::array>;
    if (!outputs.ctx) {
      return 0;
    }
    const List none;
    const auto& from = *static_cast<List*>(outputs.ctx);
    const auto& to = inputs.ctx ? *static_cast<List*>(inputs.ctx) : none;
    const size_t most = mlxts::graphs::levels();
    if (mlxts::graphs::depth(from, to, most) <= most) {
      return 0;
    }
    mlxts::fail(
        "the graph is more than " + std::to_string(most) +
        " operations deep, and MLX walks it by recursion, for which this thread's stack is too small: evaluate what was "
        "computed before with mx.eval, or take fewer steps in one function");
    return 1;
  });
}
