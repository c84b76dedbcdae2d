// Storage lent to others: to a JavaScript buffer, and to whoever speaks DLPack. Both let go on a thread of their own
// choice, so what they hold shares nothing with the array's node but the storage, whose count is atomic.
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <vector>

#if defined(__APPLE__)
#include <dlfcn.h>
#endif

#include "fail.h"
#include "give.h"
#include "mlx/mlx.h"
#include "mlxts.h"
#include "there.h"

namespace {

using mlx::core::array;
using mlx::core::Dtype;

const array& withStorage(mlx_array handle) {
  auto* a = static_cast<array*>(handle.ctx);
  if (!a || !mlxts::isThere(*a) || !a->data_shared_ptr() || !a->buffer().ptr()) {
    throw std::runtime_error("the array has no storage");
  }
  return *a;
}

mlx_array hold(const array& a) {
  array alone(a.shape(), a.dtype(), nullptr, {});
  alone.copy_shared_buffer(a);
  alone.set_status(array::Status::available);
  mlx_array held{nullptr};
  if (mlxts::give(&held, alone) != 0) {
    throw std::runtime_error("the array cannot be held");
  }
  return held;
}

// DLPack 1.0's structures, as its specification lays them out.
struct DLVersion {
  uint32_t major;
  uint32_t minor;
};
struct DLDevice {
  int32_t type;
  int32_t id;
};
struct DLType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byteOffset;
};
struct DLManagedTensorVersioned {
  DLVersion version;
  void* context;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor tensor;
};
static_assert(offsetof(DLTensor, dtype) == 20 && offsetof(DLTensor, shape) == 24 && sizeof(DLTensor) == 48);
static_assert(offsetof(DLManagedTensorVersioned, tensor) == 32 && sizeof(DLManagedTensorVersioned) == 80);

constexpr int32_t onHost = 1;
constexpr uint64_t readOnly = 1;

DLType typeOf(Dtype dtype) {
  const auto code = [&]() -> uint8_t {
    switch (dtype.val()) {
      case Dtype::Val::bool_:
        return 6;
      case Dtype::Val::uint8:
      case Dtype::Val::uint16:
      case Dtype::Val::uint32:
      case Dtype::Val::uint64:
        return 1;
      case Dtype::Val::int8:
      case Dtype::Val::int16:
      case Dtype::Val::int32:
      case Dtype::Val::int64:
        return 0;
      case Dtype::Val::float16:
      case Dtype::Val::float32:
      case Dtype::Val::float64:
        return 2;
      case Dtype::Val::bfloat16:
        return 4;
      case Dtype::Val::complex64:
        return 5;
    }
    throw std::runtime_error("DLPack has no such dtype");
  };
  return {code(), static_cast<uint8_t>(8 * dtype.size()), 1};
}

struct Lent {
  DLManagedTensorVersioned managed;
  mlx_array held;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

void drop(DLManagedTensorVersioned* self) {
  auto* lent = static_cast<Lent*>(self->context);
  mlx_array_free(lent->held);
  delete lent;
}

} // namespace

extern "C" mlx_array mlxts_storage_hold(mlx_array a) {
  return mlxts::guarded(mlx_array{nullptr}, [&] { return hold(withStorage(a)); });
}

extern "C" void mlxts_storage_drop(void*, void* held) {
  mlx_array_free(mlx_array{held});
}

extern "C" void* mlxts_metal_device(void* buffer) {
#if defined(__APPLE__)
  // [buffer device], through the runtime that is loaded wherever there is a Metal buffer.
  using Selector = void* (*)(const char*);
  using Send = void* (*)(void*, void*);
  static const auto select = reinterpret_cast<Selector>(dlsym(RTLD_DEFAULT, "sel_registerName"));
  static const auto send = reinterpret_cast<Send>(dlsym(RTLD_DEFAULT, "objc_msgSend"));
  if (buffer && select && send) {
    return send(buffer, select("device"));
  }
#endif
  return nullptr;
}

extern "C" void* mlxts_dlpack_new(mlx_array handle) {
  return mlxts::guarded<void*>(nullptr, [&]() -> void* {
    const array& a = withStorage(handle);
    auto lent = std::make_unique<Lent>();
    lent->shape.assign(a.shape().begin(), a.shape().end());
    lent->strides.assign(a.strides().begin(), a.strides().end());
    DLManagedTensorVersioned& managed = lent->managed;
    managed.version = {1, 0};
    managed.context = lent.get();
    managed.deleter = drop;
    managed.flags = readOnly;
    // The address of the first element, as most consumers overlook an offset.
    managed.tensor = {
        const_cast<char*>(a.data<char>()),
        {onHost, 0},
        static_cast<int32_t>(a.ndim()),
        typeOf(a.dtype()),
        lent->shape.data(),
        lent->strides.data(),
        0};
    lent->held = hold(a);
    return &lent.release()->managed;
  });
}

extern "C" void mlxts_dlpack_free(void* tensor) {
  if (tensor) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(tensor);
    managed->deleter(managed);
  }
}
