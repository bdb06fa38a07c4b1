#include "ir/syntax.h"
