/*
 * The C API of Padlock: compile a program once, bind it to sizes, launch it on pointers.
 *
 * Conventions, which hold for every function unless it says otherwise:
 *
 * - Threads. Functions may be called from any threads at once, on the same objects too.
 * - Forks. A fork waits for running functions, launches excepted, for ten seconds at most. The child may use its
 *   parent's objects. If a function still runs then, calls in the child fail with PADLOCK_FAILED_PRECONDITION, launches
 *   excepted.
 * - Handles are counted. A `create`, `load`, `compile`, `bind`, ... hands out one reference, which `release` gives
 *   back; `retain` adds one. An object keeps alive what it needs: a call its kernel, a kernel its context. Both take
 *   NULL.
 * - Errors. A function that can fail returns a status. Unless it is PADLOCK_OK, and if `error` is not NULL, it also
 *   sets an error, which the caller releases. A failure changes nothing: output handles are NULL. Without memory for
 *   the error there is a fixed one that says so. On success `*error` is NULL.
 * - Option structs begin with their size: set it to sizeof, the rest to zero, and fill in what differs. A struct of
 *   an older header is read as far as it goes. A struct of a newer header is taken if its unknown members are zero;
 *   otherwise the call fails with PADLOCK_INVALID_ARGUMENT.
 * - Text is UTF-8 and ends with a zero byte. A returned text lives as long as the object it was asked of. In options
 *   NULL stands for the default text.
 * - Memory of handles comes from the context's allocator. LLVM and the C++ library use operator new, and LLVM ends
 *   the process if that fails while it compiles. So the memory left is checked before a compile begins.
 * - No C++ exception passes this interface, nothing is printed, no signal handler or atexit handler is installed, and
 *   no thread runs before the first launch or tuning that needs one. Callbacks must not throw.
 *
 * A C99 or C++ compiler takes this header alone.
 */
#ifndef PADLOCK_PADLOCK_H_
#define PADLOCK_PADLOCK_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PADLOCK_API __attribute__((visibility("default")))
#else
#define PADLOCK_API
#endif

/* The header does not compile unless `condition` is true; C99 has no static_assert. */
#define PADLOCK_STATIC_ASSERT(condition, name) typedef char padlock_static_assert_##name[(condition) ? 1 : -1]

#ifdef __cplusplus
extern "C" {
#endif

/* ---- DLPack ---------------------------------------------------------------------------------------------------- */

/* The part of DLPack 1.x's tensor that Padlock needs. If you have a dlpack.h, include it first: it is used instead. */
#ifndef DLPACK_DLPACK_H_
#ifdef __cplusplus
typedef enum : int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
#else
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 } DLDeviceType;
#endif
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;
#endif

PADLOCK_STATIC_ASSERT(sizeof(DLDevice) == 8, dl_device_size);
PADLOCK_STATIC_ASSERT(sizeof(DLDataType) == 4, dl_data_type_size);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, data) == 0, dl_tensor_data);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, device) == 8, dl_tensor_device);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, ndim) == 16, dl_tensor_ndim);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, dtype) == 20, dl_tensor_dtype);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, shape) == 24, dl_tensor_shape);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, strides) == 32, dl_tensor_strides);
PADLOCK_STATIC_ASSERT(offsetof(DLTensor, byte_offset) == 40, dl_tensor_byte_offset);
PADLOCK_STATIC_ASSERT(sizeof(DLTensor) == 48, dl_tensor_size);

/* ---- Version and status ---------------------------------------------------------------------------------------- */

/* 1000 * major + minor. A program that was compiled with an older header of the same major version works. */
#define PADLOCK_API_VERSION 1006
/* Returns 1000 * major + minor of the library that is loaded. */
PADLOCK_API int32_t padlock_api_version(void);
/* Returns the release: "0.2.0". */
PADLOCK_API const char* padlock_version(void);

/* The canonical status codes, with gRPC's numbers. */
typedef int32_t padlock_status;
enum {
  PADLOCK_OK = 0,
  PADLOCK_CANCELLED = 1,
  PADLOCK_UNKNOWN = 2,
  PADLOCK_INVALID_ARGUMENT = 3, /* the arguments make no sense, whatever the sizes */
  PADLOCK_DEADLINE_EXCEEDED = 4,
  PADLOCK_NOT_FOUND = 5,
  PADLOCK_ALREADY_EXISTS = 6,
  PADLOCK_PERMISSION_DENIED = 7,
  PADLOCK_RESOURCE_EXHAUSTED = 8,  /* memory, or a limit of what programs may be */
  PADLOCK_FAILED_PRECONDITION = 9, /* the sizes break what the program requires; or it is not the time for it */
  PADLOCK_ABORTED = 10,            /* a device is lost for good */
  PADLOCK_OUT_OF_RANGE = 11,
  PADLOCK_UNIMPLEMENTED = 12, /* this build was made without that part */
  PADLOCK_INTERNAL = 13,      /* a fault of this library */
  PADLOCK_UNAVAILABLE = 14,   /* a device or a file is not there */
  PADLOCK_DATA_LOSS = 15,
  PADLOCK_UNAUTHENTICATED = 16
};
/* Returns the code's name, as "INVALID_ARGUMENT"; "UNKNOWN" for a number that is no code. */
PADLOCK_API const char* padlock_status_name(padlock_status status);

