// What MLX writes as text: graphs, contraction orders, and how many digits arrays are printed with.
#include <sstream>
#include <string>
#include <vector>

#include "fail.h"
#include "mlx/einsum.h"
#include "mlx/graph_utils.h"
#include "mlx/mlx.h"
#include "mlxts.h"

namespace {

using mlx::core::array;

// Each thread's last text, which the caller copies at once.
const char* keep(std::string text) {
  static thread_local std::string last;
  last = std::move(text);
  return last.c_str();
}

std::vector<array>& arrays(mlx_vector_array handle) {
  if (!handle.ctx) {
    throw std::runtime_error("expected a list of arrays");
  }
  return *static_cast<std::vector<array>*>(handle.ctx);
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

} // namespace

extern "C" const char* mlxts_export_to_dot(mlx_node_namer namer, mlx_vector_array outputs) {
  return mlxts::guarded<const char*>(nullptr, [&] {
    if (!namer.ctx) {
      throw std::runtime_error("expected a namer");
    }
    std::ostringstream out;
    mlx::core::export_to_dot(out, *static_cast<mlx::core::NodeNamer*>(namer.ctx), arrays(outputs));
    return keep(out.str());
  });
}

extern "C" const char* mlxts_einsum_path(const char* subscripts, mlx_vector_array operands) {
  return mlxts::guarded<const char*>(nullptr, [&] {
    const auto [path, report] = mlx::core::einsum_path(subscripts, arrays(operands));
    std::string json = "{\"path\":[";
    for (size_t i = 0; i < path.size(); i++) {
      json += i == 0 ? "[" : ",[";
      for (size_t j = 0; j < path[i].size(); j++) {
        json += (j == 0 ? "" : ",") + std::to_string(path[i][j]);
      }
      json += "]";
    }
    return keep(json + "],\"report\":" + quoted(report) + "}");
  });
}

extern "C" int mlxts_print_precision(void) {
  return mlx::core::get_global_formatter().format_options.precision;
}

extern "C" void mlxts_set_print_precision(int precision) {
  mlx::core::PrintOptions options;
  options.precision = precision;
  mlx::core::set_printoptions(options);
}
