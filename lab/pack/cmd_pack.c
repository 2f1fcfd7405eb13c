/* SPDX-License-Identifier: GPL-2.0-or-later
 * assay pack: a run as signed evidence. assay verify: whether it still is what was signed. */
#include "pack.h"

#include "../cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct request {
	const char *database, *key, *new_key, *to;
	struct pack_request pack;
};

static bool take_image(const char *command, const char *text, void *to)
{
	struct pack_request *pack = to;

	if (pack->image_count == PACK_IMAGES) {
		cli_usage(command, "at most %d folders of images", PACK_IMAGES);
		return false;
	}
	pack->images[pack->image_count++] = text;
	return true;
}

static int parse_pack(int argc, char **argv, struct request *q)
{
	const struct cli_row rows[] = {
	    {"db", "FILE", "the database (default: assay.db)", .text = &q->database},
	    {"key", "FILE", "the operator's private key, Ed25519 in PEM (default: assay.key)",
	     .text = &q->key},
	    {"new-key", "FILE", "only make a key: FILE for you alone, FILE.pub for whoever verifies",
	     .text = &q->new_key},
	    {"image", "FOLDER", "where the manifest.json of an image is (default: out); may be given again",
	     .parse = take_image, .to = &q->pack},
	    {"to", "FILE", "the pack (default: RUN.assay)", .text = &q->to},
	    {0},
	};
	const struct cli_command command = {
	    "[RUN]",
	    "Writes what RUN (default: the latest) measured to one file: plan, inventories, every result "
	    "whole, "
	    "the image's manifest and the report, chained by hashes from the first hello on, and signed. "
	    "What "
	    "was changed in the database since it came is found, and nothing is signed.",
	    NULL, rows};
	int result;

	*q = (struct request){.database = "assay.db", .key = "assay.key"};
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind + 1 < argc || (q->new_key && optind < argc))
		return cli_usage("pack", "%s",
		                 q->new_key ? "--new-key makes a key, and packs no run" : "one run, please");
	if (!q->pack.image_count)
		q->pack.images[q->pack.image_count++] = "out";
	return CLI_GO;
}

/* Written, read again, and only then given its name. An enum assay_exit. */
static int write_pack(const struct report *report, const struct request *q, struct evp_pkey_st *key,
                      const char *to)
{
	char *part = NULL, run[64];
	FILE *file = asprintf(&part, "%s.part", to) < 0 ? NULL : fopen(part, "w+e");
	int result = ASSAY_SYSTEM, r = file ? pack_write(report, &q->pack, key, file) : -errno;

	if (!r && fseek(file, 0, SEEK_SET))
		r = -errno;
	if (!r) {
		r = pack_verify(file, key, NULL, stderr, run);
		result = r > 0 ? ASSAY_NOT_VALID : ASSAY_SYSTEM;
		if (r > 0)
			fprintf(
			    stderr,
			    "assay pack: the database is not what the nodes brought: nothing is signed\n");
	}
	if (file && fclose(file) && !r)
		r = -errno;
	if (!r && rename(part, to))
		r = -errno;
	if (!r)
		result = ASSAY_OK;
	else if (r == -ENODATA)
		result = ASSAY_USAGE;
	else if (r < 0)
		fprintf(stderr, "assay pack: %s: %s%s%s\n", to, strerror(-r),
		        *store_message(report->store) ? ": " : "", store_message(report->store));
	if (r && file)
		unlink(part);
	free(part);
	return result;
}

static int pack(const struct report *report, const struct request *q)
{
	struct evp_pkey_st *key = key_load(q->key, true);
	char to[80], fingerprint[FINGERPRINT_SIZE];

	if (!key) {
		fprintf(stderr,
		        "assay pack: --key names the operator's key; `assay pack --new-key %s` makes one\n",
		        q->key);
		return ASSAY_USAGE;
	}
	snprintf(to, sizeof(to), "%s.assay", report->run);
	int result = write_pack(report, q, key, q->to ? q->to : to);
	if (result == ASSAY_OK && !key_fingerprint(key, fingerprint))
		printf("%s: run %s, signed with the key %s\n", q->to ? q->to : to, report->run, fingerprint);
	key_free(key);
	return result;
}