typedef struct padlock_error padlock_error;
typedef struct padlock_text padlock_text;
typedef struct padlock_context padlock_context;
typedef struct padlock_program padlock_program;
typedef struct padlock_kernel padlock_kernel;
typedef struct padlock_call padlock_call;
typedef struct padlock_tuner padlock_tuner;
typedef struct padlock_cache padlock_cache;
typedef struct padlock_devices padlock_devices;
typedef struct padlock_pack padlock_pack;
typedef struct padlock_memory padlock_memory;

/* A name with a number: the value of a symbol. */
typedef struct padlock_named_value {
  const char* name;
  int64_t value;
} padlock_named_value;

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

PADLOCK_API void padlock_error_retain(padlock_error* error);
PADLOCK_API void padlock_error_release(padlock_error* error);
/* Never PADLOCK_OK; PADLOCK_UNKNOWN for NULL. */
PADLOCK_API padlock_status padlock_error_status(const padlock_error* error);
typedef int32_t padlock_blame;
enum {
  PADLOCK_BLAME_CALLER = 0,      /* what was asked for is wrong, or too large for any machine */
  PADLOCK_BLAME_ENVIRONMENT = 1, /* the machine: its memory, a file, a device or its driver */
  PADLOCK_BLAME_LIBRARY = 2      /* a fault of this library */
};
/* Returns who can mend it; PADLOCK_BLAME_LIBRARY for NULL. */
PADLOCK_API padlock_blame padlock_error_blame(const padlock_error* error);
/* Returns what was expected and what was found, on one line. */
PADLOCK_API const char* padlock_error_message(const padlock_error* error);
/* Returns several lines: the message with its position in the program's text, that line and a caret, and what was
   being done. The other errors of the same text follow. */
PADLOCK_API const char* padlock_error_text(const padlock_error* error);
/* Return the error's position in a program's text, from 1; 0 for an error without one. */
PADLOCK_API int32_t padlock_error_line(const padlock_error* error);
PADLOCK_API int32_t padlock_error_column(const padlock_error* error);
/* Returns the axis, from 0, of the tensor that the message names; -1 if it names none. */
PADLOCK_API int32_t padlock_error_axis(const padlock_error* error);
/* The constraint or extent that was not met, as the program's text has it; "" if there is none. */
PADLOCK_API const char* padlock_error_expression(const padlock_error* error);
/* Returns how many symbols that expression has. */
PADLOCK_API size_t padlock_error_value_count(const padlock_error* error);
/* Returns a symbol of the expression with its value; `{NULL, 0}` beyond the last. The name lives as long as the
   error. */
PADLOCK_API padlock_named_value padlock_error_value(const padlock_error* error, size_t index);
/* A program's text may have several errors; `error` is the first. Returns the number of further ones, at most 19;
   they have the order of the text. The text of the last says if there are more. Since 1006. */
PADLOCK_API size_t padlock_error_other_count(const padlock_error* error);
/* Returns such an error; NULL beyond the last. Borrowed: lives as long as `error`, or as its own references. Since
   1006. */
PADLOCK_API padlock_error* padlock_error_other(const padlock_error* error, size_t index);

/* ---- Texts ----------------------------------------------------------------------------------------------------- */

PADLOCK_API void padlock_text_retain(padlock_text* text);
PADLOCK_API void padlock_text_release(padlock_text* text);
PADLOCK_API const char* padlock_text_data(const padlock_text* text);
/* Returns the size in bytes, without the zero byte at the end. */
PADLOCK_API size_t padlock_text_size(const padlock_text* text);

/* ---- Element types ---------------------------------------------------------------------------------------------- */

/* Returns the language's name of a type, as "f32"; "" for a type that programs do not have. */
PADLOCK_API const char* padlock_type_name(DLDataType type);
/* Finds the type of a name. Error: INVALID_ARGUMENT. */
PADLOCK_API padlock_status padlock_type_find(const char* name, DLDataType* type, padlock_error** error);
/* Parses a literal of the language ("-1.5", "nan", "bits(0x7fc00001)") to the bits of a scalar. Error:
   INVALID_ARGUMENT. */
PADLOCK_API padlock_status padlock_scalar_parse(const char* literal, DLDataType type, uint64_t* bits,
                                                padlock_error** error);
/* Returns the shortest literal that has these bits. */
PADLOCK_API padlock_status padlock_scalar_print(DLDataType type, uint64_t bits, padlock_text** literal,
                                                padlock_error** error);

typedef int32_t padlock_order;
enum { PADLOCK_ROW_MAJOR = 0, PADLOCK_COLUMN_MAJOR = 1 };
/* Computes the strides of a dense tensor, in elements. Both arrays have `ndim` numbers. Error: INVALID_ARGUMENT for
   a negative extent, or for 2^62 elements or more. */
PADLOCK_API padlock_status padlock_dense_strides(const int64_t* extents, int32_t ndim, padlock_order order,
                                                 int64_t* strides, padlock_error** error);

/* ---- Contexts -------------------------------------------------------------------------------------------------- */

/* Allocates memory for handles. `allocate` returns NULL if it has none; `alignment` is a power of two, at most 64.
   `release` gets the bytes and alignment of the allocation. Both are called from any thread. */
typedef struct padlock_allocator {
  void* user;
  void* (*allocate)(void* user, size_t bytes, size_t alignment);
  void (*release)(void* user, void* memory, size_t bytes, size_t alignment);
} padlock_allocator;

