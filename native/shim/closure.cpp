// Closures by number. A JavaScript function is known to C as (owner, id); MLX may destroy the closure on one of its
// own threads, where JavaScript must not run, so the id is queued and fetched by its owner's thread.
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mlxts.h"

namespace {

// A payload must stay exact as a JavaScript number: 20 bits of owner over 32 bits of id are below 2^53.
constexpr uint32_t kMaxOwner = (1u << 20) - 1;

struct Queues {
  std::mutex mutex;
  uint32_t next = 1;
  std::unordered_map<uint32_t, std::vector<uint32_t>> freed;
};

// Never destroyed: MLX's static objects may drop closures after ours would be gone.
Queues& queues() {
  static Queues* all = new Queues;
  return *all;
}

} // namespace

extern "C" uint32_t mlxts_owner_new(void) {
  Queues& all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  if (all.next > kMaxOwner) {
    return 0;
  }
  try {
    all.freed[all.next];
  } catch (...) {
    return 0;
  }
  return all.next++;
}

extern "C" void mlxts_owner_free(uint32_t owner) {
  Queues& all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.freed.erase(owner);
}

extern "C" void* mlxts_closure_payload(uint32_t owner, uint32_t id) {
  return reinterpret_cast<void*>((static_cast<uintptr_t>(owner) << 32) | id);
}

extern "C" void mlxts_closure_dtor(void* payload) {
  const auto number = reinterpret_cast<uintptr_t>(payload);
  Queues& all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.freed.find(static_cast<uint32_t>(number >> 32));
  if (found == all.freed.end()) {
    return;
  }
  try {
    found->second.push_back(static_cast<uint32_t>(number));
  } catch (...) {
    return; // no memory for four bytes: the JavaScript side keeps one function too long, nothing worse
  }
}

extern "C" size_t mlxts_closure_drain(uint32_t owner, uint32_t* ids, size_t capacity) {
  Queues& all = queues();
  std::lock_guard<std::mutex> lock(all.mutex);
  auto found = all.freed.find(owner);
  if (found == all.freed.end() || !ids) {
    return 0;
  }
  std::vector<uint32_t>& waiting = found->second;
  size_t count = 0;
  while (count < capacity && !waiting.empty()) {
    ids[count++] = waiting.back();
    waiting.pop_back();
  }
  return count;
}
