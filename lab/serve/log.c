/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static bool silent;

void log_quiet(bool quiet)
{
	silent = quiet;
}

void log_event(const char *node, const char *step, const char *format, ...)
{
	char text[1024], date[32];
	struct timespec now;
	struct tm tm;
	va_list args;

	if (silent)
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* What nodes say may hold anything; a line stays a line. */
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	fprintf(stderr, "%s.%03ldZ %s %s: %s\n", date, now.tv_nsec / 1000000, node ? node : "-",
	        step ? step : "-", text);
}
