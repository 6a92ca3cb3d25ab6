/* shown.h - quoting of input in messages, from src/base. */
#ifndef REPORT_SHOWN_H
#define REPORT_SHOWN_H

#include "base/shown.h"

#endif
