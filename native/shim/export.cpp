// Exported functions with what mlx-c leaves out: named arrays while exporting several traces, and the text beside them.
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "fail.h"
#include "mlx/export.h"
#include "mlx/mlx.h"
#include "mlxts.h"

namespace {

using mlx::core::array;
using Function = std::function<std::vector<array>(
    const std::vector<array>&,
    const std::unordered_map<std::string, array>&)>;

} // namespace

extern "C" mlx_function_exporter
mlxts_exporter_new(const char* file, mlx_closure_kwargs fun, bool shapeless, const char* metadata) {
  return mlxts::guarded<mlx_function_exporter>({nullptr}, [&]() -> mlx_function_exporter {
    if (!fun.ctx) {
      throw std::runtime_error("expected a function");
    }
    return {new mlx::core::FunctionExporter(
        mlx::core::exporter(std::string(file), *static_cast<Function*>(fun.ctx), shapeless, std::string(metadata)))};
  });
}

extern "C" void mlxts_exporter_free(mlx_function_exporter exporter) {
  delete static_cast<mlx::core::FunctionExporter*>(exporter.ctx);
}

extern "C" const char* mlxts_imported_metadata(mlx_imported_function fun) {
  return mlxts::guarded<const char*>(nullptr, [&]() -> const char* {
    return fun.ctx ? static_cast<mlx::core::ImportedFunction*>(fun.ctx)->metadata().c_str() : nullptr;
  });
}
