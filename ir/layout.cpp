#include "ir/layout.h"
