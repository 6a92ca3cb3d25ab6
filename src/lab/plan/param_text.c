/* param_text.c - see param_text.h. */
#include "lab/plan/param_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

const char *param_default(const oltr_param *param, char text[PARAM_TEXT_SIZE])
{
    bool word = param->type == OLTR_CHOICE || (param->choices && param->initial < param->min);
    if (word)
        snprintf(text, PARAM_TEXT_SIZE, "%s", param->choices[(size_t)param->initial]);
    else
        snprintf(text, PARAM_TEXT_SIZE, "%.15g", param->initial);
    return text;
}

const char *param_values(const oltr_param *param, char text[PARAM_TEXT_SIZE])
{
    static const double FAR = 1e15;
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; param->choices && param->choices[i] && used < PARAM_TEXT_SIZE; i++)
        used += (size_t)snprintf(text + used, PARAM_TEXT_SIZE - used, "%s%s", used ? ", " : "",
                                 param->choices[i]);
    if (param->type == OLTR_CHOICE || used >= PARAM_TEXT_SIZE)
        return text;
    char *at = text + used;
    size_t room = PARAM_TEXT_SIZE - used;
    const char * or = used ? ", or " : "", *kind = param->type == OLTR_INTEGER ? "whole, " : "";
    if (fabs(param->min) < FAR && fabs(param->max) < FAR)
        snprintf(at, room, "%s%s%.10g to %.10g", or, kind, param->min, param->max);
    else if (fabs(param->min) < FAR)
        snprintf(at, room, "%s%sat least %.10g", or, kind, param->min);
    else
        snprintf(at, room, "%sany %snumber", or, param->type == OLTR_INTEGER ? "whole " : "");
    return text;
}
