#include "ir/expr.h"
