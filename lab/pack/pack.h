/* SPDX-License-Identifier: GPL-2.0-or-later
 * Signed evidence: one file that has what a run measured, and shows whether anything of it was changed since.
 *
 * The file is JSON, an object a line, each with its "type":
 *   pack       first: version 1, run, made_unix_ns
 *   link       one of the chain (lab/store/chain.h), from the first hello of a boot that measured to the end
 * of the run: n, at_unix_ns, kind, run, node, content_sha256, previous, sha256; of this run and of its nodes'
 *              hellos also content and, by name, the attached texts. Of other runs no more than the hashes.
 *   file       name, sha256, text: report.json, report.html, manifest-IMAGE.json of each image that measured
 *   signature  last: sha256 of all bytes before this line; Ed25519 signature of "assay-pack 1 SHA256"; the
 * key's fingerprint */
#ifndef ASSAY_PACK_H
#define ASSAY_PACK_H

#include "../report/report.h"
#include "key.h"

#include <stdio.h>

enum { PACK_IMAGES = 8 };

struct pack_request {
	const char *images[PACK_IMAGES]; /* folders with a manifest.json */
	size_t image_count;
};

/* Writes the pack of REPORT's run. 0 or -errno; -ENODATA: what is missing was said on stderr. */
int pack_write(const struct report *report, const struct pack_request *request, struct evp_pkey_st *key,
               FILE *out);

/* Reads IN; what is amiss goes to OUT, a line each. INCLUDES: the hash of a link that must be in it, NULL:
 * none. RUN (64 bytes) is filled in. How much is amiss, or -errno. */
int pack_verify(FILE *in, struct evp_pkey_st *key, const char *includes, FILE *out, char run[64]);

/* The text that is signed, of the SHA-256 of the bytes. */
#define PACK_SIGNED "assay-pack 1 %s"

#endif