static int new_key(const char *path)
{
	if (key_make(path))
		return ASSAY_SYSTEM;
	printf("%s is the key: keep it where only you can read it\n%s.pub is what others verify with: let "
	       "them have "
	       "it before the packs\n",
	       path, path);
	return ASSAY_OK;
}

int cmd_pack(int argc, char **argv)
{
	struct report *report = NULL;
	struct store *store = NULL;
	struct request q;
	int result = parse_pack(argc, argv, &q);

	if (result != CLI_GO)
		return result;
	if (q.new_key)
		return new_key(q.new_key);
	if (store_open(q.database, STORE_EXISTING, stderr, &store))
		return ASSAY_SYSTEM;
	/* one state of the database, whoever else writes to it */
	int r = store_do(store, "BEGIN", "");
	if (!r)
		r = report_load(store, argv[optind], &report);
	result = ASSAY_SYSTEM;
	if (r == 1) {
		result = pack(report, &q);
	} else if (!r) {
		fprintf(stderr, "assay pack: there is no run%s%s in %s\n", argv[optind] ? " " : "",
		        argv[optind] ? argv[optind] : "", q.database);
		result = ASSAY_USAGE;
	} else {
		fprintf(stderr, "assay pack: %s\n", store_message(store));
	}
	report_free(report);
	store_close(store);
	return result;
}

struct verify_request {
	const char *key, *includes;
};

static int parse_verify(int argc, char **argv, struct verify_request *q)
{
	const struct cli_row rows[] = {
	    {"key", "FILE", "the public key of who must have signed it (default: assay.key.pub)",
	     .text = &q->key},
	    {"includes", "HASH", "this link, written down when it was made, must be in it",
	     .text = &q->includes},
	    {0},
	};
	const struct cli_command command = {"FILE",
	                                    "Says whether anything in FILE, a pack, was changed, left out or "
	                                    "added since it was signed with that key.",
	                                    "Exit codes: 0 nothing; 1 something, each finding on a line; 2 "
	                                    "no such key or file; 3 system error.\n",
	                                    rows};
	int result;

	*q = (struct verify_request){.key = "assay.key.pub"};
	result = cli_parse(argc, argv, &command);
	if (result != CLI_GO)
		return result;
	if (optind + 1 != argc)
		return cli_usage("verify", optind < argc ? "one file, please" : "which file?");
	return CLI_GO;
}

int cmd_verify(int argc, char **argv)
{
	struct verify_request q;
	int result = parse_verify(argc, argv, &q);
	char run[64];

	if (result != CLI_GO)
		return result;
	FILE *file = fopen(argv[optind], "re");
	struct evp_pkey_st *key = file ? key_load(q.key, false) : NULL;
	if (!key) {
		if (!file)
			fprintf(stderr, "assay verify: %s: %s\n", argv[optind], strerror(errno));
		else
			fprintf(stderr, "assay verify: --key names the public key of who signed\n");
		if (file)
			fclose(file);
		return ASSAY_USAGE;
	}
	int r = pack_verify(file, key, q.includes, stdout, run);
	fclose(file);
	key_free(key);
	if (r < 0) {
		fprintf(stderr, "assay verify: %s: %s\n", argv[optind], strerror(-r));
		return ASSAY_SYSTEM;
	}
	if (r)
		printf("%s: NOT what was signed: %d finding%s\n", argv[optind], r, r == 1 ? "" : "s");
	else
		printf("%s: run %s: nothing was changed, left out or added\n", argv[optind], run);
	return r ? ASSAY_NOT_VALID : ASSAY_OK;
}
