/* A caller's CUDA context and stream: the work is queued there, and nothing waits that was not asked to.
 *
 * The driver is loaded by name, so that this is built without CUDA's headers; a program that has them includes cuda.h
 * and calls the same functions. PADLOCK_CUDA_DRIVER names another file than libcuda.so.1, for the library and here. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "padlock/padlock.h"

/* A pointer to the error: what else would be read may be read before the call that sets it. */
static void check(padlock_status status, padlock_error** error) {
  if (status == PADLOCK_OK) return;
  fprintf(stderr, "%s: %s\n", padlock_status_name(status), padlock_error_text(*error));
  padlock_error_release(*error);
  exit(1);
}

typedef unsigned long long address;

#define DRIVER_FUNCTIONS(X)                                                           \
  X(cuInit, (unsigned flags))                                                         \
  X(cuDevicePrimaryCtxRetain, (void** context, int device))                           \
  X(cuDevicePrimaryCtxRelease_v2, (int device))                                       \
  X(cuCtxPushCurrent_v2, (void* context))                                             \
  X(cuCtxPopCurrent_v2, (void** context))                                             \
  X(cuStreamCreate, (void** stream, unsigned flags))                                  \
  X(cuStreamDestroy_v2, (void* stream))                                               \
  X(cuStreamSynchronize, (void* stream))                                              \
  X(cuMemAlloc_v2, (address * memory, size_t bytes))                                  \
  X(cuMemFree_v2, (address memory))                                                   \
  X(cuMemcpyHtoDAsync_v2, (address to, const void* from, size_t bytes, void* stream)) \
  X(cuMemcpyDtoHAsync_v2, (void* to, address from, size_t bytes, void* stream))

#define DECLARE(name, arguments) int(*name) arguments;
static struct {
  DRIVER_FUNCTIONS(DECLARE)
} cuda;

static int load_driver(void) {
  const char* file = getenv("PADLOCK_CUDA_DRIVER");
  void* const library = dlopen(file != NULL ? file : "libcuda.so.1", RTLD_NOW);
  if (library == NULL) return 0;
#define FIND(name, arguments)                  \
  *(void**)&cuda.name = dlsym(library, #name); \
  if (cuda.name == NULL) return 0;
  DRIVER_FUNCTIONS(FIND)
  return 1;
}

#define CUDA(call)                                           \
  do {                                                       \
    const int result = (call);                               \
    if (result != 0) {                                       \
      fprintf(stderr, "%s: CUDA error %d\n", #call, result); \
      exit(1);                                               \
    }                                                        \
  } while (0)

static const char kProgram[] =
    "program pad(x: f32[N], hi: dim) where N >= 1, hi >= 0\n"
    "{ y = pad(x, low = [2], high = [hi], value = -1) return y }\n";

enum { kElements = 6, kPadded = 2 + kElements + 4 };

/* The call for x of kElements, in memory of the GPU. */
static padlock_call* bind(padlock_kernel* kernel) {
  int64_t shape[] = {kElements};
  DLTensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.device.device_type = kDLCUDA;
  tensor.ndim = 1;
  tensor.dtype.code = kDLFloat;
  tensor.dtype.bits = 32;
  tensor.dtype.lanes = 1;
  tensor.shape = shape;
  const DLTensor* inputs[] = {&tensor};
  const padlock_named_value dims[] = {{"hi", 4}};
  padlock_bind_options sizes;
  memset(&sizes, 0, sizeof sizes);
  sizes.struct_size = sizeof sizes;
  sizes.inputs = inputs;
  sizes.input_count = 1;
  sizes.dims = dims;
  sizes.dim_count = 1;
  padlock_error* error = NULL;
  padlock_call* call;
  check(padlock_kernel_bind(kernel, &sizes, &call, &error), &error);
  return call;
}

static padlock_kernel* compile(padlock_context* context) {
  padlock_compile_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.device = "cuda:0";
  padlock_error* error = NULL;
  padlock_program* program;
  padlock_kernel* kernel;
  check(padlock_program_parse(context, kProgram, sizeof kProgram - 1, &program, &error), &error);
  check(padlock_program_compile(program, &options, &kernel, &error), &error);
  padlock_program_release(program);
  return kernel;
}

int main(void) {
  if (!load_driver()) {
    printf("no CUDA driver here\n");
    return 77;
  }
  void *callers, *stream;
  CUDA(cuda.cuInit(0));
  CUDA(cuda.cuDevicePrimaryCtxRetain(&callers, 0)); /* or any other of the caller's */
  CUDA(cuda.cuCtxPushCurrent_v2(callers));
  CUDA(cuda.cuStreamCreate(&stream, 0));

  padlock_error* error = NULL;
  padlock_context_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.cuda_context = callers;
  padlock_context* context;
  check(padlock_context_create(&options, &context, &error), &error);
  padlock_kernel* const kernel = compile(context);
  padlock_call* const call = bind(kernel);

  float x[kElements], y[kPadded];
  for (int i = 0; i < kElements; ++i) x[i] = (float)i;
  address x_gpu, y_gpu;
  CUDA(cuda.cuMemAlloc_v2(&x_gpu, sizeof x));
  CUDA(cuda.cuMemAlloc_v2(&y_gpu, sizeof y));
  CUDA(cuda.cuMemcpyHtoDAsync_v2(x_gpu, x, sizeof x, stream));
  const void* from[] = {(const void*)(uintptr_t)x_gpu};
  void* to[] = {(void*)(uintptr_t)y_gpu};
  check(padlock_call_launch(call, from, 1, to, 1, stream, &error), &error); /* queued behind the copy */
  CUDA(cuda.cuMemcpyDtoHAsync_v2(y, y_gpu, sizeof y, stream));
  CUDA(cuda.cuStreamSynchronize(stream));
  for (int i = 0; i < kPadded; ++i) printf("%g ", y[i]);
  printf("\n");

  CUDA(cuda.cuMemFree_v2(x_gpu));
  CUDA(cuda.cuMemFree_v2(y_gpu));
  padlock_call_release(call);
  padlock_kernel_release(kernel);
  padlock_context_release(context); /* before the CUDA context that it borrowed */
  CUDA(cuda.cuStreamDestroy_v2(stream));
  CUDA(cuda.cuCtxPopCurrent_v2(&callers));
  CUDA(cuda.cuDevicePrimaryCtxRelease_v2(0));
  return 0;
}
