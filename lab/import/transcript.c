/* SPDX-License-Identifier: GPL-2.0-or-later
 * What dd said, with what was set above it. */
#include "import.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS_MAX = 400 };

/* "335544320000 bytes (336 GB, 312 GiB) copied, 663.575 s, 506 MB/s" of GNU, "67108864 bytes (64.0MB) copied,
 * 0.12 seconds, 520.1MB/s" of busybox. */
struct dd_line {
	uint64_t bytes;
	double seconds, rate;
	char unit[8];
	const char *rest; /* after the rate */
};

/* TEXT after WORD, or NULL where it does not begin so. */
static const char *after(const char *text, const char *word)
{
	size_t n = strlen(word);

	return text && !strncmp(text, word, n) ? text + n : NULL;
}

static const char *skip(const char *text, const char *what)
{
	return text + strspn(text, what);
}

/* A plain decimal number, and what follows; NULL: none. No hexadecimal, infinity, or sign. */
static const char *read_number(const char *text, double *number)
{
	char *end;

	if (!text || !isdigit((unsigned char)*text) || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
		return NULL;
	*number = strtod(text, &end);
	return isfinite(*number) ? end : NULL;
}

/* Whether LINE is one of dd's; -EINVAL: it begins so, but goes on otherwise. */
static int parse_dd(const char *line, struct dd_line *dd)
{
	const char *at = skip(line, " \t-*");
	size_t digits = strspn(at, "0123456789");
	char *end;

	if (!digits || digits > 18)
		return 0;
	dd->bytes = strtoull(at, &end, 10);
	at = after(end, " byte");
	if (!at)
		return 0;
	at = *at == 's' ? at + 1 : at;
	if (after(at, " (")) {
		at = strchr(at, ')');
		at = at ? at + 1 : NULL;
	}
	at = read_number(after(at, " copied, "), &dd->seconds);
	if (!at)
		return -EINVAL;
	at = after(at, " s, ") ? after(at, " s, ") : after(at, " seconds, ");
	at = read_number(at, &dd->rate);
	if (!at)
		return -EINVAL;
	at = skip(at, " ");
	digits = strcspn(at, "/");
	if (strncmp(at + digits, "/s", 2) != 0 || digits >= sizeof(dd->unit))
		return -EINVAL;
	snprintf(dd->unit, sizeof(dd->unit), "%.*s", (int)digits, at);
	dd->rest = at + digits + 2;
	return dd->bytes && dd->seconds > 0 && dd->seconds < 1e9 ? 1 : -EINVAL;
}

/* Whether the printed rate is the bytes over the seconds: GNU's units are decimal, busybox' binary by the
 * same names, and both round. */
static bool rate_agrees(const struct dd_line *dd)
{
	static const char prefixes[] = "kMGT";
	const char *prefix = strchr(prefixes, *dd->unit == 'K' ? 'k' : *dd->unit);
	int power = prefix && *dd->unit ? (int)(prefix - prefixes) + 1 : 0;
	double wanted = (double)dd->bytes / dd->seconds;
	double low = dd->rate * pow(1000, power), high = dd->rate * pow(1024, power);

	return wanted > low * 0.94 && wanted < high * 1.06;
}

/* Lines that stand between settings and result: dd's counts, and commands. */
static bool says_nothing(const char *line)
{
	const char *at = skip(line, " \t");

	return !*at || strstr(line, " records in") || strstr(line, " records out") ||
	       strstr(line, "+0 records") || strstr(line, "dd if=") || strstr(line, "dd of=") || *at == '=' ||
	       strspn(at, "-=_*") == strlen(at);
}

static bool is_reboot(const char *line)
{
	const char *at = after(skip(line, " \t-*#"), "reboot");

	return at && !isalnum((unsigned char)*at);
}

static int add(struct import *import, const struct dd_line *dd, const char *settings, uint32_t boot, int line)
{
	struct import_sample s = import_sample_new();

	s.state = json_pack("{ss}", "settings", *settings ? settings : "none");
	s.workload = json_pack("{ss}", "type", "dd");
	s.bytes = dd->bytes;
	s.ns = (uint64_t)(dd->seconds * 1e9);
	s.ns = s.ns ? s.ns : 1;
	s.boot = boot;
	s.line = line;
	return import_add(import, &s);
}

static void set_settings(char settings[SETTINGS_MAX], const char *line)
{
	const char *at = skip(line, " \t#");
	size_t n = 0;

	/* what JSON and a table can hold: no control characters, whole UTF-8 or ? */
	for (; *at && n + 1 < SETTINGS_MAX; at++)
		settings[n++] = (unsigned char)*at < ' ' || *at == 127 ? ' ' : *at;
	while (n && (settings[n - 1] == ' ' || settings[n - 1] == ':'))
		n--;
	settings[n] = '\0';
	json_t *valid = json_string(settings);
	for (size_t i = 0; !valid && i < n; i++)
		if ((unsigned char)settings[i] > 126)
			settings[i] = '?';
	json_decref(valid);
}

static int take_line(struct import *import, char *line, int number, char settings[SETTINGS_MAX],
                     uint32_t *boot, struct complaints *complaints)
{
	struct dd_line dd;
	int r;

	line[strcspn(line, "\r")] = '\0';
	r = parse_dd(line, &dd);
	if (r < 0) {
		complain_at(complaints, number, 1,
		            "begins as a line of dd, but does not go on as one: \"%.80s\"", line);
		return -EINVAL;
	}
	if (r && !rate_agrees(&dd)) {
		complain_at(complaints, number, 1,
		            "%g s and %g %s/s do not go together: a digit may be missing", dd.seconds,
		            dd.rate, dd.unit);
		return -EINVAL;
	}
	if (r && *skip(dd.rest, " \t")) {
		complain_at(complaints, number, 1, "left out, because it goes on: \"%.80s\"",
		            skip(dd.rest, " \t"));
		return 0;
	}
	if (r)
		return add(import, &dd, settings, *boot, number);
	if (is_reboot(line))
		++*boot;
	else if (!says_nothing(line))
		set_settings(settings, line);
	return 0;
}

int import_transcript(struct import *import, const char *text, size_t size, struct complaints *complaints)
{
	char settings[SETTINGS_MAX] = "", *copy = strndup(text, size), *next = copy, *line;
	uint32_t boot = import->first_boot;
	size_t had = import->count;
	int number = 0, r = copy ? 0 : -ENOMEM;

	while (next && (!r || r == -EINVAL) && (line = strsep(&next, "\n"))) {
		int one = take_line(import, line, ++number, settings, &boot, complaints);

		r = one ? one : r;
	}
	free(copy);
	if (!r && import->count == had) {
		complain_at(complaints, 0, 0,
		            "there is no line of dd in it (\"... bytes (...) copied, ... s, ... MB/s\")");
		r = -EINVAL;
	}
	return r;
}
