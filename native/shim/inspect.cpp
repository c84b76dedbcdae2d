// Storage and graph of an array, read without evaluating and without touching what is not there yet.
#include <string>

#include "fail.h"
#include "give.h"
#include "mlx/mlx.h"
#include "mlx/primitives.h"
#include "mlxts.h"
#include "there.h"

namespace {

using mlx::core::array;

// The node's reference count is in a private member that MLX shows only as `is_donatable`. An explicit instantiation
// may name private members, which is the one lawful way to it.
template <auto member>
struct Node {
  friend int64_t nodeUseCount(const array& a) {
    return static_cast<int64_t>((a.*member).use_count());
  }
};
int64_t nodeUseCount(const array& a);
template struct Node<&array::array_desc_>;

array* get(mlx_array handle) {
  return static_cast<array*>(handle.ctx);
}

// The array when its storage may be read, otherwise null.
array* available(mlx_array handle) {
  array* a = get(handle);
  if (!a || !mlxts::isThere(*a) || !a->data_shared_ptr()) {
    return nullptr;
  }
  return a;
}

template <typename Result, typename Read>
Result ofStorage(mlx_array handle, Result fallback, Read&& read) {
  return mlxts::guarded(fallback, [&]() -> Result {
    array* a = available(handle);
    return a ? read(*a) : fallback;
  });
}

template <typename Result, typename Read>
Result ofNode(mlx_array handle, Result fallback, Read&& read) {
  return mlxts::guarded(fallback, [&]() -> Result {
    array* a = get(handle);
    return a ? read(*a) : fallback;
  });
}

} // namespace

extern "C" uint64_t mlxts_array_id(mlx_array a) {
  return ofNode<uint64_t>(a, 0, [](array& x) { return static_cast<uint64_t>(x.id()); });
}

extern "C" int mlxts_array_status(mlx_array a) {
  return ofNode<int>(a, -1, [](array& x) { return static_cast<int>(x.status()); });
}

extern "C" void* mlxts_array_data(mlx_array a) {
  return ofStorage<void*>(a, nullptr, [](array& x) -> void* {
    return x.buffer().ptr() ? x.data<char>() : nullptr;
  });
}

extern "C" void* mlxts_array_buffer(mlx_array a) {
  return ofStorage<void*>(a, nullptr, [](array& x) -> void* {
    return x.buffer().ptr() ? x.buffer().raw_ptr() : nullptr;
  });
}

extern "C" void* mlxts_array_native_buffer(mlx_array a) {
  return ofStorage<void*>(a, nullptr, [](array& x) { return x.buffer().ptr(); });
}

extern "C" uint64_t mlxts_array_storage_id(mlx_array a) {
  return ofStorage<uint64_t>(a, 0, [](array& x) {
    return static_cast<uint64_t>(reinterpret_cast<uintptr_t>(x.data_shared_ptr().get()));
  });
}

extern "C" int64_t mlxts_array_buffer_size(mlx_array a) {
  return ofStorage<int64_t>(a, -1, [](array& x) -> int64_t {
    return x.buffer().ptr() ? static_cast<int64_t>(x.buffer_size()) : 0;
  });
}

extern "C" int64_t mlxts_array_offset(mlx_array a) {
  return ofStorage<int64_t>(a, -1, [](array& x) { return x.offset(); });
}

extern "C" int64_t mlxts_array_data_size(mlx_array a) {
  return ofStorage<int64_t>(a, -1, [](array& x) { return static_cast<int64_t>(x.data_size()); });
}

extern "C" int mlxts_array_flags(mlx_array a) {
  return ofStorage<int>(a, -1, [](array& x) {
    const auto& flags = x.flags();
    return (flags.contiguous ? 1 : 0) | (flags.row_contiguous ? 2 : 0) | (flags.col_contiguous ? 4 : 0);
  });
}

extern "C" int64_t mlxts_array_use_count(mlx_array a) {
  return ofNode<int64_t>(a, -1, [](array& x) { return nodeUseCount(x); });
}

extern "C" int64_t mlxts_array_storage_use_count(mlx_array a) {
  return ofStorage<int64_t>(a, -1, [](array& x) { return static_cast<int64_t>(x.data_shared_ptr().use_count()); });
}

extern "C" int mlxts_array_is_tracer(mlx_array a) {
  return ofNode<int>(a, -1, [](array& x) { return x.is_tracer() ? 1 : 0; });
}

extern "C" const char* mlxts_array_primitive(mlx_array a) {
  return ofNode<const char*>(a, nullptr, [](array& x) -> const char* {
    if (!x.has_primitive()) {
      return nullptr;
    }
    static thread_local std::string name;
    name = x.primitive().name();
    return name.c_str();
  });
}

extern "C" uint64_t mlxts_array_primitive_id(mlx_array a) {
  return ofNode<uint64_t>(a, 0, [](array& x) { return static_cast<uint64_t>(x.primitive_id()); });
}

extern "C" int64_t mlxts_array_num_inputs(mlx_array a) {
  return ofNode<int64_t>(a, -1, [](array& x) { return static_cast<int64_t>(x.inputs().size()); });
}

extern "C" int64_t mlxts_array_num_outputs(mlx_array a) {
  return ofNode<int64_t>(a, -1, [](array& x) { return static_cast<int64_t>(x.siblings().size()) + 1; });
}

namespace {

int outside(const char* what, int64_t index, size_t count) {
  mlxts::fail(
      std::string(what) + " " + std::to_string(index) + " of an array with " + std::to_string(count) + " of them");
  return 1;
}

} // namespace

extern "C" int mlxts_array_input(mlx_array* out, mlx_array a, int64_t index) {
  return mlxts::guarded(1, [&]() -> int {
    array* x = get(a);
    const size_t count = x ? x->inputs().size() : 0;
    if (!out || index < 0 || static_cast<size_t>(index) >= count) {
      return outside("input", index, count);
    }
    return mlxts::give(out, x->inputs()[index]);
  });
}

extern "C" int mlxts_array_output(mlx_array* out, mlx_array a, int64_t index) {
  return mlxts::guarded(1, [&]() -> int {
    array* x = get(a);
    const size_t count = x ? x->siblings().size() + 1 : 0;
    if (!out || index < 0 || static_cast<size_t>(index) >= count) {
      return outside("output", index, count);
    }
    return mlxts::give(out, x->outputs()[index]);
  });
}
