// Which arrays a failed evaluation has spoiled. MLX marks all arrays of the failed graph as evaluated, with whatever
// their storage happened to hold, and reports the failure once: so a reader needs another way to know them.
//
// An evaluation that is waited for is watched: its nodes are listed before it starts. One that runs on alone leaves
// an event on every array that it scheduled on a stream, and those events are remembered until an array that carries
// them was waited for, or none is left. Whatever is made of a spoiled array later holds it as an input.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fail.h"
#include "id_set.h"
#include "mlx/mlx.h"
#include "mlx/primitives.h"
#include "mlxts.h"
#include "shapes.h"
#include "tasks.h"

namespace mlxts::evaluations {

using mlx::core::array;
using mlx::core::Event;

// Nodes and events are private members. An explicit instantiation may name them, which is the one lawful way to it.
// Both are held weakly: a reference that counts would keep MLX from reusing an array's storage.
template <typename Desc, std::shared_ptr<Desc> array::* member>
struct Node {
  friend std::weak_ptr<void> weakNode(const array& a) {
    return a.*member;
  }
  friend const Event& eventOf(const std::shared_ptr<void>& node) {
    return static_cast<const Desc*>(node.get())->event;
  }
};
std::weak_ptr<void> weakNode(const array& a);
const Event& eventOf(const std::shared_ptr<void>& node);
template struct Node<array::ArrayDesc, &array::array_desc_>;

template <std::shared_ptr<void> Event::* member>
struct Signal {
  friend const std::shared_ptr<void>& signalOf(const Event& event) {
    return event.*member;
  }
};
const std::shared_ptr<void>& signalOf(const Event& event);
template struct Signal<&Event::event_>;

using Signals = std::vector<std::weak_ptr<void>>;

struct Evaluations {
  // The nodes of the evaluation that this thread is about to start, while they are still unscheduled.
  IdSet watched;
  // The same nodes, for an evaluation that will not be waited for.
  std::vector<std::weak_ptr<void>> starting;
  // The events of the watched outputs which had been scheduled before.
  Signals awaited;
  // The events of evaluations that run, or ran, without having been waited for.
  Signals running;
};

inline Evaluations& mine() {
  static thread_local Evaluations evaluations;
  return evaluations;
}

inline bool contains(const Signals& signals, const std::shared_ptr<void>& signal) {
  return std::any_of(signals.begin(), signals.end(), [&](const std::weak_ptr<void>& one) {
    return !one.owner_before(signal) && !signal.owner_before(one);
  });
}

inline void add(Signals& signals, const std::shared_ptr<void>& signal) {
  if (signal && !contains(signals, signal)) {
    signals.push_back(signal);
  }
}

// MLX makes arrays of its own between those that it gives out: a product that is summed at once, a gradient.
inline void requireCountable(const array& a) {
  if (!mlxts::countable(a.shape())) {
    throw std::invalid_argument(
        std::string("an array in between") + (a.has_primitive() ? std::string(" (") + a.primitive().name() + ")" : "") +
        " has more elements than MLX can count");
  }
}

inline void watch(const std::vector<array>& outputs, bool starts) {
  Evaluations& all = mine();
  // The graph stays as it is meanwhile, so that plain pointers into it do.
  std::vector<const array*> pending;
  all.watched.clear();
  all.starting.clear();
  all.awaited.clear();
  for (const auto& output : outputs) {
    add(all.awaited, signalOf(output.event()));
    pending.push_back(&output);
  }
  while (!pending.empty()) {
    const array& next = *pending.back();
    pending.pop_back();
    if (next.status() != array::Status::unscheduled || !all.watched.insert(next.id())) {
      continue;
    }
    requireCountable(next);
    if (starts) {
      all.starting.push_back(weakNode(next));
    }
    for (const auto& sibling : next.siblings()) {
      all.watched.insert(sibling.id());
      requireCountable(sibling);
      if (starts) {
        all.starting.push_back(weakNode(sibling));
      }
    }
    for (const auto& input : next.inputs()) {
      pending.push_back(&input);
    }
  }
}

inline int64_t countRunning() {
  Signals& running = mine().running;
  running.erase(
      std::remove_if(running.begin(), running.end(), [](const auto& signal) { return signal.expired(); }),
      running.end());
  return static_cast<int64_t>(running.size());
}

} // namespace mlxts::evaluations

using namespace mlxts::evaluations;

extern "C" int mlxts_watch(mlx_vector_array outputs, bool starts) {
  return mlxts::guarded<int>(1, [&] {
    if (!outputs.ctx) {
      watch({}, false);
    } else {
      watch(*static_cast<std::vector<array>*>(outputs.ctx), starts);
    }
    return 0;
  });
}

extern "C" int mlxts_watch_one(mlx_array output) {
  return mlxts::guarded<int>(1, [&] {
    if (!output.ctx) {
      watch({}, false);
    } else {
      watch({*static_cast<array*>(output.ctx)}, false);
    }
    return 0;
  });
}

extern "C" int64_t mlxts_started(void) {
  return mlxts::guarded<int64_t>(-1, [] {
    Evaluations& all = mine();
    for (const auto& weak : all.starting) {
      if (auto node = weak.lock()) {
        add(all.running, signalOf(eventOf(node)));
      }
    }
    all.starting.clear();
    return countRunning();
  });
}

extern "C" int64_t mlxts_settled(void) {
  return mlxts::guarded<int64_t>(-1, [] {
    Evaluations& all = mine();
    for (const auto& weak : all.awaited) {
      if (auto signal = weak.lock()) {
        auto settled = [&](const std::weak_ptr<void>& one) {
          return !one.owner_before(signal) && !signal.owner_before(one);
        };
        all.running.erase(std::remove_if(all.running.begin(), all.running.end(), settled), all.running.end());
      }
    }
    return countRunning();
  });
}

extern "C" int mlxts_array_is_spoiled(mlx_array a) {
  return mlxts::guarded<int>(-1, [&]() -> int {
    if (!a.ctx) {
      return -1;
    }
    const Evaluations& all = mine();
    mlxts::IdSet seen;
    std::vector<const array*> pending{static_cast<const array*>(a.ctx)};
    while (!pending.empty()) {
      const array& next = *pending.back();
      pending.pop_back();
      if (!seen.insert(next.id())) {
        continue;
      }
      const auto& signal = signalOf(next.event());
      if (all.watched.contains(next.id()) || (signal && contains(all.running, signal))) {
        return 1;
      }
      for (const auto& input : next.inputs()) {
        pending.push_back(&input);
      }
    }
    return 0;
  });
}

extern "C" void mlxts_forget_evaluations(void) {
  mine() = Evaluations{};
  try {
    mlxts::tasks::recount();
  } catch (const std::exception&) {
    // The error that this follows is the one to report.
    return;
  }
}
