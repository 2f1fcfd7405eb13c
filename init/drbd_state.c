/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drbd_state.h"

#include "factor.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The word after KEY ("cs:") within LINE, up to a space, a slash or the line's end. Where it ends, or NULL.
 */
static const char *word(const char *line, const char *end, const char *key, char *buf, size_t size)
{
	size_t length = strlen(key), n = 0;
	const char *p = line;

	for (; p + length <= end; p++)
		if (!strncmp(p, key, length) && (p == line || isspace((unsigned char)p[-1])))
			break;
	if (p + length > end)
		return NULL;
	p += length;
	while (p < end && !isspace((unsigned char)*p) && *p != '/') {
		if (n + 1 >= size)
			return NULL;
		buf[n++] = *p++;
	}
	buf[n] = '\0';
	return n ? p : NULL;
}

/* "ro:Primary/Secondary" to two words. Where they end, or NULL. */
static const char *pair(const char *line, const char *end, const char *key, char *a, char *b, size_t size)
{
	const char *p = word(line, end, key, a, size);
	size_t n = 0;

	if (!p || p >= end || *p != '/')
		return NULL;
	for (p++; p < end && !isspace((unsigned char)*p); p++) {
		if (n + 1 >= size)
			return NULL;
		b[n++] = *p;
	}
	b[n] = '\0';
	return n ? p : NULL;
}

static const char *line_end(const char *line)
{
	return line + strcspn(line, "\n");
}

/* Start of the line " 0: cs:…", or NULL. */
static const char *find_minor(const char *text, unsigned int minor)
{
	for (const char *line = text; *line; line = *line_end(line) ? line_end(line) + 1 : line_end(line)) {
		const char *p = line;
		char *after;
		unsigned long n;

		while (*p == ' ')
			p++;
		if (!isdigit((unsigned char)*p))
			continue;
		n = strtoul(p, &after, 10);
		if (n == minor && !strncmp(after, ": cs:", 5))
			return line;
	}
	return NULL;
}

/* The counter after KEY in LINE, in KiB, to *BYTES. 0 or -EBADMSG. */
static int counter(const char *line, const char *end, const char *key, uint64_t *bytes)
{
	char number[24];

	if (!word(line, end, key, number, sizeof(number)) || !isdigit((unsigned char)number[0]))
		return -EBADMSG;
	errno = 0;
	*bytes = strtoull(number, NULL, 10);
	if (errno || *bytes > UINT64_MAX / 1024)
		return -EBADMSG;
	*bytes *= 1024;
	return 0;
}

int drbd_state_parse(const char *text, unsigned int minor, struct drbd_state *state)
{
	const char *line = find_minor(text, minor), *end, *p;
	char ordering[2];

	memset(state, 0, sizeof(*state));
	state->protocol = ' ';
	if (!line)
		return -ENOENT;
	end = line_end(line);
	if (!word(line, end, "cs:", state->connection, sizeof(state->connection)))
		return -EBADMSG;
	if (!strcmp(state->connection, "Unconfigured"))
		return 0;
	if (!pair(line, end, "ro:", state->role, state->peer_role, sizeof(state->role)))
		return -EBADMSG;
	p = pair(line, end, "ds:", state->disk, state->peer_disk, sizeof(state->disk));
	if (!p)
		return -EBADMSG;
	if (end - p >= 2)
		state->protocol = p[1];
	if (!*end)
		return -EBADMSG;
	line = end + 1;
	end = line_end(line);
	if (word(line, end, "wo:", ordering, sizeof(ordering)))
		state->write_ordering = ordering[0];
	return counter(line, end, "oos:", &state->out_of_sync_bytes);
}

/* "	[==>…] sync'ed: 33.5% (2345/12345)K\n	finish: 2:20:20 speed: …" from LINE on (drbd_proc.c). */
static int progress_lines(const char *line, struct drbd_progress *p)
{
	const char *end = line_end(line), *open = memchr(line, '(', (size_t)(end - line));
	unsigned long long left, total;
	unsigned int h, m, s;
	char unit;

	if (!open || sscanf(open, "(%llu/%llu)%c", &left, &total, &unit) != 3 ||
	    (unit != 'K' && unit != 'M') || left > total || total > UINT64_MAX >> 20)
		return -EBADMSG;
	p->left_bytes = left << (unit == 'K' ? 10 : 20);
	p->total_bytes = total << (unit == 'K' ? 10 : 20);
	if (!*end || sscanf(end + 1, " finish: %5u:%2u:%2u", &h, &m, &s) != 3)
		return -EBADMSG;
	p->finish_s = h * 3600LL + m * 60 + s;
	p->running = true;
	return 0;
}

