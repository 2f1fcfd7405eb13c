/* SPDX-License-Identifier: GPL-2.0-or-later
 * Reads a pack line by line: hashes, the chain, the signature. Nothing in it is taken to be well. */
#include "verify.h"

#include "../store/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { PRINTED = 20 };

struct reader {
	struct verify v;
	struct evp_pkey_st *key;
	const char *includes;
	bool included, over;
	EVP_MD_CTX *digest;
	int64_t n;
	char sha256[SHA256_HEX_SIZE]; /* of the last link, "" before the first */
};

void amiss(struct verify *v, const char *format, ...)
{
	va_list args;

	v->findings++;
	if (v->findings > PRINTED)
		return;
	if (v->line)
		fprintf(v->out, "line %zu: ", v->line);
	va_start(args, format);
	vfprintf(v->out, format, args);
	va_end(args);
	fputc('\n', v->out);
}

const char *verify_text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static bool is_hash_of(const char *text, size_t size, const char *wanted)
{
	char sha256[SHA256_HEX_SIZE];

	return !sha256_hex(text, size, sha256) && !strcmp(sha256, wanted);
}

static void head_line(struct reader *r, const json_t *line)
{
	struct verify *v = &r->v;

	if (v->line != 1)
		amiss(v, "a second head: something was added");
	else if (json_integer_value(json_object_get(line, "version")) != 1)
		amiss(v, "this pack is of another version than 1");
	else
		snprintf(v->run, sizeof(v->run), "%s", verify_text(line, "run"));
}

/* Number, link to the one before, own hash. */
static void link_place(struct reader *r, const struct chain_link *link, const char *sha256)
{
	struct verify *v = &r->v;
	char own[SHA256_HEX_SIZE];

	if (*r->sha256 && link->n > r->n + 1)
		amiss(v, "link %" PRId64 " follows link %" PRId64 ": %" PRId64 " between them were left out",
		      link->n, r->n, link->n - r->n - 1);
	else if (*r->sha256 && link->n <= r->n)
		amiss(v, "link %" PRId64 " follows link %" PRId64 ": one was added, or the order was changed",
		      link->n, r->n);
	else if (*r->sha256 && strcmp(link->previous, r->sha256))
		amiss(v, "link %" PRId64 " does not go with the one before: one of them was exchanged",
		      link->n);
	if (chain_hash(link, own) || strcmp(own, sha256))
		amiss(v, "link %" PRId64 " (%s%s%s): it is not what was hashed", link->n, link->kind,
		      *link->node ? " of " : "", link->node);
	r->n = link->n;
	snprintf(r->sha256, sizeof(r->sha256), "%s", sha256);
	r->included = r->included || (r->includes && !strcmp(r->includes, own) && !strcmp(own, sha256));
}

