/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmdline.h"

#include "../results-schema/factor.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SIZE 1024

struct parser {
	struct cmdline *out;
	cmdline_complain *complain;
	void *ctx;
};

__attribute__((format(printf, 2, 3))) static void complain(const struct parser *p, const char *format, ...)
{
	char text[WORD_SIZE + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	p->complain(p->ctx, text);
}

static void set_server(const struct parser *p, const char *value)
{
	size_t length = strlen(value);

	if (strncmp(value, "http://", 7) && strncmp(value, "https://", 8))
		return complain(p, "assay.server=%s: not a URL that starts with http:// or https://", value);
	while (length && value[length - 1] == '/')
		length--;
	if (length >= sizeof(p->out->server))
		return complain(p, "assay.server: longer than %zu bytes", sizeof(p->out->server) - 1);
	snprintf(p->out->server, sizeof(p->out->server), "%.*s", (int)length, value);
}

static void set_token(const struct parser *p, const char *value)
{
	/* It goes into an HTTP header as it is. */
	for (const char *c = value; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-._~+/=", *c))
			return complain(p, "assay.token: has a character that a token cannot have");
	if (!*value || strlen(value) >= sizeof(p->out->token))
		return complain(p, "assay.token: empty, or longer than %zu bytes", sizeof(p->out->token) - 1);
	snprintf(p->out->token, sizeof(p->out->token), "%s", value);
}

static void set_ip(const struct parser *p, const char *value)
{
	char address[WORD_SIZE], *slash, *comma, *end;
	struct in_addr parsed;
	unsigned long prefix = 0;

	snprintf(address, sizeof(address), "%s", value);
	comma = strchr(address, ',');
	if (comma)
		*comma++ = '\0';
	slash = strchr(address, '/');
	if (slash) {
		*slash++ = '\0';
		prefix = strtoul(slash, &end, 10);
	}
	if (!slash || !isdigit((unsigned char)*slash) || *end || prefix < 1 || prefix > 32 ||
	    inet_pton(AF_INET, address, &parsed) != 1)
		return complain(p, "assay.ip=%s: not ADDRESS/PREFIX[,GATEWAY], such as 10.77.0.11/24", value);
	if (comma && *comma && inet_pton(AF_INET, comma, &parsed) != 1)
		return complain(p, "assay.ip=%s: the gateway is not an IPv4 address", value);
	inet_pton(AF_INET, address, &parsed);
	inet_ntop(AF_INET, &parsed, p->out->address, sizeof(p->out->address));
	p->out->prefix_bits = prefix;
	snprintf(p->out->gateway, sizeof(p->out->gateway), "%.15s", comma ? comma : "");
}

static void set_bootif(const struct parser *p, const char *value)
{
	if (cmdline_mac(value, p->out->bootif))
		complain(p, "BOOTIF=%s: not a MAC address such as 01-52-54-00-12-34-56", value);
}

static void set_rescue(const struct parser *p, const char *value)
{
	if (!*value || !strcmp(value, "1"))
		p->out->rescue = true;
	else if (!strcmp(value, "0"))
		p->out->rescue = false;
	else
		complain(p, "assay.rescue=%s: takes no value (or 0, 1)", value);
}

static const struct key {
	const char *name;
	void (*set)(const struct parser *p, const char *value);
} keys[] = {
    {"assay.server", set_server}, {"assay.token", set_token},   {"assay.ip", set_ip},
    {"BOOTIF", set_bootif},       {"assay.rescue", set_rescue},
};
#define KEY_COUNT (sizeof(keys) / sizeof(*keys))

static const struct key *find_key(const char *name)
{
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

static const char *nearest_key(const char *name)
{
	const char *best = keys[0].name;

	for (size_t i = 1; i < KEY_COUNT; i++)
		if (edit_distance(name, keys[i].name) < edit_distance(name, best))
			best = keys[i].name;
	return best;
}

/* Cuts the next word off *TEXT into WORD, the quotes gone. False: there is none. -1 in *LENGTH: too long. */
static bool next_word(const char **text, char word[WORD_SIZE], bool *too_long)
{
	const char *c = *text;
	bool quoted = false;
	size_t n = 0;

	*too_long = false;
	while (isspace((unsigned char)*c))
		c++;
	if (!*c)
		return false;
	for (; *c && (quoted || !isspace((unsigned char)*c)); c++) {
		if (*c == '"')
			quoted = !quoted;
		else if (n < WORD_SIZE - 1)
			word[n++] = *c;
		else
			*too_long = true;
	}
	word[n] = '\0';
	*text = c;
	return true;
}

void cmdline_parse(const char *text, struct cmdline *out, cmdline_complain *tell, void *ctx)
{
	struct parser parser = {.out = out, .complain = tell, .ctx = ctx};
	char word[WORD_SIZE], *value;
	bool seen[KEY_COUNT] = {false}, too_long;
	const struct key *key;

	memset(out, 0, sizeof(*out));
	while (next_word(&text, word, &too_long)) {
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		key = find_key(word);
		if (!key) {
			if (!strncmp(word, "assay.", 6))
				complain(&parser,
				         "unknown key %.100s on the kernel command line: did you mean %s?",
				         word, nearest_key(word));
			continue;
		}
		if (too_long) {
			complain(&parser, "%s: longer than %d bytes, left out", key->name, WORD_SIZE - 1);
			continue;
		}
		if (seen[key - keys])
			complain(&parser, "%s is given more than once: the last one counts", key->name);
		seen[key - keys] = true;
		key->set(&parser, value ? value : "");
	}
}

int cmdline_mac(const char *text, char mac[18])
{
	unsigned char digits[14];
	size_t n = 0;

	for (; *text; text++) {
		if (isxdigit((unsigned char)*text)) {
			if (n == sizeof(digits))
				return -EINVAL;
			digits[n++] = tolower((unsigned char)*text);
		} else if ((*text != '-' && *text != ':') || n % 2 || !n || !text[1]) {
			return -EINVAL;
		} else if (text[1] == '-' || text[1] == ':') {
			return -EINVAL;
		}
	}
	/* The hardware type in front, 01, is Ethernet. */
	if (n == 14 && (digits[0] != '0' || digits[1] != '1'))
		return -EINVAL;
	if (n != 12 && n != 14)
		return -EINVAL;
	for (size_t i = 0; i < 6; i++)
		snprintf(mac + 3 * i, 18 - 3 * i, i < 5 ? "%c%c:" : "%c%c", digits[n - 12 + 2 * i],
		         digits[n - 11 + 2 * i]);
	return 0;
}

void cmdline_mask(char *text)
{
	static const char key[] = "assay.token=";

	while ((text = strstr(text, key)))
		for (text += sizeof(key) - 1; *text && !strchr(" \t\r\n\"", *text); text++)
			*text = '*';
}

void cmdline_redact(const char *text, char *buf, size_t size)
{
	static const char key[] = "assay.token=";
	size_t n = 0;

	while (*text && n < size - 1) {
		if (strncmp(text, key, sizeof(key) - 1)) {
			buf[n++] = *text++;
			continue;
		}
		snprintf(buf + n, size - n, "%s***", key);
		n += strlen(buf + n);
		text += strcspn(text, " \t\n\"");
	}
	buf[n] = '\0';
}
