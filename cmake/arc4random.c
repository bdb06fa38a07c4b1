/* The one function of glibc 2.36 that the archives of LLVM and libstdc++ call, for files that also run on glibc 2.34.
   Hidden: it is nobody else's. */
#include <stdint.h>
#include <sys/random.h>

__attribute__((visibility("hidden"))) uint32_t arc4random(void);

uint32_t arc4random(void) {
  uint32_t value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) continue; /* a signal came */
  return value;
}