typedef int32_t padlock_log_level;
enum { PADLOCK_LOG_DEBUG = 0, PADLOCK_LOG_INFO = 1, PADLOCK_LOG_WARNING = 2 };
/* Receives messages: which config was compiled and why, and which caches cannot be used. Called from any thread;
   must not call this library. The message lives until the function returns. */
typedef void (*padlock_log_function)(void* user, padlock_log_level level, const char* message);

/* Calls body(state, i) once for every i in [0, count), from any threads. Returns after all these calls have
   returned. */
typedef void (*padlock_loop_body)(void* state, int64_t index);
typedef void (*padlock_parallel_for_function)(void* user, int64_t count, padlock_loop_body body, void* state);

typedef int32_t padlock_cache_mode;
enum {
  PADLOCK_CACHE_OFF = 0,        /* nothing is looked up or kept */
  PADLOCK_CACHE_READ = 1,       /* the file is read; what is learnt lives as long as the context */
  PADLOCK_CACHE_READ_WRITE = 2, /* what is learnt goes to the file */
  PADLOCK_CACHE_REQUIRE = 3     /* as READ; a miss, or a file that cannot be used, is an error */
};

typedef int32_t padlock_cache_match;
enum {
  PADLOCK_MATCH_STRICT = 0, /* what was learnt on machines like this one */
  PADLOCK_MATCH_LOOSE = 1   /* any machine that runs the same code, if none is like this one: a guess. For packs,
  which are made on one machine for others */
};

typedef struct padlock_context_options {
  size_t struct_size;
  padlock_allocator allocator; /* both functions or neither: malloc and free */
  padlock_log_function log;
  void* log_user;
  padlock_parallel_for_function parallel_for; /* NULL: threads of the context's own */
  void* parallel_for_user;
  int32_t threads; /* that run a loop at a time, the caller's included; 0: as many CPUs as the process may use */
  padlock_cache_mode cache_mode;
  const char* cache_file; /* of tuning; NULL: the user's, ~/.cache/padlock/tuning.db */
  const char* worker;     /* the program padlock-worker, which tuning starts; NULL: it is looked for */
  void* cuda_context;     /* a CUcontext, borrowed, used for its device instead of the primary one; it outlives all */
  padlock_cache_match cache_match;
  int32_t reserved;
  const char* assembler; /* CUDA's program ptxas, a path or a name on PATH: packs then hold cubins beside PTX. NULL: PTX
                            alone. Since 1006 */
} padlock_context_options;

/* Creates a context, in which everything else is made. `options` may be NULL. Opens the cache's file if one is used;
   starts nothing else. Errors: INVALID_ARGUMENT; with PADLOCK_CACHE_REQUIRE the file's; with a cuda_context
   UNAVAILABLE without a driver. */
PADLOCK_API padlock_status padlock_context_create(const padlock_context_options* options, padlock_context** context,
                                                  padlock_error** error);
PADLOCK_API void padlock_context_retain(padlock_context* context);
PADLOCK_API void padlock_context_release(padlock_context* context);

typedef struct padlock_statistics {
  size_t struct_size;
  int64_t programs_compiled; /* compilations that ran */
  int64_t look_ups;          /* compilations that were answered with a kernel that was there */
  int64_t kernels_cached;    /* that the context holds now */
  int64_t configs_tried;     /* by tuners */
} padlock_statistics;
/* Fills in the members that struct_size covers. */
PADLOCK_API padlock_status padlock_context_statistics(const padlock_context* context, padlock_statistics* statistics,
                                                      padlock_error** error);
/* A context keeps each kernel compiled in it. Releases those that nobody else holds. Returns how many. */
PADLOCK_API int64_t padlock_context_trim(padlock_context* context);

/* ---- Devices --------------------------------------------------------------------------------------------------- */

typedef struct padlock_device_info {
  size_t struct_size;
  const char* name;        /* "host", "reference", "simt" or "cuda:0" */
  const char* description; /* what it is, or why it is not available */
  int32_t available;
  int32_t multiprocessors;  /* of a GPU, as what follows */
  const char* gpu_name;     /* "" where it is none */
  const char* architecture; /* "sm_90" */
  int64_t memory_bytes;
  int64_t l2_bytes;
  int64_t memory_bandwidth; /* peak, in bytes per second; 0 where the driver does not say */
  int32_t driver_version;   /* the CUDA version that it supports, 1000 * major + 10 * minor */
  int32_t reserved;
} padlock_device_info;

/* Lists every device, available or not: each GPU, or cuda:0 if there is none. */
PADLOCK_API padlock_status padlock_devices_list(padlock_context* context, padlock_devices** devices,
                                                padlock_error** error);
PADLOCK_API void padlock_devices_retain(padlock_devices* devices);
PADLOCK_API void padlock_devices_release(padlock_devices* devices);
PADLOCK_API size_t padlock_devices_count(const padlock_devices* devices);
/* Returns one of them. Error: OUT_OF_RANGE. */
PADLOCK_API padlock_status padlock_devices_get(const padlock_devices* devices, size_t index, padlock_device_info* info,
                                               padlock_error** error);

/* Checks whether programs can run on that device now; NULL: "host". Starts nothing there. Errors: INVALID_ARGUMENT
   for an unknown name; UNAVAILABLE, with the name of the file that was not found. */
PADLOCK_API padlock_status padlock_device_check(padlock_context* context, const char* device, padlock_error** error);
/* Describes a target: CPU and features of "host" or "host:NAME", or an architecture ("sm_90"). The text is that of
   padlock_kernel_target. Errors: INVALID_ARGUMENT for an unknown target; UNAVAILABLE. */
