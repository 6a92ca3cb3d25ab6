/* cmd_report.c - `oltr report`: writes the page and the tables of a report again, from the files of
 * its folder. */
#include "app/verbs/verbs.h"
#include "report/report.h"

const struct option report_options[] = {
    {'q', "quiet", NULL, NULL, "only errors"},
    {0, NULL, NULL, NULL, NULL},
};

int cmd_report(const struct arguments *arguments)
{
    const char *folder = arguments->operand[0];
    oltr_error error = {OLTR_OK, ""};
    uint32_t missing = 0;
    struct report report;
    int code = need_folder(folder);
    if (code != EXIT_OK)
        return code;
    if (report_read(folder, &report, &error) != OLTR_OK)
        code = complain_of(&error);
    else if (report_write(&report, &missing, &error) != OLTR_OK)
        code = complain_failed(&error);
    report_free(&report);
    if (code != EXIT_OK)
        return code;
    if (missing > 0)
        return complain(EXIT_FAILED,
                        "%s/index.html lacks %u figure%s that %s not drawn; `oltr plot` on the "
                        "folders draws them",
                        folder, (unsigned)missing, missing > 1 ? "s" : "",
                        missing > 1 ? "were" : "was");
    if (!arguments_has(arguments, "quiet"))
        printf("the report is %s/index.html\n", folder);
    return EXIT_OK;
}
