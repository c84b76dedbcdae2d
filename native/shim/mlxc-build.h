// Force-included into every file of the build copy of mlx-c.
#pragma once

#include "format.h"
#include "live.h"
