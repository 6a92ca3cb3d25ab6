/* cmd_version.c - `oltr version`. */
#include "app/verbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <oltr/oltr.h>

/* The vector instructions; a bug report needs them, though they do not change results. */
static void print_cpu(void)
{
    const char *limit = getenv("OLTR_CPU"), *name;
    uint32_t known = 0;
    printf("cpu: %s found, %s used\n", oltr_cpu_name(oltr_cpu_found()), oltr_cpu_name(oltr_cpu()));
    while ((name = oltr_cpu_name(known)) && limit && strcmp(limit, name) != 0)
        known++;
    if (limit && *limit && !name)
        printf("OLTR_CPU is ignored: it must be plain, avx2, avx512 or neon\n");
}

int cmd_version(const struct arguments *arguments)
{
    (void)arguments;
    printf("oltr %s\n", oltr_version());
    print_cpu();
    return EXIT_OK;
}