PADLOCK_API padlock_status padlock_target_describe(padlock_context* context, const char* target,
                                                   padlock_text** description, padlock_error** error);
/* Returns the path of the worker that tuning starts. Since 1006. Errors: UNAVAILABLE, with the paths that were
   tried; UNIMPLEMENTED. */
PADLOCK_API padlock_status padlock_worker_find(padlock_context* context, padlock_text** file, padlock_error** error);

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* Allocates memory for tensors, for callers without memory of a device or a CUDA library. `device` is "host" (NULL:
   that) or "cuda:0". Memory of the host is zeroed and begins at a page. `name` ("input x") is for the message of
   RESOURCE_EXHAUSTED. On the host a size beyond the memory left is refused; the system would grant it and kill the
   process later. Errors: RESOURCE_EXHAUSTED; INVALID_ARGUMENT; UNAVAILABLE; others of the device's driver. */
PADLOCK_API padlock_status padlock_memory_allocate(padlock_context* context, const char* device, int64_t bytes,
                                                   const char* name, padlock_memory** memory, padlock_error** error);
PADLOCK_API void padlock_memory_retain(padlock_memory* memory);
PADLOCK_API void padlock_memory_release(padlock_memory* memory);
/* Returns the address of the first byte, on the host or the GPU; NULL for memory of 0 bytes. */
PADLOCK_API void* padlock_memory_data(const padlock_memory* memory);
PADLOCK_API int64_t padlock_memory_bytes(const padlock_memory* memory);
/* Copies bytes from one memory to another, on the host or a GPU, and waits for the end. Errors: OUT_OF_RANGE;
   INVALID_ARGUMENT for memory of two GPUs; others of the device's driver. */
PADLOCK_API padlock_status padlock_memory_copy(padlock_memory* to, int64_t to_offset, const padlock_memory* from,
                                               int64_t from_offset, int64_t bytes, padlock_error** error);

/* ---- Programs -------------------------------------------------------------------------------------------------- */

/* Parses and verifies a program's text of `size` bytes. Errors: INVALID_ARGUMENT with line and column;
   RESOURCE_EXHAUSTED for a program that is too large. */
PADLOCK_API padlock_status padlock_program_parse(padlock_context* context, const char* text, size_t size,
                                                 padlock_program** program, padlock_error** error);
/* As padlock_program_parse, for a file. Errors also: NOT_FOUND, PERMISSION_DENIED and others of files. */
PADLOCK_API padlock_status padlock_program_load(padlock_context* context, const char* path, padlock_program** program,
                                                padlock_error** error);
PADLOCK_API void padlock_program_retain(padlock_program* program);
PADLOCK_API void padlock_program_release(padlock_program* program);
PADLOCK_API const char* padlock_program_name(const padlock_program* program);

typedef int32_t padlock_parameter_kind;
enum {
  PADLOCK_TENSOR = 0, /* an input, given as a DLTensor and a pointer */
  PADLOCK_SCALAR = 1, /* a value that is known when a call is bound, given by its bits */
  PADLOCK_DIM = 2     /* a size that no tensor fixes, given by its name */
};

typedef struct padlock_parameter_info {
  size_t struct_size;
  const char* name;
  padlock_parameter_kind kind;
  int32_t ndim;     /* 0 but of a tensor */
  DLDataType dtype; /* of a dim int64 */
} padlock_parameter_info;

/* Returns the number of parameters: tensors first, then scalars, then dims, each in the order of declaration. A
   binding has the same order. */
PADLOCK_API size_t padlock_program_parameter_count(const padlock_program* program);
PADLOCK_API size_t padlock_program_result_count(const padlock_program* program);
/* Returns one of them. Error: OUT_OF_RANGE. Names live as long as the program. */
PADLOCK_API padlock_status padlock_program_parameter(const padlock_program* program, size_t index,
                                                     padlock_parameter_info* info, padlock_error** error);
PADLOCK_API padlock_status padlock_program_result(const padlock_program* program, size_t index,
                                                  padlock_parameter_info* info, padlock_error** error);

typedef int32_t padlock_symbol_kind;
enum {
  PADLOCK_SYMBOL_EXTENT = 0, /* of a tensor */
  PADLOCK_SYMBOL_STRIDE = 1, /* of a tensor, in elements */
  PADLOCK_SYMBOL_DIM = 2     /* a parameter */
};

typedef struct padlock_symbol_info {
  size_t struct_size;
  const char* name;
  padlock_symbol_kind kind;
  int32_t reserved;
} padlock_symbol_info;

/* Returns the number of symbols, in the order of declaration. A binding gives each a value. */
PADLOCK_API size_t padlock_program_symbol_count(const padlock_program* program);
/* Returns one of them. Error: OUT_OF_RANGE. Names live as long as the program. */
PADLOCK_API padlock_status padlock_program_symbol(const padlock_program* program, size_t index,
                                                  padlock_symbol_info* info, padlock_error** error);

/* ---- ONNX ------------------------------------------------------------------------------------------------------ */

typedef struct padlock_onnx_options {
  size_t struct_size;
  const char* folder;         /* where files of external data lie; NULL: a model that has some is refused */
  const char* const* outputs; /* values of the model that the program computes; values of nodes that no program can
  express are its inputs. NULL: the whole model. Since 1006 */
  size_t output_count;
} padlock_onnx_options;

