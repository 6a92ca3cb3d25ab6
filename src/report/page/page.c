/* page.c - index.html and page.json.
 *
 * C writes results, claims and texts as one JSON value (page_json.c); page.html, page.css,
 * charts.js and page.js draw it in the browser.  The page is one file that needs no network and no
 * server. */
#include "report/page/page.h"

#include "engine/base/error.h"
#include "report/io/json_text.h"
#include "report/io/whole_file.h"
#include "report/page/assets.h"

#include <stdlib.h>

/* Inside a script element only "<" can end the data (</script>, <!--), and JSON has it only inside
 * strings, where it may be written as an escape. */
static void add_escaped(struct text *out, const char *json)
{
    for (; *json; json++)
        if (*json == '<')
            text_add(out, "\\u003c");
        else
            text_bytes(out, json, 1);
}

oltr_status page_write(const struct report *report, uint32_t *missing, oltr_error *error)
{
    json_t *json = page_json(report, missing);
    char *dump = json_text(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    struct text data = {.failed = !dump}, page = {0};
    add_escaped(&data, dump ? dump : "");
    text_add(&data, "\n");
    oltr_status status = file_write_in(report->path, "page.json", &data, error);
    if (status == OLTR_OK) {
        text_add(&page, asset_page_before);
        text_bytes(&page, data.bytes, data.length);
        text_add(&page, asset_page_after);
        status = file_write_in(report->path, "index.html", &page, error);
    }
    text_free(&page);
    text_free(&data);
    free(dump);
    json_decref(json);
    return status;
}