int drbd_progress_parse(const char *text, unsigned int minor, struct drbd_progress *progress)
{
	const char *line = find_minor(text, minor), *end;
	int r;

	*progress = (struct drbd_progress){.finish_s = -1};
	if (!line)
		return -ENOENT;
	line = line_end(line);
	if (!*line)
		return -EBADMSG;
	end = line_end(++line);
	r = counter(line, end, "ns:", &progress->sent_bytes);
	r = r ? r : counter(line, end, "nr:", &progress->received_bytes);
	if (r || !*end || strncmp(end + 1, "\t[", 2) != 0)
		return r;
	return progress_lines(end + 1, progress);
}

json_t *drbd_state_json(const struct drbd_state *state, const char *text)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:s}", "connection", state->connection, "role",
	                 state->role, "peer_role", state->peer_role, "disk", state->disk, "peer_disk",
	                 state->peer_disk, "out_of_sync_bytes", (json_int_t)state->out_of_sync_bytes,
	                 "proc_drbd", text);
}

/* Whether the line P … END is "NAME REST", white space about; *REST is where REST starts. */
static bool starts_with(const char *p, const char *end, const char *name, const char **rest)
{
	size_t length = strlen(name);

	while (p < end && isspace((unsigned char)*p))
		p++;
	if ((size_t)(end - p) <= length || strncmp(p, name, length) || !isspace((unsigned char)p[length]))
		return false;
	p += length;
	while (p < end && isspace((unsigned char)*p))
		p++;
	*rest = p;
	return true;
}

int drbd_show_option(const char *text, const char *section, const char *option, char *buf, size_t size)
{
	bool inside = false;

	for (const char *line = text; *line; line = *line_end(line) ? line_end(line) + 1 : line_end(line)) {
		const char *end = line_end(line), *rest = line;
		size_t n;

		if (starts_with(line, end, section, &rest) && *rest == '{') {
			inside = true;
			continue;
		}
		if (memchr(line, '}', (size_t)(end - line)))
			inside = false;
		if (!inside || !starts_with(line, end, option, &rest))
			continue;
		for (n = 0; rest + n < end && rest[n] != ';'; n++)
			if (n + 1 >= size)
				return -EBADMSG;
		memcpy(buf, rest, n);
		buf[n] = '\0';
		return 0;
	}
	return -ENOENT;
}

/* "250k" of a factor in KiB/s, "100s" of one in sectors: the unit is that of the factor. */
static bool is_unit(const struct factor *f, const char *end)
{
	return !*end || (!strcmp(end, "k") && !strcmp(f->unit, "KiB/s")) ||
	       (!strcmp(end, "s") && !strcmp(f->unit, "sectors"));
}

/* cpu-mask "3": hexadecimal. One that is not set is not shown as an option, or is empty. */
static int show_cpus(const char *text, json_t *in_force)
{
	char value[64];
	long long cpus;

	if (drbd_show_option(text, "options", "cpu-mask", value, sizeof(value)))
		return 0;
	cpus = strtoll(value + (*value == '"'), NULL, 16);
	if (!cpus)
		return 0;
	return json_object_set_new(in_force, factors[FACTOR_CPU_DRBD].name, json_integer(cpus)) ? -ENOMEM : 0;
}

/* verify-alg "crc32c": a string, whose quotes are not part of it. One that is not set is "". */
static void unquote(char *value)
{
	size_t length = strlen(value);

	if (length < 2 || value[0] != '"' || value[length - 1] != '"')
		return;
	memmove(value, value + 1, length - 2);
	value[length - 2] = '\0';
}

int drbd_show_levels(const char *text, json_t *in_force)
{
	static const struct {
		const char *prefix, *section;
	} groups[] = {{"drbd.disk.", "disk"}, {"drbd.net.", "net"}};

	for (size_t i = 0; i < FACTOR_COUNT; i++) {
		const struct factor *f = &factors[i];

		for (size_t g = 0; g < 2; g++) {
			json_t *level = NULL;
			char value[64], *end;
			long long n;

			if (!f->drbdsetup_option[0] ||
			    strncmp(f->name, groups[g].prefix, strlen(groups[g].prefix)) ||
			    drbd_show_option(text, groups[g].section, f->drbdsetup_option, value,
			                     sizeof(value)))
				continue;
			unquote(value);
			if (!*value)
				continue;
			/* A number with a unit, or what is no number, stays text: it then differs from any
			 * level asked. */
			n = strtoll(value, &end, 10);
			level = f->levels || !is_unit(f, end) || end == value ? json_string(value)
			                                                      : json_integer(n);
			if (!level || json_object_set_new(in_force, f->name, level))
				return -ENOMEM;
		}
	}
	return show_cpus(text, in_force);
}
