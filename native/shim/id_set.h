// A set of array ids for walking graphs: one flat table, kept between walks. std::unordered_set allocates a node for
// each id, which is most of the time of a walk that comes before every evaluation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mlxts {

class IdSet {
 public:
  // False when the id was there already. Ids are addresses and never 0.
  bool insert(std::uintptr_t id) {
    if ((size_ + 1) * 2 > slots_.size()) {
      grow();
    }
    std::uintptr_t& slot = slots_[find(id)];
    if (slot == id) {
      return false;
    }
    slot = id;
    size_++;
    return true;
  }

  bool contains(std::uintptr_t id) const {
    return size_ > 0 && slots_[find(id)] == id;
  }

  void clear() {
    // A table that one large graph made is not kept for the small ones that follow.
    slots_.assign(size_ * 8 < slots_.size() ? slots_.size() / 2 : slots_.size(), 0);
    size_ = 0;
  }

 private:
  // The slot of the id, or the free one where it belongs.
  size_t find(std::uintptr_t id) const {
    const size_t mask = slots_.size() - 1;
    size_t at = (id * 0x9E3779B97F4A7C15ull) >> 32 & mask;
    while (slots_[at] != 0 && slots_[at] != id) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void grow() {
    std::vector<std::uintptr_t> old(slots_.empty() ? 64 : slots_.size() * 2, 0);
    old.swap(slots_);
    for (auto id : old) {
      if (id != 0) {
        slots_[find(id)] = id;
      }
    }
  }

  std::vector<std::uintptr_t> slots_;
  size_t size_ = 0;
};

} // namespace mlxts
