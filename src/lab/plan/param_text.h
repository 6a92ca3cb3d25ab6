/* param_text.h - a parameter of a policy, a world or a click model in words, for help and
 * documentation. */
#ifndef OLTR_LAB_PLAN_PARAM_TEXT_H
#define OLTR_LAB_PLAN_PARAM_TEXT_H

#include <oltr/oltr.h>

enum { PARAM_TEXT_SIZE = 160 };

/* "0.5", or a word.  Returns the buffer. */
const char *param_default(const oltr_param *param, char text[PARAM_TEXT_SIZE]);
/* "none, mean, full", "0 to 1" or "whole, at least 1"; bounds beyond 1e15 are left out. */
const char *param_values(const oltr_param *param, char text[PARAM_TEXT_SIZE]);

#endif
