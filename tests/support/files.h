/* files.h - a folder for the files of one test program, and files in it.
 *
 * make_folder() and remove_folder() are the setup and teardown of a cmocka group.
 */
#ifndef OLTR_TESTS_FILES_H
#define OLTR_TESTS_FILES_H

#include "support/unit.h"

#include <unistd.h>

static char folder[] = "/tmp/oltr-test-XXXXXX";

static inline int make_folder(void **state)
{
    return !mkdtemp(folder);
}

static inline int remove_folder(void **state)
{
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) != 0;
}

/* folder/name, in one of a few places that are used in turn. */
static inline const char *path_of(const char *name)
{
    static char place[8][128];
    static unsigned at;
    char *path = place[at++ % 8];
    snprintf(path, sizeof place[0], "%s/%s", folder, name);
    return path;
}

static inline const char *write_bytes(const char *name, const void *bytes, size_t n)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *write_text(const char *name, const char *text)
{
    return write_bytes(name, text, strlen(text));
}

/* The file whole, and a zero behind it. */
static inline unsigned char *read_bytes(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = exactly(*n + 1, 1);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    bytes[*n] = 0;
    fclose(file);
    return bytes;
}

#endif
