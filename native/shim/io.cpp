// Files in memory: mlx-c's reader and writer vtables, implemented natively since MLX calls them from its own threads.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "fail.h"
#include "mlxts.h"

namespace {

// Bytes, a cursor and a name. Reads at an offset leave the cursor alone, so several threads may do them at once.
struct MemoryFile {
  std::vector<char> bytes;
  size_t cursor = 0;
  std::string label;
};

MemoryFile& of(void* desc) {
  return *static_cast<MemoryFile*>(desc);
}

bool always(void*) {
  return true;
}

size_t tell(void* desc) {
  return of(desc).cursor;
}

int seek(void* desc, int64_t offset, int whence) {
  MemoryFile& file = of(desc);
  const int64_t base = whence == SEEK_SET ? 0
      : whence == SEEK_CUR               ? static_cast<int64_t>(file.cursor)
                                         : static_cast<int64_t>(file.bytes.size());
  int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target) || target < 0) {
    return -1;
  }
  file.cursor = static_cast<size_t>(target);
  return 0;
}

size_t readAt(void* desc, char* data, size_t n, size_t offset) {
  const MemoryFile& file = of(desc);
  if (offset >= file.bytes.size()) {
    return 0;
  }
  const size_t count = std::min(n, file.bytes.size() - offset);
  std::memcpy(data, file.bytes.data() + offset, count);
  return count;
}

size_t readNext(void* desc, char* data, size_t n) {
  const size_t count = readAt(desc, data, n, of(desc).cursor);
  of(desc).cursor += count;
  return count;
}

size_t writeNext(void* desc, const char* data, size_t n) {
  MemoryFile& file = of(desc);
  try {
    if (n > file.bytes.max_size() - file.cursor) {
      return 0;
    }
    if (file.cursor + n > file.bytes.size()) {
      file.bytes.resize(file.cursor + n);
    }
  } catch (const std::exception&) {
    return 0; // mlx-c reports the short write
  }
  std::memcpy(file.bytes.data() + file.cursor, data, n);
  file.cursor += n;
  return n;
}

size_t readNothing(void*, char*, size_t) {
  return 0;
}

size_t readNothingAt(void*, char*, size_t, size_t) {
  return 0;
}

size_t writeNothing(void*, const char*, size_t) {
  return 0;
}

const char* label(void* desc) {
  return of(desc).label.c_str();
}

void destroyReader(void* desc) {
  delete static_cast<MemoryFile*>(desc);
}

// The writers that are alive, so that one of somebody else's is recognised rather than misread.
struct Writers {
  std::mutex mutex;
  std::unordered_set<void*> alive;
};

Writers& writers() {
  static Writers* all = new Writers;
  return *all;
}

void destroyWriter(void* desc) {
  {
    std::lock_guard<std::mutex> lock(writers().mutex);
    writers().alive.erase(desc);
  }
  delete static_cast<MemoryFile*>(desc);
}

MemoryFile* ours(mlx_io_writer writer) {
  void* desc = nullptr;
  if (!writer.ctx || mlx_io_writer_descriptor(&desc, writer) != 0) {
    return nullptr;
  }
  std::lock_guard<std::mutex> lock(writers().mutex);
  return writers().alive.count(desc) ? static_cast<MemoryFile*>(desc) : nullptr;
}

} // namespace

extern "C" mlx_io_reader mlxts_reader_from_memory(const void* bytes, size_t size, const char* name) {
  return mlxts::guarded(mlx_io_reader{nullptr}, [&] {
    auto file = std::make_unique<MemoryFile>();
    if (size != 0 && !bytes) {
      throw std::invalid_argument("reader_from_memory: no bytes at all");
    }
    const char* first = static_cast<const char*>(bytes);
    file->bytes.assign(first, first + size);
    file->label = name ? name : "memory";
    const mlx_io_vtable table = {always, always, tell, seek, readNext, readAt, writeNothing, label, destroyReader};
    mlx_io_reader reader = mlx_io_reader_new(file.get(), table);
    if (reader.ctx) {
      file.release();
    }
    return reader;
  });
}

extern "C" mlx_io_writer mlxts_writer_to_memory(const char* name) {
  return mlxts::guarded(mlx_io_writer{nullptr}, [&] {
    auto file = std::make_unique<MemoryFile>();
    file->label = name ? name : "memory";
    const mlx_io_vtable table = {
        always, always, tell, seek, readNothing, readNothingAt, writeNext, label, destroyWriter};
    {
      std::lock_guard<std::mutex> lock(writers().mutex);
      writers().alive.insert(file.get());
    }
    mlx_io_writer writer = mlx_io_writer_new(file.get(), table);
    if (writer.ctx) {
      file.release();
    } else {
      destroyWriter(file.release());
    }
    return writer;
  });
}

extern "C" const void* mlxts_writer_data(mlx_io_writer writer) {
  return mlxts::guarded<const void*>(nullptr, [&]() -> const void* {
    MemoryFile* file = ours(writer);
    return file ? file->bytes.data() : nullptr;
  });
}

extern "C" size_t mlxts_writer_size(mlx_io_writer writer) {
  return mlxts::guarded<size_t>(0, [&]() -> size_t {
    MemoryFile* file = ours(writer);
    return file ? file->bytes.size() : 0;
  });
}
