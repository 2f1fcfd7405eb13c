/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "key.h"

#include "canonical.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PUBLIC_BYTES = 32, SIGNATURE_BYTES = 64 };

static int write_key(const char *path, mode_t mode, EVP_PKEY *key, bool private)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	int r = 0;

	if (!file) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		fprintf(stderr, "%s: %s\n", path, strerror(-r));
		return r;
	}
	if (!(private ? PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL)
	              : PEM_write_PUBKEY(file, key)))
		r = -EIO;
	if (fclose(file) && !r)
		r = -errno;
	if (r)
		fprintf(stderr, "%s: the key could not be written\n", path);
	return r;
}

int key_make(const char *path)
{
	EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	char *public = NULL;
	int r = key && asprintf(&public, "%s.pub", path) >= 0 ? 0 : -ENOMEM;

	if (!r)
		r = write_key(path, 0600, key, true);
	if (!r) {
		r = write_key(public, 0644, key, false);
		if (r)
			unlink(path);
	}
	free(public);
	EVP_PKEY_free(key);
	return r;
}

struct evp_pkey_st *key_load(const char *path, bool private)
{
	FILE *file = fopen(path, "re");
	EVP_PKEY *key = NULL;

	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return NULL;
	}
	if (!private)
		key = PEM_read_PUBKEY(file, NULL, NULL, NULL);
	if (!key) {
		rewind(file);
		key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
	}
	fclose(file);
	if (key && EVP_PKEY_get_base_id(key) == EVP_PKEY_ED25519)
		return key;
	fprintf(stderr, "%s: this is no %s Ed25519 key in PEM\n", path, private ? "private" : "public");
	EVP_PKEY_free(key);
	return NULL;
}

void key_free(struct evp_pkey_st *key)
{
	EVP_PKEY_free(key);
}

int key_fingerprint(struct evp_pkey_st *key, char hex[FINGERPRINT_SIZE])
{
	unsigned char raw[PUBLIC_BYTES];
	size_t size = sizeof(raw);

	return EVP_PKEY_get_raw_public_key(key, raw, &size) == 1 ? sha256_hex(raw, size, hex) : -EIO;
}

int key_sign(struct evp_pkey_st *key, const char *text, char hex[SIGNATURE_HEX_SIZE])
{
	unsigned char raw[SIGNATURE_BYTES];
	size_t size = sizeof(raw);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
	            EVP_DigestSign(ctx, raw, &size, (const unsigned char *)text, strlen(text)) == 1;

	EVP_MD_CTX_free(ctx);
	for (size_t i = 0; good && i < sizeof(raw); i++)
		snprintf(hex + 2 * i, 3, "%02x", raw[i]);
	return good ? 0 : -EIO;
}

static bool from_hex(const char *hex, unsigned char raw[SIGNATURE_BYTES])
{
	if (strlen(hex) != 2 * SIGNATURE_BYTES || strspn(hex, "0123456789abcdef") != 2 * SIGNATURE_BYTES)
		return false;
	for (size_t i = 0; i < SIGNATURE_BYTES; i++) {
		char pair[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		raw[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
	return true;
}

bool key_verify(struct evp_pkey_st *key, const char *text, const char *hex)
{
	unsigned char raw[SIGNATURE_BYTES];
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = ctx && from_hex(hex, raw) && EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
	            EVP_DigestVerify(ctx, raw, sizeof(raw), (const unsigned char *)text, strlen(text)) == 1;

	EVP_MD_CTX_free(ctx);
	return good;
}
