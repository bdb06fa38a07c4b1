/* Pad and relu from C: compile once, bind to sizes, launch on pointers. */
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

static const char kProgram[] =
    "program pad_relu(x: f32[B, S], lo: dim)\n"
    "where 1 <= B, 0 <= S, S + lo >= 0\n"
    "{ y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5)\n"
    "  z = relu(y)\n"
    "  return z }\n";

int main(void) {
  padlock_error* error = NULL;
  padlock_context* context;
  padlock_program* program;
  padlock_kernel* kernel;
  check(padlock_context_create(NULL, &context, &error), &error);
  check(padlock_program_parse(context, kProgram, sizeof kProgram - 1, &program, &error), &error);
  /* The slow step, once for all sizes. */
  check(padlock_program_compile(program, NULL, &kernel, &error), &error);

  for (int64_t columns = 5; columns <= 6; ++columns) {
    float x[2 * 6];
    for (int i = 0; i < 12; ++i) x[i] = (float)(i % 5 - 2);
    int64_t shape[] = {2, 0};
    shape[1] = columns;
    DLTensor tensor;
    memset(&tensor, 0, sizeof tensor);
    tensor.data = x;
    tensor.device.device_type = kDLCPU;
    tensor.ndim = 2;
    tensor.dtype.code = kDLFloat;
    tensor.dtype.bits = 32;
    tensor.dtype.lanes = 1;
    tensor.shape = shape;

    const DLTensor* inputs[] = {&tensor};
    const padlock_named_value dims[] = {{"lo", 3}};
    padlock_bind_options sizes;
    memset(&sizes, 0, sizeof sizes);
    sizes.struct_size = sizeof sizes;
    sizes.inputs = inputs;
    sizes.input_count = 1;
    sizes.dims = dims;
    sizes.dim_count = 1;
    padlock_call* call;
    check(padlock_kernel_bind(kernel, &sizes, &call, &error), &error);

    /* How large the result is, the call knows. */
    padlock_tensor_info result;
    memset(&result, 0, sizeof result);
    result.struct_size = sizeof result;
    check(padlock_call_result(call, 0, &result, &error), &error);
    float* z = malloc((size_t)result.storage_bytes);
    const void* from[] = {x};
    void* to[] = {z};
    check(padlock_call_launch(call, from, 1, to, 1, NULL, &error), &error);

    printf("%s: f32[%d, %d]:", result.name, (int)result.extents[0], (int)result.extents[1]);
    for (int64_t i = 0; i < result.extents[0] * result.extents[1]; ++i) printf(" %g", z[i]);
    printf("\n");
    free(z);
    padlock_call_release(call);
  }
  padlock_kernel_release(kernel);
  padlock_program_release(program);
  padlock_context_release(context);
  return 0;
}
