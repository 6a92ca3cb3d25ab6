/* cmd_report.c - `oltr report`: writes the page and the tables of a report again, from the files in its folder. */
#include "cli.h"
#include "report/report.h"

const struct option report_options[] = {
    {'q', "quiet", NULL, NULL, "only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_report(const struct arguments *arguments)
{
    const char *folder = arguments->operand[0];
    oltr_error error = {OLTR_OK, ""};
    uint32_t missing;
    if (report_write(folder, &missing, &error) != OLTR_OK) {
        return complain(EXIT_FAILED, "%s", error.msg);
    }
    if (missing > 0) {
        return complain(EXIT_FAILED,
                        "%s/index.html lacks %u figure%s that %s not drawn; `oltr plot` on the folders draws them",
                        folder, (unsigned)missing, missing > 1 ? "s" : "", missing > 1 ? "were" : "was");
    }
    if (arguments_value(arguments, "quiet") == NULL) {
        (void)printf("the report is %s/index.html\n", folder);
    }
    return EXIT_OK;
}
