/* SPDX-License-Identifier: GPL-2.0-or-later
 * The operator's Ed25519 key (RFC 8032), in PEM as `openssl genpkey -algorithm ed25519` writes it. What is
 * wrong with a file is said on stderr. */
#ifndef ASSAY_PACK_KEY_H
#define ASSAY_PACK_KEY_H

#include <stdbool.h>

struct evp_pkey_st;

enum { SIGNATURE_HEX_SIZE = 129, FINGERPRINT_SIZE = 65 };

/* Writes a new private key to PATH (mode 0600; it must not be there) and the public one to PATH.pub. 0 or
 * -errno. */
int key_make(const char *path);
/* Reads the private key, or the public one (of which a private key's file has one too). The caller frees it
 * with key_free(). NULL: it is none. */
struct evp_pkey_st *key_load(const char *path, bool private);
void key_free(struct evp_pkey_st *key);

/* SHA-256 of the public key, as hex digits: how people tell keys apart. 0 or -EIO. */
int key_fingerprint(struct evp_pkey_st *key, char hex[FINGERPRINT_SIZE]);

/* The signature of TEXT as hex digits. 0 or -EIO. */
int key_sign(struct evp_pkey_st *key, const char *text, char hex[SIGNATURE_HEX_SIZE]);
/* Whether HEX is KEY's signature of TEXT. */
bool key_verify(struct evp_pkey_st *key, const char *text, const char *hex);

#endif
