#include "ir/literal.h"
