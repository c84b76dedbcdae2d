// Which arrays a failed evaluation has spoiled. MLX marks all arrays of the failed graph as evaluated, with whatever
// their storage happened to hold, so a reader needs another way to know them. An evaluation that is waited for is
// watched: its nodes are listed before it starts. One that runs on alone leaves an event on all arrays that it
// scheduled on a stream. Whatever is made of such an array later holds it as an input.
#include <stdexcept>
#include <unordered_set>
#include <vector>

#include "fail.h"
#include "mlx/mlx.h"
#include "mlxts.h"

namespace {

using mlx::core::array;

uint64_t eventOf(const array& a) {
  const auto& event = a.event();
  return event.valid() ? reinterpret_cast<uint64_t>(&event.cast<char>()) : 0;
}

// The nodes of the evaluation that this thread is about to wait for, while they are still unscheduled.
thread_local std::unordered_set<std::uintptr_t> watched;

void watch(std::vector<array> pending) {
  watched.clear();
  while (!pending.empty()) {
    array next = std::move(pending.back());
    pending.pop_back();
    if (next.status() != array::Status::unscheduled || !watched.insert(next.id()).second) {
      continue;
    }
    for (const auto& sibling : next.siblings()) {
      watched.insert(sibling.id());
    }
    for (const auto& input : next.inputs()) {
      pending.push_back(input);
    }
  }
}

} // namespace

extern "C" int mlxts_watch(mlx_vector_array outputs) {
  return mlxts::guarded<int>(1, [&] {
    if (!outputs.ctx) {
      throw std::invalid_argument("watch: an empty vector handle");
    }
    watch(*static_cast<std::vector<array>*>(outputs.ctx));
    return 0;
  });
}

extern "C" int mlxts_watch_one(mlx_array output) {
  return mlxts::guarded<int>(1, [&] {
    if (!output.ctx) {
      throw std::invalid_argument("watch: an empty array handle");
    }
    watch({*static_cast<array*>(output.ctx)});
    return 0;
  });
}

extern "C" uint64_t mlxts_array_event(mlx_array a) {
  return mlxts::guarded<uint64_t>(0, [&]() -> uint64_t {
    return a.ctx ? eventOf(*static_cast<array*>(a.ctx)) : 0;
  });
}

extern "C" int mlxts_array_depends_on(mlx_array a, const uint64_t* events, size_t count) {
  return mlxts::guarded<int>(-1, [&]() -> int {
    if (!a.ctx) {
      return -1;
    }
    std::unordered_set<uint64_t> spoiled(events, events + count);
    std::unordered_set<std::uintptr_t> seen;
    std::vector<array> pending{*static_cast<array*>(a.ctx)};
    while (!pending.empty()) {
      array next = std::move(pending.back());
      pending.pop_back();
      if (!seen.insert(next.id()).second) {
        continue;
      }
      if (watched.count(next.id()) > 0 || spoiled.count(eventOf(next)) > 0) {
        return 1;
      }
      for (const auto& input : next.inputs()) {
        pending.push_back(input);
      }
    }
    return 0;
  });
}
