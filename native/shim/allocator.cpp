// An allocation that fails must be an error: MLX's CPU allocator gives a null buffer, and the operation that asked for
// it writes there. The library that is opened comes first in the search for the symbols of what it depends on, so
// libmlx finds this `allocator()` instead of its own. (A Mac binds symbols to the library they came from, and its
// Metal allocator reports a failure by itself.)
#ifndef __APPLE__
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "mlx/allocator.h"

namespace mlxts {

class CheckedAllocator : public mlx::core::allocator::Allocator {
 public:
  explicit CheckedAllocator(mlx::core::allocator::Allocator& real) : real_(real) {}

  mlx::core::allocator::Buffer malloc(size_t size) override {
    auto buffer = real_.malloc(size);
    if (!buffer.ptr() && size > 0) {
      throw std::runtime_error("[malloc] Unable to allocate " + std::to_string(size) + " bytes.");
    }
    return buffer;
  }

  void free(mlx::core::allocator::Buffer buffer) override {
    real_.free(buffer);
  }

  size_t size(mlx::core::allocator::Buffer buffer) const override {
    return real_.size(buffer);
  }

  mlx::core::allocator::Buffer make_buffer(void* memory, size_t size) override {
    return real_.make_buffer(memory, size);
  }

  void release(mlx::core::allocator::Buffer buffer) override {
    real_.release(buffer);
  }

 private:
  mlx::core::allocator::Allocator& real_;
};

} // namespace mlxts

namespace mlx::core::allocator {

Allocator& allocator() {
  // Never destroyed: MLX's static arrays are freed after ours would be gone.
  static Allocator& checked = *[] {
    using Real = Allocator& (*)();
    auto real = reinterpret_cast<Real>(dlsym(RTLD_NEXT, "_ZN3mlx4core9allocator9allocatorEv"));
    if (!real) {
      throw std::runtime_error("libmlx has no allocator to ask");
    }
    return new mlxts::CheckedAllocator(real());
  }();
  return checked;
}

} // namespace mlx::core::allocator
#endif