/* Makes the text of a program from an ONNX model of `size` bytes, for padlock_program_parse. `options` may be NULL.
   `interface` may be NULL; it is JSON ("schema": 1), by the model's names. It has the tensor, scalar or dims of each
   input and result, and the symbol of each named dimension. A model is not trusted. Since 1004. Errors:
   INVALID_ARGUMENT if the bytes are no model; NOT_FOUND for an output that nothing computes; RESOURCE_EXHAUSTED;
   errors of files for external data. UNIMPLEMENTED if no program can express the model: the message lists each such
   node with its operator and the reason, and the parts that are programs. */
PADLOCK_API padlock_status padlock_onnx_import(padlock_context* context, const void* bytes, size_t size,
                                               const padlock_onnx_options* options, padlock_text** text,
                                               padlock_text** interface, padlock_error** error);

/* ---- Compiling, the slow step ---------------------------------------------------------------------------------- */

typedef struct padlock_compile_options {
  size_t struct_size;
  const char* device;   /* NULL: "host" */
  const char* target;   /* what code is made for, "host:NAME" or "sm_90"; NULL: the device */
  const char* config;   /* "key=value,..."; NULL: what the cache has for the sizes that are bound, else the default */
  int32_t bounds_check; /* not 0: every access is tested when it happens; one that fails is PADLOCK_INTERNAL */
  int32_t reserved;
} padlock_compile_options;

/* Returns the kernel for all sizes that the program admits. A context has one kernel for the same text, device,
   target, config and bounds check: the first caller compiles it, others wait and look it up. `options` may be NULL.
   Errors: INVALID_ARGUMENT for an unknown device, target or config; UNAVAILABLE for a device that this machine lacks;
   RESOURCE_EXHAUSTED, also for a program that is too large; else the driver's. */
PADLOCK_API padlock_status padlock_program_compile(padlock_program* program, const padlock_compile_options* options,
                                                   padlock_kernel** kernel, padlock_error** error);
PADLOCK_API void padlock_kernel_retain(padlock_kernel* kernel);
PADLOCK_API void padlock_kernel_release(padlock_kernel* kernel);
/* Returns the CPU and its features, or the GPU's architecture; "" on the reference. */
PADLOCK_API const char* padlock_kernel_target(const padlock_kernel* kernel);
/* Returns the config for sizes without a choice in the cache; "" on the reference. */
PADLOCK_API const char* padlock_kernel_config(const padlock_kernel* kernel);

/* ---- Packs: kernels without the compiler ------------------------------------------------------------------------ */

/* Compiles programs of one context for each of the targets ("host", "host:NAME", "sm_90"), with the configs of the
   context's cache. A device runs the code of the first target that it can run. A GPU of exactly that architecture
   takes the cubin, if an assembler made one (padlock_context_options), and PTX if its driver refuses the cubin.
   Errors: INVALID_ARGUMENT without a program or a target, and for one that is given twice; UNAVAILABLE from the
   assembler; else as padlock_program_compile. */
PADLOCK_API padlock_status padlock_pack_make(padlock_program* const* programs, size_t program_count,
                                             const char* const* targets, size_t target_count, padlock_pack** pack,
                                             padlock_error** error);
/* Return the contents of the pack's file, for writing. They live as long as the pack. */
PADLOCK_API const void* padlock_pack_data(const padlock_pack* pack);
PADLOCK_API size_t padlock_pack_size(const padlock_pack* pack);
/* Loads a file that `padlock pack` or padlock_pack_make made: compiled programs for some targets.
   libpadlock_runtime, which has no compiler, loads it as libpadlock does. A pack is code: trust it as you trust the
   library. A checksum finds damage, not malice. Errors: DATA_LOSS for a damaged file or one that is no pack;
   FAILED_PRECONDITION for one of another version, launch contract or architecture; RESOURCE_EXHAUSTED for one that
   is too large; others of files. */
PADLOCK_API padlock_status padlock_pack_load(padlock_context* context, const char* path, padlock_pack** pack,
                                             padlock_error** error);
/* As padlock_pack_load, for `size` bytes, which are copied. */
PADLOCK_API padlock_status padlock_pack_read(padlock_context* context, const void* bytes, size_t size,
                                             padlock_pack** pack, padlock_error** error);
PADLOCK_API void padlock_pack_retain(padlock_pack* pack);
PADLOCK_API void padlock_pack_release(padlock_pack* pack);
PADLOCK_API size_t padlock_pack_program_count(const padlock_pack* pack);
/* Returns a program's name, which lives as long as the pack; "" beyond the last. */
PADLOCK_API const char* padlock_pack_program_name(const padlock_pack* pack, size_t index);
/* Returns a program of the pack, without its code: for its parameters, and for results' extents. `name` may be NULL
   if the pack has one program. Error: NOT_FOUND. */
PADLOCK_API padlock_status padlock_pack_program(padlock_pack* pack, const char* name, padlock_program** program,
                                                padlock_error** error);
/* Returns the kernel of a program for a device (NULL: "host"), from the first target in the pack that the device can
   run. The context keeps it, as padlock_program_compile's. Errors: NOT_FOUND for the name; UNAVAILABLE, with the
   reason, if no target's code runs there; INVALID_ARGUMENT for an unknown device; others of its driver. */
PADLOCK_API padlock_status padlock_pack_kernel(padlock_pack* pack, const char* name, const char* device,
                                               padlock_kernel** kernel, padlock_error** error);
