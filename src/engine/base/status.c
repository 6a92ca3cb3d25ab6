/* status.c - the texts of the status codes, from the one list in oltr.h. */
#include <oltr/oltr.h>

static const char *const texts[] = {
#define TEXT(name, text) text,
    OLTR_STATUS_LIST(TEXT)
#undef TEXT
};

static const char *const names[] = {
#define NAME(name, text) "OLTR_" #name,
    OLTR_STATUS_LIST(NAME)
#undef NAME
};

const char *oltr_strerror(oltr_status status)
{
    return (unsigned)status < OLTR_STATUS_COUNT ? texts[status] : "unknown status";
}

const char *oltr_status_name(oltr_status status)
{
    return (unsigned)status < OLTR_STATUS_COUNT ? names[status] : "unknown status";
}

const char *oltr_version(void)
{
    return OLTR_VERSION;
}
