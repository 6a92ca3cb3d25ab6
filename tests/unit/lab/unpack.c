/* unpack.c - zlib without memory: told as such, and not as a file that cannot be read.  The linker
 * puts the functions of this file in front of zlib's (--wrap). */
#define _GNU_SOURCE 1
#include "support/texts.h"

static int starts_fail, steps_fail;

int __real_inflateInit2_(z_streamp stream, int bits, const char *version, int size);
int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version, int size);
int __real_inflate(z_streamp stream, int flush);
int __wrap_inflate(z_streamp stream, int flush);

int __wrap_inflateInit2_(z_streamp stream, int bits, const char *version, int size)
{
    return starts_fail ? Z_MEM_ERROR : __real_inflateInit2_(stream, bits, version, size);
}

int __wrap_inflate(z_streamp stream, int flush)
{
    return steps_fail ? Z_MEM_ERROR : __real_inflate(stream, flush);
}

static void assert_lacks_memory(const char *path)
{
    oltr_error error = {OLTR_OK, ""};
    assert_null(oltr_dataset_read(path, NULL, NULL, &error));
    assert_int_equal(error.code, OLTR_ENOMEM);
    assert_non_null(strstr(error.msg, "no memory to unpack it"));
}

static void memory_is_told_from_damage(void **state)
{
    static const char text[] = "1 qid:1 1:0.5\n0 qid:1 1:0.25\n";
    const char *path = write_gzip("text.gz", text, sizeof text - 1);
    starts_fail = 1;
    assert_lacks_memory(path);
    starts_fail = 0;
    steps_fail = 1;
    assert_lacks_memory(path);
    steps_fail = 0;
    oltr_dataset *data = oltr_dataset_read(path, NULL, NULL, NULL);
    assert_non_null(data);
    oltr_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_is_told_from_damage)};
    return cmocka_run_group_tests_name("unpack", tests, make_folder, remove_folder);
}
