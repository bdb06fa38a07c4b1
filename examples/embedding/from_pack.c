/* A pack that `padlock pack` made, run without a compiler: linked with libpadlock_runtime alone.

   usage: from_pack FILE.pack, which has examples/pad_relu.pad */
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

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s FILE.pack\n", argv[0]);
    return 2;
  }
  padlock_error* error = NULL;
  padlock_context* context;
  padlock_pack* pack;
  padlock_kernel* kernel;
  check(padlock_context_create(NULL, &context, &error), &error);
  check(padlock_pack_load(context, argv[1], &pack, &error), &error);
  for (size_t i = 0; i < padlock_pack_program_count(pack); ++i) printf("has %s\n", padlock_pack_program_name(pack, i));
  check(padlock_pack_kernel(pack, "pad_relu", NULL, &kernel, &error), &error);
  /* The code is in the kernel, what it takes was read: the file and the pack may go. */
  padlock_pack_release(pack);

  const padlock_named_value dims[] = {{"B", 2}, {"S", 3}, {"lo", 1}};
  padlock_bind_options sizes;
  memset(&sizes, 0, sizeof sizes);
  sizes.struct_size = sizeof sizes;
  sizes.dims = dims;
  sizes.dim_count = 3;
  padlock_call* call;
  check(padlock_kernel_bind(kernel, &sizes, &call, &error), &error);

  const float x[] = {1, -2, 3, -4, 5, -6};
  float z[2 * 8];
  const void* from[] = {x};
  void* to[] = {z};
  check(padlock_call_launch(call, from, 1, to, 1, NULL, &error), &error);
  printf("z:");
  for (size_t i = 0; i < sizeof z / sizeof z[0]; ++i) printf(" %g", z[i]);
  printf("\n");

  padlock_call_release(call);
  padlock_kernel_release(kernel);
  padlock_context_release(context);
  return 0;
}
