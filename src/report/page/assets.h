/* assets.h - the template of a report, with style, scripts and dygraphs in it.  The build puts it
 * into the program (cmake/embed.cmake).  The data goes between the two parts. */
#ifndef OLTR_REPORT_PAGE_ASSETS_H
#define OLTR_REPORT_PAGE_ASSETS_H

extern const char asset_page_before[], asset_page_after[];

#endif
