/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export.h"

#include <errno.h>
#include <string.h>

/* As the store takes its schema in. */
__asm__(".pushsection .rodata\n"
        ".global export_dashboard\n"
        "export_dashboard:\n"
        ".incbin \"lab/export/grafana.json\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char export_dashboard[];

int export_grafana(FILE *out)
{
	return fputs(export_dashboard, out) < 0 ? -EIO : 0;
}
