// How every function of the shim reports: no C++ exception may cross into JavaScript.
#pragma once

#include <exception>
#include <string>

#include "mlx/c/error.h"

namespace mlxts {

inline void fail(const std::string& message) {
  mlx_error("%s", message.c_str());
}

// Runs `body`; an exception becomes a message of the error handler and `fallback` the result.
template <typename Result, typename Body>
Result guarded(Result fallback, Body&& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("unknown C++ exception");
  }
  return fallback;
}

} // namespace mlxts
