#include "ir/program.h"
