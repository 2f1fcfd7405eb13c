/* SPDX-License-Identifier: GPL-2.0-or-later
 * What the links of a run say together: every sample was begun, has its results and an end; the report has
 * these samples and no others. */
#include "verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* CELL/BOOT/SAMPLE/ATTEMPT of a link's content. */
static const char *sample_name(const json_t *content, char name[160])
{
	snprintf(name, 160, "%.64s/%" PRId64 "/%" PRId64 "/%" PRId64, verify_text(content, "cell_id"),
	         number(content, "boot"), number(content, "sample"), number(content, "attempt"));
	return name;
}

static void take_hello(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	(void)line;
	json_object_set_new(v->hellos, verify_text(content, "boot_id"),
	                    json_pack("{ss ss}", "node", node, "image_id", verify_text(content, "image_id")));
}

static void take_run(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	json_t *lab = json_loads(verify_text(line, "lab"), 0, NULL), *name;
	const json_t *group = json_object_get(json_object_get(lab, "groups"), verify_text(content, "group"));
	size_t i;

	(void)node;
	if (v->run_link)
		amiss(v, "the run was begun twice");
	json_decref(v->run_link);
	json_decref(v->nodes);
	v->run_link = json_deep_copy(content);
	v->nodes = json_object();
	json_array_foreach (json_object_get(group, "nodes"), i, name)
		if (json_is_string(name))
			json_object_set_new(v->nodes, json_string_value(name), json_true());
	json_decref(lab);
}

static void take_open(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	char name[160];

	(void)node;
	(void)line;
	if (json_object_get(v->samples, sample_name(content, name)))
		amiss(v, "sample %s was begun twice", name);
	else
		json_object_set_new(v->samples, name, json_pack("{ss s{}}", "state", "", "results"));
}

/* The body must be of the sample that its link is of. */
static void body_agrees(struct verify *v, const char *node, const json_t *content, const json_t *body)
{
	static const char *const numbers[] = {"boot", "sample", "attempt"};
	const char *cell_id = verify_text(content, "cell_id");
	char id[SHA256_HEX_SIZE] = "";
	bool agrees = !strcmp(verify_text(body, "run"), v->run) && !strcmp(verify_text(body, "node"), node) &&
	              !strcmp(verify_text(body, "cell_id"), cell_id) && json_object_get(body, "cell") &&
	              !canonical_id(json_object_get(body, "cell"), id) && !strcmp(id, cell_id);

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		agrees = agrees && number(body, numbers[i]) == number(content, numbers[i]);
	if (!agrees)
		amiss(v, "the result of %s is of another sample than its link says", node);
}

static void take_result(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	char name[160];
	const json_t *text = json_object_get(line, "body");
	json_t *body = json_loadb(json_string_value(text), json_string_length(text), 0, NULL);
	const json_t *measurement = json_object_get(body, "measurement");
	json_t *results = json_object_get(json_object_get(v->samples, sample_name(content, name)), "results");
	const json_t *hello = json_object_get(v->hellos, verify_text(content, "boot_id"));

	body_agrees(v, node, content, body);
	if (!results)
		amiss(v, "a result of %s for sample %s, which was not begun", node, name);
	else if (json_object_get(results, node))
		amiss(v, "a second result of %s for sample %s", node, name);
	else
		json_object_set_new(results, node,
		                    json_pack("{ss ss sI sI ss}", "role", verify_text(content, "role"),
		                              "verdict", verify_text(content, "verdict"), "bytes",
		                              (json_int_t)number(measurement, "bytes"), "ns",
		                              (json_int_t)number(measurement, "ns"), "image_id",
		                              verify_text(hello, "image_id")));
	if (!hello || strcmp(verify_text(hello, "node"), node))
		amiss(v, "a result of %s from a boot that never said hello", node);
	json_decref(body);
}

static void take_close(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	char name[160];
	json_t *sample = json_object_get(v->samples, sample_name(content, name));

	(void)node;
	(void)line;
	if (!sample || *verify_text(sample, "state"))
		amiss(v, "sample %s ends, which was %s", name, sample ? "over" : "not begun");
	else
		json_object_set_new(sample, "state", json_string(verify_text(content, "state")));
}

static void take_end(struct verify *v, const char *node, const json_t *content, const json_t *line)
{
	(void)node;
	(void)line;
	if (*v->end)
		amiss(v, "the run ends twice");
	snprintf(v->end, sizeof(v->end), "%s", verify_text(content, "state"));
}

