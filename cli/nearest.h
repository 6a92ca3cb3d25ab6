/* nearest.h - "did you mean", from src/base. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include "base/nearest.h"

#endif
