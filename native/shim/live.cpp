// Part of libmlxc (not of the shim): the counters that the build copy of mlx-c writes, and their sums.
#include "live.h"

#include <mutex>

namespace mlxts {

#if defined(__linux__)
__attribute__((tls_model("initial-exec"))) thread_local LiveCounters* live_counters = nullptr;
#else
thread_local LiveCounters* live_counters = nullptr;
#endif

namespace {

std::mutex list_mutex;
LiveCounters* list = nullptr;

} // namespace

LiveCounters* new_live_counters() {
  auto* mine = new LiveCounters;
  std::lock_guard<std::mutex> lock(list_mutex);
  mine->next = list;
  list = mine;
  live_counters = mine;
  return mine;
}

} // namespace mlxts

extern "C" void mlxts_count_live(int64_t* arrays, int64_t* others) {
  std::lock_guard<std::mutex> lock(mlxts::list_mutex);
  *arrays = 0;
  *others = 0;
  for (const mlxts::LiveCounters* one = mlxts::list; one; one = one->next) {
    *arrays += one->arrays.load(std::memory_order_relaxed);
    *others += one->others.load(std::memory_order_relaxed);
  }
}