/* Every NAME_sha256 of CONTENT is of LINE's text NAME. */
static bool texts_hold(struct verify *v, int64_t n, const json_t *content, const json_t *line)
{
	const char *key;
	bool all = true;
	json_t *value;

	json_object_foreach ((json_t *)content, key, value) {
		size_t length = strlen(key);
		char name[64];

		if (length <= 7 || length >= sizeof(name) || strcmp(key + length - 7, "_sha256"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(length - 7), key);
		const json_t *text = json_object_get(line, name);

		if (json_is_string(text) && json_is_string(value) &&
		    is_hash_of(json_string_value(text), json_string_length(text), json_string_value(value)))
			continue;
		amiss(v, "link %" PRId64 ": its %s was %s", n, name, text ? "changed" : "left out");
		all = false;
	}
	return all;
}

static void link_line(struct reader *r, const json_t *line)
{
	struct chain_link link = {.n = json_integer_value(json_object_get(line, "n")),
	                          .at_unix_ns = json_integer_value(json_object_get(line, "at_unix_ns")),
	                          .kind = verify_text(line, "kind"),
	                          .run = verify_text(line, "run"),
	                          .node = verify_text(line, "node")};
	const json_t *text = json_object_get(line, "content");
	struct verify *v = &r->v;

	snprintf(link.content_sha256, sizeof(link.content_sha256), "%s", verify_text(line, "content_sha256"));
	snprintf(link.previous, sizeof(link.previous), "%s", verify_text(line, "previous"));
	link_place(r, &link, verify_text(line, "sha256"));
	if (!text) {
		if (!strcmp(link.run, v->run))
			amiss(v, "link %" PRId64 " (%s): its content was left out", link.n, link.kind);
		else if (!strcmp(link.kind, "hello"))
			json_object_set_new(v->unknown, link.node, json_true());
		return;
	}
	if (!json_is_string(text) ||
	    !is_hash_of(json_string_value(text), json_string_length(text), link.content_sha256)) {
		amiss(v, "link %" PRId64 " (%s%s%s): its content was changed", link.n, link.kind,
		      *link.node ? " of " : "", link.node);
		return;
	}
	json_t *content = json_loadb(json_string_value(text), json_string_length(text), 0, NULL);
	if (!json_is_object(content))
		amiss(v, "link %" PRId64 ": its content is no JSON object", link.n);
	else if (texts_hold(v, link.n, content, line))
		run_link(v, link.kind, link.node, content, line);
	json_decref(content);
}

static void file_line(struct reader *r, const json_t *line)
{
	const json_t *text = json_object_get(line, "text");
	const char *name = verify_text(line, "name");

	if (!json_is_string(text) ||
	    !is_hash_of(json_string_value(text), json_string_length(text), verify_text(line, "sha256")))
		amiss(&r->v, "file %s was changed", name);
	else
		run_file(&r->v, name, json_string_value(text));
}

static int signature_line(struct reader *r, const json_t *line)
{
	char sha256[SHA256_HEX_SIZE], text[100], fingerprint[FINGERPRINT_SIZE];
	unsigned char raw[EVP_MAX_MD_SIZE];
	struct verify *v = &r->v;

	r->over = true;
	if (!EVP_DigestFinal_ex(r->digest, raw, NULL) || key_fingerprint(r->key, fingerprint))
		return -EIO;
	for (size_t i = 0; i < 32; i++)
		snprintf(sha256 + 2 * i, 3, "%02x", raw[i]);
	snprintf(text, sizeof(text), PACK_SIGNED, sha256);
	if (strcmp(verify_text(line, "key"), fingerprint))
		amiss(v, "it was signed with the key %.64s, not with %s", verify_text(line, "key"),
		      fingerprint);
	else if (strcmp(verify_text(line, "sha256"), sha256))
		amiss(v, "what stands above is not what was signed");
	else if (!key_verify(r->key, text, verify_text(line, "signature")))
		amiss(v, "the signature is wrong");
	return 0;
}

static int take_line(struct reader *r, const char *text, size_t length)
{
	json_t *line = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	const char *type = verify_text(line, "type");
	struct verify *v = &r->v;
	int result = 0;

	v->line++;
	if (r->over)
		amiss(v, "something was added after the signature");
	else if (!json_is_object(line) || text[length - 1] != '\n')
		amiss(v, "it was changed or cut off");
	else if (v->line == 1 && strcmp(type, "pack"))
		amiss(v, "this is no pack of assay");
	else if (!strcmp(type, "pack"))
		head_line(r, line);
	else if (!strcmp(type, "link"))
		link_line(r, line);
	else if (!strcmp(type, "file"))
		file_line(r, line);
	else if (!strcmp(type, "signature"))
		result = signature_line(r, line);
	else
		amiss(v, "nothing of a pack is a \"%s\"", type);
	if (!r->over && EVP_DigestUpdate(r->digest, text, length) != 1)
		result = -EIO;
	json_decref(line);
	return result;
}

static int read_all(struct reader *r, FILE *in)
{
	char *text = NULL;
	size_t size = 0;
	ssize_t length;
	int result = 0;

	while (!result && (length = getline(&text, &size, in)) > 0)
		result = take_line(r, text, (size_t)length);
	if (!result && ferror(in))
		result = -EIO;
	free(text);
	r->v.line = 0;
	if (result)
		return result;
	if (!r->over)
		amiss(&r->v, "it has no signature at its end: it was cut off");
	run_together(&r->v);
	if (r->includes && !r->included)
		amiss(&r->v, "the link %s is not in it", r->includes);
	return 0;
}

int pack_verify(FILE *in, struct evp_pkey_st *key, const char *includes, FILE *out, char run[64])
{
	struct reader r = {.v = {.out = out,
	                         .hellos = json_object(),
	                         .unknown = json_object(),
	                         .samples = json_object(),
	                         .images = json_object(),
	                         .files = json_object()},
	                   .key = key,
	                   .includes = includes,
	                   .digest = EVP_MD_CTX_new()};
	struct verify *v = &r.v;
	int result = v->hellos && v->unknown && v->samples && v->images && v->files && r.digest &&
	                     EVP_DigestInit_ex(r.digest, EVP_sha256(), NULL)
	                 ? read_all(&r, in)
	                 : -ENOMEM;

	if (v->findings > PRINTED)
		fprintf(out, "and %d more\n", v->findings - PRINTED);
	snprintf(run, 64, "%s", v->run);
	EVP_MD_CTX_free(r.digest);
	json_decref(v->run_link);
	json_decref(v->nodes);
	json_decref(v->hellos);
	json_decref(v->unknown);
	json_decref(v->samples);
	json_decref(v->images);
	json_decref(v->files);
	json_decref(v->report);
	return result ? result : v->findings;
}
