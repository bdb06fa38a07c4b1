#include "ir/constraint.h"
