/*
 * The C API's structs as programs that were compiled already have them, and the header as C99.
 *
 * When this does not compile: a struct may only grow at its end, in a way that leaves what was there where it was. Put
 * the new member last, extend the size here, and read it as zero from callers that do not have it (capi/options.h
 * does). Any other change needs the next major PADLOCK_API_VERSION.
 */
#include "padlock/padlock.h"

#define SIZE(type, bytes) PADLOCK_STATIC_ASSERT(sizeof(type) == (bytes), type##_size)
#define AT(type, member, bytes) PADLOCK_STATIC_ASSERT(offsetof(type, member) == (bytes), type##_##member)

PADLOCK_STATIC_ASSERT(PADLOCK_API_VERSION == 1006, api_version);
PADLOCK_STATIC_ASSERT(sizeof(padlock_status) == 4, status_size);
PADLOCK_STATIC_ASSERT(PADLOCK_OK == 0 && PADLOCK_UNAUTHENTICATED == 16, statuses);

SIZE(padlock_named_value, 16);
AT(padlock_named_value, value, 8);

SIZE(padlock_allocator, 24);
AT(padlock_allocator, allocate, 8);
AT(padlock_allocator, release, 16);

SIZE(padlock_context_options, 112);
AT(padlock_context_options, allocator, 8);
AT(padlock_context_options, log, 32);
AT(padlock_context_options, log_user, 40);
AT(padlock_context_options, parallel_for, 48);
AT(padlock_context_options, parallel_for_user, 56);
AT(padlock_context_options, threads, 64);
AT(padlock_context_options, cache_mode, 68);
AT(padlock_context_options, cache_file, 72);
AT(padlock_context_options, worker, 80);
AT(padlock_context_options, cuda_context, 88);
AT(padlock_context_options, cache_match, 96);
AT(padlock_context_options, assembler, 104);

SIZE(padlock_statistics, 40);
AT(padlock_statistics, programs_compiled, 8);
AT(padlock_statistics, look_ups, 16);
AT(padlock_statistics, kernels_cached, 24);
AT(padlock_statistics, configs_tried, 32);

SIZE(padlock_device_info, 80);
AT(padlock_device_info, name, 8);
AT(padlock_device_info, description, 16);
AT(padlock_device_info, available, 24);
AT(padlock_device_info, multiprocessors, 28);
AT(padlock_device_info, gpu_name, 32);
AT(padlock_device_info, architecture, 40);
AT(padlock_device_info, memory_bytes, 48);
AT(padlock_device_info, l2_bytes, 56);
AT(padlock_device_info, memory_bandwidth, 64);
AT(padlock_device_info, driver_version, 72);

SIZE(padlock_parameter_info, 32);
AT(padlock_parameter_info, name, 8);
AT(padlock_parameter_info, kind, 16);
AT(padlock_parameter_info, ndim, 20);
AT(padlock_parameter_info, dtype, 24);

SIZE(padlock_symbol_info, 24);
AT(padlock_symbol_info, name, 8);
AT(padlock_symbol_info, kind, 16);

SIZE(padlock_onnx_options, 32);
AT(padlock_onnx_options, folder, 8);
AT(padlock_onnx_options, outputs, 16);
AT(padlock_onnx_options, output_count, 24);

SIZE(padlock_compile_options, 40);
AT(padlock_compile_options, device, 8);
AT(padlock_compile_options, target, 16);
AT(padlock_compile_options, config, 24);
AT(padlock_compile_options, bounds_check, 32);

SIZE(padlock_bind_options, 64);
AT(padlock_bind_options, inputs, 8);
AT(padlock_bind_options, input_count, 16);
AT(padlock_bind_options, dims, 24);
AT(padlock_bind_options, dim_count, 32);
AT(padlock_bind_options, scalars, 40);
AT(padlock_bind_options, scalar_count, 48);
AT(padlock_bind_options, unplaced, 56);

SIZE(padlock_tensor_info, 48);
AT(padlock_tensor_info, name, 8);
AT(padlock_tensor_info, dtype, 16);
AT(padlock_tensor_info, ndim, 20);
AT(padlock_tensor_info, extents, 24);
AT(padlock_tensor_info, strides, 32);
AT(padlock_tensor_info, storage_bytes, 40);

SIZE(padlock_progress, 72);
AT(padlock_progress, region, 8);
AT(padlock_progress, region_count, 12);
AT(padlock_progress, tried, 16);
AT(padlock_progress, config_count, 20);
AT(padlock_progress, best, 24);
AT(padlock_progress, best_picoseconds, 32);
AT(padlock_progress, seconds_left, 40);
AT(padlock_progress, racing, 48);
AT(padlock_progress, seconds, 56);
AT(padlock_progress, least_seconds, 64);

SIZE(padlock_tune_options, 144);
AT(padlock_tune_options, device, 8);
AT(padlock_tune_options, search, 16);
AT(padlock_tune_options, min, 24);
AT(padlock_tune_options, opt, 40);
AT(padlock_tune_options, max, 56);
AT(padlock_tune_options, budget_seconds, 72);
AT(padlock_tune_options, seed, 80);
AT(padlock_tune_options, memory_bytes, 88);
AT(padlock_tune_options, resume, 96);
AT(padlock_tune_options, progress, 104);
AT(padlock_tune_options, cancel, 112);
AT(padlock_tune_options, user, 120);
AT(padlock_tune_options, shard_index, 128);
AT(padlock_tune_options, shard_count, 132);
AT(padlock_tune_options, regime, 136);

/* Called by a test in C++, so that this file is linked and a C program's calls are seen to work. */
int padlock_test_c_version(void);
int padlock_test_c_version(void) { return (int)padlock_api_version(); }
