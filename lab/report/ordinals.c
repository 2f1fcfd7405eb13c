/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ordinals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void ordinals_end(struct ordinals *o, FILE *out)
{
	if (!o->first)
		return;
	fprintf(out, "%s%" PRId64, o->printed++ ? ", " : "", o->first);
	if (o->last > o->first)
		fprintf(out, "%s%" PRId64, o->last == o->first + 1 ? ", " : "-", o->last);
	o->first = o->last = 0;
}

void ordinals_add(struct ordinals *o, int64_t number, FILE *out)
{
	if (o->first && number != o->last + 1)
		ordinals_end(o, out);
	if (!o->first)
		o->first = number;
	o->last = number;
}

void ordinals_print(const char *text, FILE *out)
{
	struct ordinals o = {0};

	for (char *end; *text; text = end + strspn(end, ", ")) {
		int64_t number = strtoll(text, &end, 10);

		if (end == text)
			break;
		ordinals_add(&o, number, out);
	}
	ordinals_end(&o, out);
}