/* Describes the pack's contents, as JSON ("schema": 1): programs, targets, configs and the sizes that they are for. */
PADLOCK_API padlock_status padlock_pack_describe(const padlock_pack* pack, padlock_text** json, padlock_error** error);

/* ---- Binding, in microseconds ---------------------------------------------------------------------------------- */

typedef struct padlock_bind_options {
  size_t struct_size;
  /* One for each tensor parameter: extents, strides (NULL: dense), element type and device; `data` and `byte_offset`
     are not read. NULL for an absent tensor, whose symbols `dims` then has. NULL instead of the array: all tensors
     are absent.
   */
  const DLTensor* const* inputs;
  size_t input_count;
  /* Values of the `dim` parameters, and of symbols that no tensor fixes. */
  const padlock_named_value* dims;
  size_t dim_count;
  /* One for each scalar parameter: its bits, in the low end of the word. */
  const uint64_t* scalars;
  size_t scalar_count;
  /* Not 0: the inputs have no layout yet, and may be on any device. Stride symbols take their values from the
     strides given; if the program declares other strides, padlock_call_input returns them. libpadlock_runtime
     returns UNIMPLEMENTED. */
  int32_t unplaced;
  int32_t reserved;
} padlock_bind_options;

/* Checks the sizes and evaluates everything but pointers: results' extents, variant, grid. On a GPU a kernel has
   code of several variants. The driver assembles a variant at the first binding that takes it: that takes tens of
   milliseconds, and is legal while a stream is captured. Errors: INVALID_ARGUMENT for a name, count, type, rank or
   device that the program does not have; FAILED_PRECONDITION, with axis, expression and values, for the first
   requirement that the sizes break; the driver's, with the variant's name. */
PADLOCK_API padlock_status padlock_kernel_bind(padlock_kernel* kernel, const padlock_bind_options* options,
                                               padlock_call** call, padlock_error** error);
/* Binds a program that is not compiled: the call has sizes and cannot be launched. The inputs may be on any device. */
PADLOCK_API padlock_status padlock_program_bind(padlock_program* program, const padlock_bind_options* options,
                                                padlock_call** call, padlock_error** error);
/* Returns the names of the symbols that such a binding would leave without a value, a line each. Error:
   INVALID_ARGUMENT. */
PADLOCK_API padlock_status padlock_program_missing(padlock_program* program, const padlock_bind_options* options,
                                                   padlock_text** names, padlock_error** error);
PADLOCK_API void padlock_call_retain(padlock_call* call);
PADLOCK_API void padlock_call_release(padlock_call* call);

typedef struct padlock_tensor_info {
  size_t struct_size;
  const char* name;
  DLDataType dtype;
  int32_t ndim;
  const int64_t* extents; /* ndim each; they live as long as the call */
  const int64_t* strides; /* in elements; a result's are dense and row-major */
  int64_t storage_bytes;  /* that a launch may touch from the pointer on */
} padlock_tensor_info;

PADLOCK_API size_t padlock_call_input_count(const padlock_call* call);
PADLOCK_API size_t padlock_call_result_count(const padlock_call* call);
/* Return a tensor of the call. Error: OUT_OF_RANGE. */
PADLOCK_API padlock_status padlock_call_input(const padlock_call* call, size_t index, padlock_tensor_info* info,
                                              padlock_error** error);
PADLOCK_API padlock_status padlock_call_result(const padlock_call* call, size_t index, padlock_tensor_info* info,
                                               padlock_error** error);
/* Return the config for these sizes, and why it was chosen. */
PADLOCK_API const char* padlock_call_config(const padlock_call* call);
PADLOCK_API const char* padlock_call_reason(const padlock_call* call);

/* ---- Launching, in nanoseconds --------------------------------------------------------------------------------- */

/* Computes all results. Takes a pointer to the first element of each input and each result; NULL for a tensor
   without storage. On a GPU they are addresses of its memory, and the work is queued on `stream`, a CUstream of the
   device's context (NULL: the default stream). That is legal while the stream is captured, and leaves the thread's
   current context as it was. Elsewhere `stream` is NULL, and the results are there when the function returns.

   Allocates nothing, takes no lock, waits for nothing but its own loop. Pointers may have any alignment on the host;
   on a GPU and on simt that of their element. Errors, before anything is written: INVALID_ARGUMENT for a count, a
   NULL or misaligned pointer, or a result that overlaps another tensor; FAILED_PRECONDITION for a call that has
   sizes alone, or code for another machine. Later errors: INTERNAL for a failed bounds check; ABORTED for a lost
   device. */
PADLOCK_API padlock_status padlock_call_launch(const padlock_call* call, const void* const* inputs, size_t input_count,
                                               void* const* results, size_t result_count, void* stream,
                                               padlock_error** error);
/* As padlock_call_launch, for tensors. They are compared with the binding: device, type, extents, and the strides of
   axes with more than one element. Errors also: INVALID_ARGUMENT, with the axis, for one that differs. */
PADLOCK_API padlock_status padlock_call_launch_tensors(const padlock_call* call, const DLTensor* const* inputs,
                                                       size_t input_count, const DLTensor* const* results,
                                                       size_t result_count, void* stream, padlock_error** error);
/* Waits for the work on a GPU's stream and returns its outcome; elsewhere returns at once. Errors: ABORTED for a
   lost device; INTERNAL for a bounds check of this kernel that failed since the last call; FAILED_PRECONDITION while
   the stream is captured. */
PADLOCK_API padlock_status padlock_call_synchronize(const padlock_call* call, void* stream, padlock_error** error);

