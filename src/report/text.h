/* text.h - text that grows, from src/base. */
#ifndef REPORT_TEXT_H
#define REPORT_TEXT_H

#include "base/text.h"

#endif
