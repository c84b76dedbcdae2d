// Bytes that C owns on behalf of JavaScript.
#include <cstdlib>

#include "mlxts.h"

extern "C" void* mlxts_allocate(size_t bytes) {
  return std::malloc(bytes ? bytes : 1);
}

extern "C" void mlxts_release(void* memory) {
  std::free(memory);
}

extern "C" void mlxts_release_buffer(void* memory, void*) {
  std::free(memory);
}
