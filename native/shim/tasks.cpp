// The tasks that a failed evaluation leaves in MLX's count. MLX lets an evaluation run about ten counted tasks ahead of
// a stream. When one fails, the stream drops what is queued behind it, and with that the notes that counted tasks are
// over. So the count stays up for good, and once more than ten are missing, an evaluation waits for the end of a task
// that does not exist: mlx::core::eval never returns.
#include "tasks.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "mlx/mlx.h"
#include "mlx/scheduler.h"

namespace mlxts::tasks {

using mlx::core::Device;

// What else runs is not waited for longer: the next failure finds the rest.
constexpr auto kPatience = std::chrono::milliseconds(500);
// Other streams begin and end tasks meanwhile, and cannot be waited for: to queue anything there would take their error,
// which is another caller's to see. The least count of several looks is taken for lost. Where such a stream was busy
// with long tasks all the while, the count comes out too low: MLX then runs a few tasks further ahead.
constexpr int kLooks = 20;
constexpr auto kPause = std::chrono::microseconds(100);

// Waits until what this thread has queued on its default streams is done or dropped; false when that takes too long.
static bool idle() {
  if (mlx::core::is_available(Device::gpu)) {
    mlx::core::synchronize(mlx::core::default_stream(Device::gpu));
  }
  auto end = std::make_shared<std::promise<void>>();
  auto ended = end->get_future();
  // The queue must be the only one to hold it: a task that is dropped breaks its promise, which is an end too.
  mlx::core::scheduler::enqueue(mlx::core::default_stream(Device::cpu), [end = std::move(end)] { end->set_value(); });
  return ended.wait_for(kPatience) == std::future_status::ready;
}

void recount() {
  if (mlx::core::scheduler::n_active_tasks() <= 0 || !idle()) {
    return;
  }
  int lost = mlx::core::scheduler::n_active_tasks();
  for (int i = 0; i < kLooks && lost > 0; i++) {
    std::this_thread::sleep_for(kPause);
    lost = std::min(lost, mlx::core::scheduler::n_active_tasks());
  }
  const auto stream = mlx::core::default_stream(Device::cpu);
  for (; lost > 0; lost--) {
    mlx::core::scheduler::notify_task_completion(stream);
  }
}

} // namespace mlxts::tasks