/* Checks whether an element of a result may have the bits `actual` if the reference has `expected`. It may if they
   are equal. It may if both are NaNs whose bits the language leaves open, which takes the inputs, in the host's
   memory. It may if both are floats at most `ulp` values apart. Errors: INVALID_ARGUMENT; OUT_OF_RANGE. */
PADLOCK_API padlock_status padlock_call_matches(const padlock_call* call, size_t result, const int64_t* coordinates,
                                                uint64_t expected, uint64_t actual, uint64_t ulp,
                                                const void* const* inputs, size_t input_count, int32_t* matches,
                                                padlock_error** error);

/* ---- Explaining ------------------------------------------------------------------------------------------------ */

/* Compiles a program and describes the kernel as JSON ("schema": 1): extents, strides, storage and grid as
   expressions, the config and why it was chosen, and the checks of a binding. With `bind` (NULL: without) it adds
   numbers. Errors: as padlock_program_compile and padlock_kernel_bind. */
PADLOCK_API padlock_status padlock_program_explain(padlock_program* program, const padlock_compile_options* options,
                                                   const padlock_bind_options* bind, padlock_text** json,
                                                   padlock_error** error);

/* ---- Looking inside -------------------------------------------------------------------------------------------- */

/* Returns one stage of compiling, as text for people and for tests: "ir" (the verified program; NULL: that),
   "kernel" (how each element is computed), "schedule" (the loops), "llvm", and "asm" of a CPU or "ptx" of a GPU.
   Nothing is kept or loaded. The texts may change with any version. Since 1001. Errors: INVALID_ARGUMENT for an
   unknown stage, or one that the target does not have; else as padlock_program_compile. */
PADLOCK_API padlock_status padlock_program_emit(padlock_program* program, const padlock_compile_options* options,
                                                const char* stage, padlock_text** text, padlock_error** error);
/* Proves every access of the kernels that the options choose. If `all_configs` is not 0 and the options have no
   config, proves those of every config of the target. A violation is not an error here: `refuted` counts the
   obligations that have one, each shown with sizes at which it happens. `report` lists all obligations for people, a
   line each; `json` ("schema": 1) is for programs. Each of the three may be NULL. Since 1001. Errors: as
   padlock_program_compile. */
PADLOCK_API padlock_status padlock_program_prove(padlock_program* program, const padlock_compile_options* options,
                                                 int32_t all_configs, int64_t* refuted, padlock_text** report,
                                                 padlock_text** json, padlock_error** error);

/* ---- Tuning ---------------------------------------------------------------------------------------------------- */

typedef struct padlock_progress {
  size_t struct_size;
  int32_t region; /* of sizes, from 0 */
  int32_t region_count;
  int32_t tried; /* configs of this region */
  int32_t config_count;
  const char* best;         /* "" while none has survived */
  int64_t best_picoseconds; /* its median */
  double seconds_left;      /* about */
  int32_t racing;           /* not 0: all were tried, and the best are measured against each other */
  int32_t reserved;
  double seconds;       /* that this region took so far. Since 1006 */
  double least_seconds; /* before its first config: about, that the default alone takes; else 0. Since 1006 */
} padlock_progress;
/* Called on the thread that tunes, before the first config of a region and after each. Not 0: stop. */
typedef int32_t (*padlock_progress_function)(void* user, const padlock_progress* progress);
/* Called about ten times a second on that thread. Not 0: stop. */
typedef int32_t (*padlock_cancel_function)(void* user);

typedef struct padlock_tune_options {
  size_t struct_size;
  const char* device; /* NULL: "host" */
  const char* search; /* "fast", "full" or "random"; NULL: "fast" */
  /* Values by symbol: the least and greatest sizes to tune for, and the sizes to measure at. Symbols left out are
     drawn. */
  const padlock_named_value* min;
  size_t min_count;
  const padlock_named_value* opt;
  size_t opt_count;
  const padlock_named_value* max;
  size_t max_count;
  double budget_seconds; /* 0: 10 */
  uint64_t seed;         /* 0: 1 */
  int64_t memory_bytes;  /* of scratch memory; 0: half of what is free */
  int32_t resume;        /* not 0: what the cache knows is not measured again */
  int32_t reserved;
  padlock_progress_function progress;
  padlock_cancel_function cancel;
  void* user; /* of both */
  /* Tunes only the regions of sizes that belong to shard shard_index of shard_count. A hash of program, region and
     class of device assigns each region to one shard. 0 of 0: all regions. */
  int32_t shard_index;
  int32_t shard_count;
  /* The place of launches' tensors: "warm" (in the last cache), "cold" (in memory) or "both". Configs are measured
     with tensors there. NULL or "auto": the bytes of a region's tensors decide. Since 1006. */
  const char* regime;
} padlock_tune_options;

/* Creates a tuning of one program. `options` are copied and may be NULL. Error: INVALID_ARGUMENT. */
PADLOCK_API padlock_status padlock_tuner_create(padlock_program* program, const padlock_tune_options* options,
                                                padlock_tuner** tuner, padlock_error** error);
PADLOCK_API void padlock_tuner_retain(padlock_tuner* tuner);
PADLOCK_API void padlock_tuner_release(padlock_tuner* tuner);
/* Measures configs on scratch memory, in a process of their own, and keeps the results in the context's cache.
   Programs compiled afterwards use them. One run at a time. Errors: CANCELLED, after which measurements are kept;
   INVALID_ARGUMENT; NOT_FOUND if the program admits no such sizes; FAILED_PRECONDITION without a cache, for a cache
   that the context is to write and cannot, or while another run is on; DATA_LOSS if the file cannot be written
   later; UNAVAILABLE without a worker. */
