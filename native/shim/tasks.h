#pragma once

namespace mlxts::tasks {

// Sets MLX's count of active tasks right after a failed evaluation.
void recount();

} // namespace mlxts::tasks