void run_link(struct verify *v, const char *kind, const char *node, const json_t *content, const json_t *line)
{
	static const struct {
		const char *kind;
		void (*take)(struct verify *v, const char *node, const json_t *content, const json_t *line);
		const char *text; /* that must be hashed in the content; NULL: none */
	} kinds[] = {
	    {"hello", take_hello, "inventory_sha256"},
	    {"run", take_run, "lab_sha256"},
	    {"open", take_open, NULL},
	    {"result", take_result, "body_sha256"},
	    {"close", take_close, NULL},
	    {"end", take_end, NULL},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].kind, kind))
			continue;
		if (kinds[i].text && !json_object_get(content, kinds[i].text))
			amiss(v, "a link of kind %s has no %s", kind, kinds[i].text);
		else
			kinds[i].take(v, node, content, line);
		return;
	}
	amiss(v, "a link of a kind that there is not: %s", kind);
}

void run_file(struct verify *v, const char *name, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);

	if (json_object_get(v->files, name))
		amiss(v, "a second file %s: something was added", name);
	json_object_set_new(v->files, name, json_true());
	if (!strcmp(name, "report.json") && !v->report) {
		v->report = json_incref(json);
	} else if (!strncmp(name, "manifest-", 9) && *verify_text(json, "image_id")) {
		json_object_set_new(v->images, verify_text(json, "image_id"), json_true());
	} else if (strcmp(name, "report.html") && strcmp(name, "report.json")) {
		amiss(v, "file %s does not belong here", name);
	}
	json_decref(json);
}

/* A sample's own figures, or NULL: it does not count. NODE: which measured. */
static const json_t *measured(const json_t *sample, const char **node)
{
	json_t *results = json_object_get(sample, "results"), *result;

	if (strcmp(verify_text(sample, "state"), "valid"))
		return NULL;
	json_object_foreach (results, *node, result)
		if (!strcmp(verify_text(result, "role"), "measure"))
			return result;
	return NULL;
}

static void samples_together(struct verify *v)
{
	const char *name, *node;
	json_t *sample, *result;

	json_object_foreach (v->samples, name, sample) {
		json_t *results = json_object_get(sample, "results");
		const char *state = verify_text(sample, "state");

		if (!*state && strcmp(v->end, "cancelled"))
			amiss(v, "sample %s was begun, and nothing says what came of it", name);
		if (!strcmp(state, "valid") && !measured(sample, &node))
			amiss(v, "sample %s counts, and the result of the node that measured is not there",
			      name);
		json_object_foreach (results, node, result) {
			if (!strcmp(state, "valid") && strcmp(verify_text(result, "verdict"), "valid"))
				amiss(v, "sample %s counts, and the result of %s does not", name, node);
			if (!json_object_get(v->images, verify_text(result, "image_id")))
				amiss(v, "the manifest of image %s, which measured, is not there",
				      verify_text(result, "image_id"));
		}
	}
}

/* Each sample of the report is one of the chain's that count, with its figures. */
static size_t report_samples(struct verify *v)
{
	json_t *cells = json_object(), *value;
	char ordinal[24];
	size_t i, good = 0;

	json_array_foreach (json_object_get(v->report, "cells"), i, value) {
		snprintf(ordinal, sizeof(ordinal), "%" PRId64, number(value, "ordinal"));
		json_object_set(cells, ordinal, json_object_get(value, "cell_id"));
	}
	json_array_foreach (json_object_get(v->report, "samples"), i, value) {
		const char *node = "";
		char name[160];

		snprintf(ordinal, sizeof(ordinal), "%" PRId64, number(value, "ordinal"));
		snprintf(name, sizeof(name), "%.64s/%" PRId64 "/%" PRId64 "/%" PRId64,
		         verify_text(cells, ordinal), number(value, "boot"), number(value, "sample"),
		         number(value, "attempt"));
		const json_t *result = measured(json_object_get(v->samples, name), &node);

		if (result && !strcmp(node, verify_text(value, "node")) &&
		    number(result, "bytes") == number(value, "bytes") &&
		    number(result, "ns") == number(value, "ns"))
			good++;
		else
			amiss(v,
			      "the report has a sample of cell %s that no result is of: boot %" PRId64
			      ", sample %" PRId64,
			      ordinal, number(value, "boot"), number(value, "sample"));
	}
	json_decref(cells);
	return good;
}

void run_together(struct verify *v)
{
	const char *name, *node;
	json_t *value;
	size_t count = 0;

	if (!v->run_link || !*v->end)
		amiss(v, "the %s of the run is not there", v->run_link ? "end" : "beginning");
	json_object_foreach (v->unknown, name, value)
		if (!v->nodes || json_object_get(v->nodes, name))
			amiss(v, "a hello of %s was left out", name);
	samples_together(v);
	if (!v->report || !json_object_get(v->files, "report.html"))
		amiss(v, "report.%s is not there", v->report ? "html" : "json");
	if (!v->report)
		return;
	if (strcmp(verify_text(json_object_get(v->report, "run"), "run"), v->run))
		amiss(v, "the report is of another run");
	json_object_foreach (v->samples, name, value)
		count += measured(value, &node) != NULL;
	size_t good = report_samples(v);
	if (good < count)
		amiss(v, "the report lacks %zu of the samples that count", count - good);
}
