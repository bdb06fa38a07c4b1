/* A program's own dlpack.h, included first, is the one that is used. */
#include <stdint.h>

#define DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLOpenCL = 4, kDLCUDAManaged = 13 } DLDeviceType;
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

#include "padlock/padlock.h"

PADLOCK_STATIC_ASSERT(kDLOpenCL == 4, own_enumerators_are_kept);
PADLOCK_STATIC_ASSERT(sizeof(((padlock_bind_options*)0)->inputs[0][0]) == sizeof(DLTensor), own_tensor);

int padlock_test_own_dlpack(void);
int padlock_test_own_dlpack(void) { return kDLOpenCL; }
