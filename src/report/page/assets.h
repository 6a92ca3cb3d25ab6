/* assets.h - files that the build puts into the program: the style and script of a report, and
 * dygraphs with its license, from Debian's package.  Each ends with a zero byte, so each is a
 * string. */
#ifndef OLTR_REPORT_PAGE_ASSETS_H
#define OLTR_REPORT_PAGE_ASSETS_H

extern const unsigned char asset_page_css[], asset_page_js[], asset_dygraph_css[],
    asset_dygraph_js[], asset_dygraph_license[];

#endif
