#include "ir/binding.h"
