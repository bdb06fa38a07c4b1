#include "ir/dtype.h"
