/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "canonical.h"

#include <errno.h>
#ifdef SHA256_MBEDTLS /* the node's: init/init.mk */
#include <mbedtls/sha256.h>
#include <mbedtls/version.h>
#else
#include <openssl/sha.h>
#endif
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has_real(const json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_real(value))
		return true;
	json_object_foreach ((json_t *)value, name, member) {
		if (has_real(member))
			return true;
	}
	json_array_foreach (value, i, member) {
		if (has_real(member))
			return true;
	}
	return false;
}

int canonical_json(const json_t *value, char **out)
{
	*out = NULL;
	if (has_real(value))
		return -EINVAL;
	/* jansson sorts by bytes of UTF-8, which is the order of code points. */
	*out = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	return *out ? 0 : -ENOMEM;
}

static int sha256(const void *data, size_t length, unsigned char sum[32])
{
#ifndef SHA256_MBEDTLS
	return SHA256(data, length, sum) ? 0 : -EIO;
#elif MBEDTLS_VERSION_MAJOR < 3
	return mbedtls_sha256_ret(data, length, sum, 0) ? -EIO : 0;
#else
	return mbedtls_sha256(data, length, sum, 0) ? -EIO : 0;
#endif
}

int sha256_hex(const void *data, size_t length, char hex[SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[32];
	int r = sha256(data, length, sum);

	if (r)
		return r;
	for (size_t i = 0; i < sizeof(sum); i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	hex[2 * sizeof(sum)] = '\0';
	return 0;
}

int canonical_id(const json_t *value, char hex[SHA256_HEX_SIZE])
{
	char *text;
	int r = canonical_json(value, &text);

	if (!r)
		r = sha256_hex(text, strlen(text), hex);
	free(text);
	return r;
}
