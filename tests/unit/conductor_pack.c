/* SPDX-License-Identifier: GPL-2.0-or-later
 * Packs of whole runs by the real conductor: every line dropped, doubled, moved, every so many bytes changed,
 * also by one who can sign, is found. */
#include "conductor_sim.h"

#include "../../lab/pack/pack.h"

#include <errno.h>
#include <sys/stat.h>

struct lines {
	char **line;
	size_t count;
};

static struct evp_pkey_st *key;
static char folder[] = "/tmp/assay-pack-XXXXXX";

static int begin(void **state)
{
	char path[100];

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/key", folder);
	if (key_make(path) || key_make(path) != -EEXIST)
		return -1;
	key = key_load(path, true);
	snprintf(path, sizeof(path), "%s/manifest.json", folder);
	FILE *file = fopen(path, "w");
	fputs("{\"image_id\": \"i\"}", file);
	fclose(file);
	return key ? 0 : -1;
}

static int end(void **state)
{
	char command[100];

	(void)state;
	key_free(key);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* 0, and the pack as lines; or why not. */
static int pack_of(struct sim *sim, struct lines *lines)
{
	const struct pack_request request = {.images = {folder}, .image_count = 1};
	struct report *report = NULL;
	char *text = NULL, *line = NULL;
	size_t size, room = 0;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(report_load(sim->store, sim->run, &report), 1);
	int r = pack_write(report, &request, key, out);
	fclose(out);
	report_free(report);
	*lines = (struct lines){0};
	FILE *in = fmemopen(text, size, "r");
	while (!r && getline(&line, &room, in) > 0) {
		lines->line = realloc(lines->line, (lines->count + 1) * sizeof(*lines->line));
		lines->line[lines->count++] = strdup(line);
	}
	fclose(in);
	free(line);
	free(text);
	return r;
}

static void lines_free(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->line[i]);
	free(lines->line);
}

static int verify(const char *text, size_t size, char **said)
{
	size_t said_size;
	char run[64];
	FILE *in = fmemopen((void *)text, size, "r"), *out = open_memstream(said, &said_size);
	int r = pack_verify(in, key, NULL, out, run);

	fclose(in);
	fclose(out);
	return r;
}

/* Verifies the lines in ORDER (a NULL ends it), signed anew where SIGN. */
static int verify_lines(char *const *order, bool sign)
{
	char *text = NULL, *said = NULL, sha256[SHA256_HEX_SIZE], what[100], signature[SIGNATURE_HEX_SIZE],
	     fingerprint[FINGERPRINT_SIZE];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (; *order; order++)
		fputs(*order, out);
	fflush(out);
	if (sign) {
		assert_int_equal(sha256_hex(text, size, sha256), 0);
		snprintf(what, sizeof(what), PACK_SIGNED, sha256);
		assert_int_equal(key_sign(key, what, signature), 0);
		assert_int_equal(key_fingerprint(key, fingerprint), 0);
		fprintf(out,
		        "{\"type\":\"signature\",\"sha256\":\"%s\",\"key\":\"%s\",\"signature\":\"%s\"}\n",
		        sha256, fingerprint, signature);
	}
	fclose(out);
	int r = verify(text, size, &said);
	assert_true(r == 0 || *said);
	free(said);
	free(text);
	return r;
}

static bool is_link(const char *line)
{
	return strstr(line, "\"type\":\"link\"");
}

/* All but the signature, each in turn: dropped, doubled, exchanged with the next. */
static void lines_tampered(const struct lines *l)
{
	size_t n = l->count - 1;
	char **order = calloc(n + 2, sizeof(*order));

	memcpy(order, l->line, n * sizeof(*order));
	assert_int_equal(verify_lines(order, true), 0);
	assert_true(verify_lines(order, false) > 0);
	for (size_t i = 0; i < n; i++) {
		memcpy(order, l->line, i * sizeof(*order));
		memcpy(order + i, l->line + i + 1, (n - i - 1) * sizeof(*order));
		order[n - 1] = NULL;
		assert_true(verify_lines(order, true) > 0);
		memcpy(order, l->line, (i + 1) * sizeof(*order));
		memcpy(order + i + 1, l->line + i, (n - i) * sizeof(*order));
		order[n + 1] = NULL;
		assert_true(verify_lines(order, true) > 0);
		memcpy(order, l->line, n * sizeof(*order));
		order[n] = NULL;
		if (i + 1 < n && is_link(order[i]) && is_link(order[i + 1])) {
			order[i] = l->line[i + 1];
			order[i + 1] = l->line[i];
			assert_true(verify_lines(order, true) > 0);
		}
	}
	free(order);
}

/* Bytes here and there, and the end cut off. */
static void bytes_tampered(const struct lines *l)
{
	char *text = NULL, *said = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < l->count; i++)
		fputs(l->line[i], out);
	fclose(out);
	assert_int_equal(verify(text, size, &said), 0);
	assert_string_equal(said, "");
	free(said);
	for (size_t at = 0; at < size; at += size / 61) {
		text[at] ^= 1;
		assert_true(verify(text, size, &said) > 0);
		free(said);
		text[at] ^= 1;
		assert_true(verify(text, at, &said) > 0);
		free(said);
	}
	free(text);
}

static enum sim_quirk troubles(struct sim *sim, struct sim_node *n)
{
	(void)sim;
	return n->given == 3   ? SIM_REBOOTS
	       : n->given == 5 ? SIM_INVALID
	       : n->given == 8 ? SIM_FAILS
	                       : SIM_FINE;
}

static void test_tampering(void **state)
{
	struct lines lines;
	struct sim sim;

	(void)state;
	sim_start(&sim, "schema_version: 1\nquestion: q\nnodes: 2\nbase: {stack: drbd}\n"
	                "workloads:\n  - copy: {bs: 1MiB, size: 1MiB}\nrepeat: {boots: 2, samples: 3}\n");
	sim.quirk = troubles;
	sim.nodes[0].place = sim.nodes[1].place = SIM_BOOT;
	sim_go(&sim, 20000, "done");
	assert_int_equal(pack_of(&sim, &lines), 0);
	lines_tampered(&lines);
	bytes_tampered(&lines);
	lines_free(&lines);
	sim_end(&sim);
}

/* What is not over, or older than the chain, has no pack; what was cancelled has. */
static void test_when(void **state)
{
	struct lines lines;
	struct sim sim;

	(void)state;
	sim_start(&sim, sim_five_states);
	assert_int_equal(pack_of(&sim, &lines), -ENODATA);
	lines_free(&lines);
	sim.nodes[0].place = sim.nodes[1].place = SIM_BOOT;
	while (!sim_count(&sim, "SELECT count(*) FROM results"))
		sim_one_round(&sim);
	sim_one_round(&sim);
	assert_int_equal(store_do(sim.store, "UPDATE runs SET state = 'cancelled'", ""), 0);
	sim_kill(&sim);
	sim_one_round(&sim);
	assert_int_equal(sim_count(&sim, "SELECT count(*) FROM chain WHERE kind = 'end'"), 1);
	assert_int_equal(pack_of(&sim, &lines), 0);
	lines.line = realloc(lines.line, (lines.count + 1) * sizeof(*lines.line));
	lines.line[lines.count] = NULL;
	assert_int_equal(verify_lines(lines.line, false), 0);
	lines_free(&lines);
	sim.no_chain = true;
	assert_int_equal(store_do(sim.store, "DELETE FROM chain", ""), 0);
	assert_int_equal(pack_of(&sim, &lines), -ENODATA);
	lines_free(&lines);
	sim_end(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tampering),
	    cmocka_unit_test(test_when),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
