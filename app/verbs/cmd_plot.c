/* cmd_plot.c - `oltr plot`: draws the figures of a folder again, from its files alone. */
#include "app/verbs/verbs.h"
#include "report/figures/draw.h"
#include "report/io/folder.h"

#include <oltr/oltr.h>

const struct option plot_options[] = {
    {'q', "quiet", NULL, NULL, "only errors"},
    {0, NULL, NULL, NULL, NULL},
};

/* Files that cannot be read are a mistake in the request; later failures are not. */
static int check_folder(const char *path)
{
    struct folder folder;
    oltr_error error = {OLTR_OK, ""};
    int code = need_folder(path);
    if (code == EXIT_OK && folder_read(path, &folder, &error) != OLTR_OK)
        code = complain_of(&error);
    if (code == EXIT_OK || error.code != OLTR_OK)
        folder_free(&folder);
    return code;
}

int cmd_plot(const struct arguments *arguments)
{
    const char *folder = arguments->operand[0];
    uint32_t drawn = 0;
    oltr_error error = {OLTR_OK, ""};
    int code = check_folder(folder);
    if (code != EXIT_OK)
        return code;
    if (draw_folder(folder, NULL, &drawn, &error) != OLTR_OK)
        return error.code == OLTR_EIO ? complain_failed(&error) : complain_of(&error);
    if (!arguments_has(arguments, "quiet"))
        printf("%u figure%s drawn in %s\n", drawn, drawn == 1 ? "" : "s", folder);
    return EXIT_OK;
}
