#pragma once

#include <cstddef>
#include <cstdint>

// The arguments of a custom call in XLA's runtime: the parts of its C interface 0.3 that are used. Structs begin with
// their sizes, and new members come at the end.
namespace padlock::python::xla {

inline constexpr int kMajor = 0, kMinor = 3;

struct Extension {
  std::size_t struct_size;
  int type;  // 1: metadata
  Extension* next;
};

struct Version {
  std::size_t struct_size;
  Extension* extensions;
  int major, minor;
};

struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
  std::int64_t state_type;
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct ErrorArguments {
  std::size_t struct_size;
  Extension* extensions;
  const char* message;
  int code;  // the canonical ones
};

struct Error;

struct StreamArguments {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  void* stream;  ///< out: a CUstream
};

struct OrdinalArguments {
  std::size_t struct_size;
  Extension* extensions;
  void* context;
  std::int32_t ordinal;  ///< out
};

struct Api {
  std::size_t struct_size;
  Extension* extensions;
  Version version;
  const void* internal;
  Error* (*make_error)(ErrorArguments*);
  const void* message_of_error;
  void (*destroy_error)(void*);
  const void* handler;
  Error* (*stream)(StreamArguments*);
  const void *type, *execution_context, *set_state, *state, *allocate, *free, *schedule, *thread_count;
  const void *make_future, *future_available, *future_error, *run_id;
  Error* (*ordinal)(OrdinalArguments*);  ///< device of the call; missing in older runtimes
};
static_assert(offsetof(Api, make_error) == 48 && offsetof(Api, stream) == 80 && offsetof(Api, ordinal) == 184);

struct Buffer {
  std::size_t struct_size;
  Extension* extensions;
  int type;
  void* data;
  std::int64_t rank;
  std::int64_t* extents;
};

struct Bytes {
  const char* data;
  std::size_t size;
};

struct Array {
  int type;
  std::size_t size;
  void* data;
};

struct Buffers {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;
  void** list;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extensions;
  std::int64_t size;
  int* types;  // 1: an array, 4: a text
  Bytes** names;
  void** list;
};

struct Frame {
  std::size_t struct_size;
  Extension* extensions;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};
static_assert(sizeof(Frame) == 168 && offsetof(Frame, attributes) == 120);

}  // namespace padlock::python::xla
