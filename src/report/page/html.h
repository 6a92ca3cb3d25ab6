/* html.h - text that goes into a page.  Labels and titles come from files that anybody may have
 * written: nothing reaches the page but through here. */
#ifndef OLTR_REPORT_PAGE_HTML_H
#define OLTR_REPORT_PAGE_HTML_H

#include "engine/base/text.h"

#include <stdint.h>

/* Adds `words` so that a browser shows them and does not obey them; good for content and for quoted
 * attributes. */
void html_text(struct text *out, const char *words);
/* Adds a JSON string in quotes that may stand inside a <script> element. */
void html_json(struct text *out, const char *words);
/* Adds a picture as the content of a src attribute. */
void html_svg(struct text *out, const char *svg);

/* 116.43 +- 1.7 as "116.4 ± 1.7": as many digits as the error deserves; an exact number (se 0) has
 * four. */
void html_estimate(struct text *out, double value, double se);
/* The same with a sign, for differences. */
void html_difference(struct text *out, double value, double se);
/* 10000 as "10,000". */
void html_count(struct text *out, uint64_t count);
/* Seconds as people say them: "0.4 s", "2 min 5 s". */
void html_seconds(struct text *out, double seconds);

#endif