PADLOCK_API padlock_status padlock_tuner_run(padlock_tuner* tuner, padlock_error** error);
/* Describes what a run would try, as JSON ("schema": 1): regions of sizes with their configs, in order. Measures
   nothing, and needs no cache. Errors: INVALID_ARGUMENT and NOT_FOUND, as a run. */
PADLOCK_API padlock_status padlock_tuner_plan(const padlock_tuner* tuner, padlock_text** json, padlock_error** error);
/* Ends the run at hand and every later one. Called from any thread. */
PADLOCK_API void padlock_tuner_cancel(padlock_tuner* tuner);
/* Describes what the last run found, as JSON ("schema": 1). Error: FAILED_PRECONDITION before the first. */
PADLOCK_API padlock_status padlock_tuner_report(const padlock_tuner* tuner, padlock_text** json, padlock_error** error);
/* The main of a program like padlock-worker, for an installation of your own. Answers a tuner's requests from stdin
   on stdout until the tuner hangs up. Since 1003. Returns the process's exit status. */
PADLOCK_API int32_t padlock_worker_main(void);

/* ---- Caches of tuning ------------------------------------------------------------------------------------------ */

/* Opens a file of records, or of lines of text as `padlock_cache_export` makes them; each operation opens it anew.
   The file need not exist yet. NULL: the user's cache, which is empty if its file does not exist. */
PADLOCK_API padlock_status padlock_cache_open(padlock_context* context, const char* path, padlock_cache** cache,
                                              padlock_error** error);
PADLOCK_API void padlock_cache_retain(padlock_cache* cache);
PADLOCK_API void padlock_cache_release(padlock_cache* cache);
PADLOCK_API const char* padlock_cache_path(const padlock_cache* cache);
/* Returns all records as sorted lines of JSON, and in `problems`, unless it is NULL, a line for each bad record left
   out. Errors: the file's. */
PADLOCK_API padlock_status padlock_cache_export(const padlock_cache* cache, padlock_text** lines,
                                                padlock_text** problems, padlock_error** error);
/* Describes all records as one JSON object ("schema": 1), by program and key: the key's fields with what each means
   for a match, the chosen configs, and the measurements. */
PADLOCK_API padlock_status padlock_cache_describe(const padlock_cache* cache, padlock_text** json,
                                                  padlock_error** error);
/* Compares two caches. Returns, as lines, the records of the first alone, those of the second alone, and the
   second's version of those that differ. */
PADLOCK_API padlock_status padlock_cache_compare(const padlock_cache* cache, const padlock_cache* other,
                                                 padlock_text** only_here, padlock_text** only_there,
                                                 padlock_text** changed, padlock_error** error);
/* Checks every page and record. Returns the number of good ones, and a line for each problem. */
PADLOCK_API padlock_status padlock_cache_verify(const padlock_cache* cache, int64_t* records, padlock_text** problems,
                                                padlock_error** error);
/* Adds the records of `other`. Of two records with the same key the later stays. Returns how many are new or
   replaced. */
PADLOCK_API padlock_status padlock_cache_merge(padlock_cache* cache, const padlock_cache* other, int64_t* written,
                                               padlock_error** error);
/* Exchanges records with other caches at `url`: adds theirs to this one, then leaves all of its own there. Of two
   records with the same key the later stays, everywhere. `url` is "file:///FOLDER" or "redis://HOST[:PORT]". For a
   server all calls together take at most 5 seconds and all answers at most 64 MiB. Whatever could not be reached,
   read or written is in `problems`, a line each, and is no error: the cache stays as good as it was. `written`: as
   of padlock_cache_merge. Since 1002. Errors: INVALID_ARGUMENT for another URL; UNIMPLEMENTED for rediss://; others
   of the cache's file. */
PADLOCK_API padlock_status padlock_cache_sync(padlock_cache* cache, const char* url, int64_t* written,
                                              padlock_text** problems, padlock_error** error);
/* Returns the records, as lines, that padlock_cache_prune would remove. */
PADLOCK_API padlock_status padlock_cache_stale(const padlock_cache* cache, const char* before, padlock_text** lines,
                                               padlock_error** error);
/* Removes records of other builds and, with `before` ("2026-01-31"), older ones. Returns how many. */
PADLOCK_API padlock_status padlock_cache_prune(padlock_cache* cache, const char* before, int64_t* removed,
                                               padlock_error** error);
/* Prunes as padlock_cache_prune, in one pass over the file. Returns the number of good records, a line for each
   record removed, and a line for each bad one that stays. With `dry_run` it removes nothing, and `removed` lists what
   would go. Each output may be NULL. Since 1005. */
PADLOCK_API padlock_status padlock_cache_prune_listed(padlock_cache* cache, const char* before, int32_t dry_run,
                                                      int64_t* records, padlock_text** removed, padlock_text** problems,
                                                      padlock_error** error);
/* Returns a title for each of these records, lines of an export, a line each: "choice for S >= 8 under key
   3ac588be9841". Since 1005. Error: INVALID_ARGUMENT for a line that is no record. */
PADLOCK_API padlock_status padlock_cache_titles(const padlock_text* lines, padlock_text** titles,
                                                padlock_error** error);

#ifdef __cplusplus
}
#endif

#endif
