/* SPDX-License-Identifier: GPL-2.0-or-later
 * Writes a pack: what lies in the store, line by line, and at the end the signature of it. */
#include "pack.h"

#include "../report/html.h"
#include "../store/chain.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct writer {
	const struct report *report;
	FILE *out;
	EVP_MD_CTX *digest;
	int r;
};

static void put(struct writer *w, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	if (!text && !w->r)
		w->r = -ENOMEM;
	if (!w->r && (fputs(text, w->out) < 0 || fputc('\n', w->out) == EOF))
		w->r = -EIO;
	if (!w->r && w->digest &&
	    (!EVP_DigestUpdate(w->digest, text, strlen(text)) || !EVP_DigestUpdate(w->digest, "\n", 1)))
		w->r = -EIO;
	free(text);
	json_decref(line);
}

__attribute__((format(printf, 2, 3))) static void missing(struct writer *w, const char *format, ...)
{
	va_list args;

	fputs("assay pack: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	if (!w->r)
		w->r = -ENODATA;
}

/* Texts that a link's content has the hashes of. */
static const struct attachment {
	const char *kind, *name, *sql; /* ?1: run, ?2: node, ?3: the link's content */
} attachments[] = {
    {"hello", "inventory",
     "SELECT inventory FROM boots WHERE ?1 NOT NULL AND node = ?2 AND boot_id = ?3 ->> '$.boot_id'"},
    {"run", "plan", "SELECT plan_text FROM runs WHERE run = ?1 AND ?2 NOT NULL AND ?3 NOT NULL"},
    {"run", "lab", "SELECT lab FROM runs WHERE run = ?1 AND ?2 NOT NULL AND ?3 NOT NULL"},
    {"result", "body",
     "SELECT body FROM results WHERE run = ?1 AND node = ?2 AND cell_id = ?3 ->> '$.cell_id' AND boot = ?3 "
     "->> '$.boot' "
     "AND sample = ?3 ->> '$.sample' AND attempt = ?3 ->> '$.attempt'"},
};

static void attach(struct writer *w, const struct attachment *a, const struct chain_link *link,
                   const char *content, json_t *line)
{
	sqlite3_stmt *row;
	int r = store_ask(w->report->store, &row, a->sql, "sss", link->run, link->node, content);

	if (!r)
		r = store_row(w->report->store, row);
	if (r == 1) {
		json_object_set_new(line, a->name,
		                    json_stringn(sqlite3_column_blob(row, 0),
		                                 (size_t)sqlite3_column_bytes(row, 0)));
		store_reset(row);
	} else if (!r) {
		missing(w, "link %" PRId64 " (%s%s%s): its %s is no more in the database", link->n,
		        link->kind, *link->node ? " of " : "", link->node, a->name);
	} else if (!w->r) {
		w->r = r;
	}
}

/* OURS: it is of this run, and told whole. */
static void put_link(struct writer *w, const struct chain_link *link, const char *content, const char *sha256,
                     bool ours)
{
	json_t *line =
	    json_pack("{ss sI sI ss ss ss ss ss ss}", "type", "link", "n", (json_int_t)link->n, "at_unix_ns",
	              (json_int_t)link->at_unix_ns, "kind", link->kind, "run", link->run, "node", link->node,
	              "content_sha256", link->content_sha256, "previous", link->previous, "sha256", sha256);

	if (ours) {
		json_object_set_new(line, "content", json_string(content));
		for (size_t i = 0; i < sizeof(attachments) / sizeof(attachments[0]); i++)
			if (!strcmp(attachments[i].kind, link->kind))
				attach(w, &attachments[i], link, content, line);
	}
	put(w, line);
}

/* From the first hello of a boot that measured, or the run's own link, to the run's end. */
static int find_range(struct writer *w, int64_t *first, int64_t *last)
{
	struct store *store = w->report->store;
	int r =
	    store_int(store, last, "SELECT n FROM chain WHERE kind = 'end' AND run = ?", "s", w->report->run);

	if (!r)
		r = store_int(store, first,
		              "SELECT min(n) FROM chain WHERE (kind = 'run' AND run = ?1) OR (kind = 'hello' "
		              "AND content "
		              "->> '$.boot_id' IN (SELECT content ->> '$.boot_id' FROM chain WHERE kind = "
		              "'result' AND run "
		              "= ?1))",
		              "s", w->report->run);
	if (r)
		return r;
	if (*w->report->imported)
		missing(w, "run %s was imported: nothing proves that it measured what it says",
		        w->report->run);
	else if (!*first)
		missing(w, "run %s is not in the chain: it was measured before there was one",
		        w->report->run);
	else if (!*last)
		missing(w, "run %s has not ended", w->report->run);
	return w->r;
}

/* Whether NODE is of the run's group. */
static bool is_of_group(const struct writer *w, const json_t *lab, const char *node)
{
	const json_t *group = json_object_get(json_object_get(lab, "groups"), w->report->group), *name;
	size_t i;

	json_array_foreach (json_object_get(group, "nodes"), i, name)
		if (!strcmp(json_string_value(name), node))
			return true;
	return false;
}

static int put_links(struct writer *w)
{
	json_t *lab = json_loads(w->report->lab, 0, NULL);
	int64_t first = 0, last = 0;
	char previous[SHA256_HEX_SIZE] = "";
	sqlite3_stmt *row;
	int r = find_range(w, &first, &last);

	if (!r)
		r = store_ask(w->report->store, &row,
		              "SELECT n, at_unix_ns, kind, run, node, content, sha256, coalesce((SELECT "
		              "b.sha256 FROM chain b "
		              "WHERE b.n = a.n - 1), ?) FROM chain a WHERE n BETWEEN ? AND ? ORDER BY n",
		              "sii", "0000000000000000000000000000000000000000000000000000000000000000",
		              first, last);
	while (!r && (r = store_row(w->report->store, row)) == 1) {
		struct chain_link link = {.n = sqlite3_column_int64(row, 0),
		                          .at_unix_ns = sqlite3_column_int64(row, 1),
		                          .kind = store_text(row, 2),
		                          .run = store_text(row, 3),
		                          .node = store_text(row, 4)};
		const char *content = store_text(row, 5);
		bool ours = !strcmp(link.run, w->report->run) ||
		            (!strcmp(link.kind, "hello") && is_of_group(w, lab, link.node));

		snprintf(link.previous, sizeof(link.previous), "%s",
		         *previous ? previous : store_text(row, 7));
		r = sha256_hex(content, strlen(content), link.content_sha256);
		put_link(w, &link, content, store_text(row, 6), ours);
		snprintf(previous, sizeof(previous), "%s", store_text(row, 6));
		r = r ? r : w->r;
		if (r)
			store_reset(row);
	}
	json_decref(lab);
	return r;
}

/* Takes TEXT. */
static void put_file(struct writer *w, const char *name, char *text)
{
	char sha256[SHA256_HEX_SIZE];

	if (!text || sha256_hex(text, strlen(text), sha256))
		w->r = w->r ? w->r : -ENOMEM;
	else
		put(w,
		    json_pack("{ss ss ss ss}", "type", "file", "name", name, "sha256", sha256, "text", text));
	free(text);
}

static void put_report(struct writer *w, const char *name, int (*print)(const struct report *, FILE *))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int r = out ? print(w->report, out) : -ENOMEM;

	if (out && fclose(out) && !r)
		r = -ENOMEM;
	if (r && !w->r)
		w->r = r;
	put_file(w, name, text);
}

