/* SPDX-License-Identifier: GPL-2.0-or-later
 * What pages are made with; embed.sh puts it into the program. */
#ifndef ASSAY_WEB_H
#define ASSAY_WEB_H

extern const char web_report_css[], web_report_js[], web_uplot_css[], web_uplot_js[];

#endif
