/* cmd_version.c - `oltr version`. */
#include "app/verbs/verbs.h"

#include <oltr/oltr.h>

int cmd_version(const struct arguments *arguments)
{
    (void)arguments;
    printf("oltr %s\n", oltr_version());
    return EXIT_OK;
}
