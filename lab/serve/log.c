/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINE_SIZE 1024
#define SELDOM_S  60
#define KINDS     64 /* of lines that are remembered; the oldest makes room */

static bool silent;

static struct kind {
	uint64_t hash; /* 0: free */
	time_t printed_s;
	unsigned int more;
} kinds[KINDS];
static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;

void log_quiet(bool quiet)
{
	silent = quiet;
}

/* FNV-1a. */
static uint64_t hash_of(const char *line)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *line; line++)
		hash = (hash ^ (unsigned char)*line) * UINT64_C(1099511628211);
	return hash ? hash : 1;
}

bool log_is_due(const char *line, time_t now_s, unsigned int *more)
{
	uint64_t hash = hash_of(line);
	struct kind *kind = &kinds[0];
	bool due = true;

	*more = 0;
	pthread_mutex_lock(&kinds_lock);
	for (size_t i = 0; i < KINDS; i++) {
		if (kinds[i].hash == hash) {
			kind = &kinds[i];
			break;
		}
		if (!kinds[i].hash || (kind->hash && kinds[i].printed_s < kind->printed_s))
			kind = &kinds[i];
	}
	if (kind->hash == hash && now_s - kind->printed_s < SELDOM_S) {
		kind->more++;
		due = false;
	} else {
		*more = kind->hash == hash ? kind->more : 0;
		*kind = (struct kind){.hash = hash, .printed_s = now_s};
	}
	pthread_mutex_unlock(&kinds_lock);
	return due;
}

static void compose(char line[LINE_SIZE], const char *node, const char *step, const char *format,
                    va_list args)
{
	int n = snprintf(line, 256, "%s %s: ", node ? node : "-", step ? step : "-");

	vsnprintf(line + (n < 256 ? n : 255), LINE_SIZE - 256, format, args);
	/* What nodes say may hold anything; a line stays a line, and moves no cursor. */
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
}

static void print(const char *line, unsigned int more)
{
	char date[32], again[64] = "";
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	if (more)
		snprintf(again, sizeof(again), " (and %u more times since it was last said)", more);
	fprintf(stderr, "%s.%03ldZ %s%s\n", date, now.tv_nsec / 1000000, line, again);
}

void log_event(const char *node, const char *step, const char *format, ...)
{
	char line[LINE_SIZE];
	va_list args;

	if (silent)
		return;
	va_start(args, format);
	compose(line, node, step, format, args);
	va_end(args);
	print(line, 0);
}

void log_seldom(const char *node, const char *step, const char *format, ...)
{
	char line[LINE_SIZE];
	struct timespec now;
	unsigned int more;
	va_list args;

	if (silent)
		return;
	va_start(args, format);
	compose(line, node, step, format, args);
	va_end(args);
	clock_gettime(CLOCK_BOOTTIME, &now);
	if (log_is_due(line, now.tv_sec, &more))
		print(line, more);
}