/* FOLDER's manifest, if it is IMAGE's; NULL. */
static char *read_manifest(const char *folder, const char *image)
{
	char *path, *text = NULL;
	size_t size = 0;

	if (asprintf(&path, "%s/manifest.json", folder) < 0)
		return NULL;
	FILE *file = fopen(path, "re");
	free(path);
	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	json_t *manifest = text ? json_loads(text, 0, NULL) : NULL;
	const char *id = json_string_value(json_object_get(manifest, "image_id"));

	if (!id || strcmp(id, image)) {
		free(text);
		text = NULL;
	}
	json_decref(manifest);
	return text;
}

static int put_manifests(struct writer *w, const struct pack_request *request)
{
	sqlite3_stmt *row;
	int r = store_ask(
	    w->report->store, &row,
	    "SELECT DISTINCT b.image_id FROM results r JOIN assignments s USING (run, cell_id, boot, sample, "
	    "attempt, node) JOIN boots b USING (token) WHERE r.run = ? ORDER BY 1",
	    "s", w->report->run);

	while (!r && (r = store_row(w->report->store, row)) == 1) {
		const char *image = store_text(row, 0);
		char *text = NULL, name[160];

		for (size_t i = 0; i < request->image_count && !text; i++)
			text = read_manifest(request->images[i], image);
		snprintf(name, sizeof(name), "manifest-%.100s.json", image);
		if (text)
			put_file(w, name, text);
		else
			missing(w,
			        "image %s measured, and none of the image folders has its manifest.json; "
			        "--image names "
			        "another folder",
			        image);
		r = 0;
	}
	return r ? r : w->r;
}

static void put_signature(struct writer *w, struct evp_pkey_st *key)
{
	unsigned char raw[32];
	char sha256[SHA256_HEX_SIZE], text[100], signature[SIGNATURE_HEX_SIZE], fingerprint[FINGERPRINT_SIZE];

	if (w->r || !EVP_DigestFinal_ex(w->digest, raw, NULL)) {
		w->r = w->r ? w->r : -EIO;
		return;
	}
	for (size_t i = 0; i < sizeof(raw); i++)
		snprintf(sha256 + 2 * i, 3, "%02x", raw[i]);
	snprintf(text, sizeof(text), PACK_SIGNED, sha256);
	w->r = key_sign(key, text, signature);
	if (!w->r)
		w->r = key_fingerprint(key, fingerprint);
	EVP_MD_CTX_free(w->digest);
	w->digest = NULL;
	if (!w->r)
		put(w, json_pack("{ss ss ss ss ss}", "type", "signature", "algorithm", "Ed25519", "sha256",
		                 sha256, "key", fingerprint, "signature", signature));
}

int pack_write(const struct report *report, const struct pack_request *request, struct evp_pkey_st *key,
               FILE *out)
{
	struct writer w = {.report = report, .out = out, .digest = EVP_MD_CTX_new()};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!w.digest || !EVP_DigestInit_ex(w.digest, EVP_sha256(), NULL))
		w.r = -ENOMEM;
	put(&w, json_pack("{ss si ss sI}", "type", "pack", "version", 1, "run", report->run, "made_unix_ns",
	                  (json_int_t)(now.tv_sec * INT64_C(1000000000) + now.tv_nsec)));
	if (!w.r)
		w.r = put_links(&w);
	if (!w.r)
		w.r = put_manifests(&w, request);
	if (!w.r) {
		put_report(&w, "report.json", report_json);
		put_report(&w, "report.html", html_report);
		put_signature(&w, key);
	}
	EVP_MD_CTX_free(w.digest);
	return w.r;
}
