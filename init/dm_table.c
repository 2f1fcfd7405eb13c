/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the device mapper's tables say. Pure. */
#include "dm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Word NUMBER (from 0) of TEXT; its length, 0 where there is none. */
static size_t word(const char *text, unsigned int number, const char **start)
{
	*start = text + strspn(text, " ");
	while (number--) {
		*start += strcspn(*start, " ");
		*start += strspn(*start, " ");
	}
	return strcspn(*start, " ");
}

int dm_lower(const char *target, const char *params, unsigned int *major, unsigned int *minor)
{
	const char *start;
	char text[32], end;
	size_t n;

	if (strcmp(target, "linear") != 0 && strcmp(target, "crypt") != 0)
		return -EINVAL;
	n = word(params, !strcmp(target, "crypt") ? 3 : 0, &start);
	if (!n || n >= sizeof(text))
		return -EINVAL;
	snprintf(text, sizeof(text), "%.*s", (int)n, start);
	return sscanf(text, "%5u:%8u%c", major, minor, &end) == 2 ? 0 : -EINVAL;
}

/* "aes-xts-plain64 HEX 0 254:0 32768", or, where the key is in the kernel's keyring, ":64:logon:NAME". */
int dm_crypt_key(const char *params, char *cipher, size_t size, long long *key_bits)
{
	const char *start, *key;
	size_t n = word(params, 0, &start), key_length = word(params, 1, &key);
	unsigned int key_bytes;

	if (!n || n >= size || !key_length)
		return -EINVAL;
	snprintf(cipher, size, "%.*s", (int)n, start);
	if (key[0] == ':') {
		if (sscanf(key, ":%4u:", &key_bytes) != 1)
			return -EINVAL;
		*key_bits = key_bytes * 8LL;
		return 0;
	}
	if (key_length % 2 || strspn(key, "0123456789abcdefABCDEF") != key_length)
		return -EINVAL;
	*key_bits = (long long)key_length * 4;
	return 0;
}

void dm_table_text(const struct dm_table *table, char *buf, size_t size)
{
	const char *key;
	size_t n;

	snprintf(buf, size, "%llu %llu %s %s", (unsigned long long)table->start,
	         (unsigned long long)table->sectors, table->target, table->params);
	if (strcmp(table->target, "crypt") != 0)
		return;
	n = word(buf, 4, &key);
	if (key[0] != ':')
		memset(buf + (key - buf), '0', n);
}
