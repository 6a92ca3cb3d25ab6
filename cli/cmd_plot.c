/* cmd_plot.c - `oltr plot`: the figures of a folder, from its files alone. */
#include "cli.h"
#include "report/draw.h"

#include <oltr/oltr.h>

const struct option plot_options[] = {
    {'q', "quiet", NULL, NULL, "say nothing but errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_plot(const struct arguments *arguments)
{
    const char *folder = arguments->operand[0];
    uint32_t drawn = 0;
    oltr_error error = {OLTR_OK, ""};
    oltr_status status = draw_folder(folder, NULL, &drawn, &error);
    if (status != OLTR_OK) {
        return complain(EXIT_FAILED, "%s", error.msg);
    }
    if (arguments_value(arguments, "quiet") == NULL) {
        (void)printf("%u figure%s drawn in %s\n", drawn, drawn == 1 ? "" : "s", folder);
    }
    return EXIT_OK;
}
