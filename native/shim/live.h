// Force-included into the build copy of mlx-c: the build rewrites its `new X(...)` of handles to
// `new (mlxts_live_handle) X(...)` and its deletes to `mlxts_gone_handle(), delete ...`, so that tests can ask how
// many handles are alive. A thread writes only its own counters, without a locked instruction: about a nanosecond.
#pragma once

#include <atomic>
#include <cstdint>
#include <new>

namespace mlxts {

struct LiveCounters {
  std::atomic<int64_t> arrays{0};
  std::atomic<int64_t> others{0};
  LiveCounters* next = nullptr;
};

// Makes and registers this thread's counters. They outlive the thread: a handle may be freed by another.
LiveCounters* new_live_counters();

#if defined(__linux__)
extern __attribute__((tls_model("initial-exec"))) thread_local LiveCounters* live_counters;
#else
extern thread_local LiveCounters* live_counters;
#endif

inline LiveCounters& live() {
  LiveCounters* mine = live_counters;
  return mine ? *mine : *new_live_counters();
}

inline void add(std::atomic<int64_t>& counter, int64_t by) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

struct LiveArray {};
struct LiveHandle {};

} // namespace mlxts

inline constexpr mlxts::LiveArray mlxts_live_array{};
inline constexpr mlxts::LiveHandle mlxts_live_handle{};

inline void mlxts_gone_array() {
  mlxts::add(mlxts::live().arrays, -1);
}

inline void mlxts_gone_handle() {
  mlxts::add(mlxts::live().others, -1);
}

inline void* operator new(std::size_t size, mlxts::LiveArray) {
  void* memory = ::operator new(size);
  mlxts::add(mlxts::live().arrays, 1);
  return memory;
}

inline void* operator new(std::size_t size, mlxts::LiveHandle) {
  void* memory = ::operator new(size);
  mlxts::add(mlxts::live().others, 1);
  return memory;
}

// Called when the constructor throws.
inline void operator delete(void* memory, mlxts::LiveArray) {
  mlxts_gone_array();
  ::operator delete(memory);
}

inline void operator delete(void* memory, mlxts::LiveHandle) {
  mlxts_gone_handle();
  ::operator delete(memory);
}
