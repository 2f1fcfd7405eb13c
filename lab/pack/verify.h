/* SPDX-License-Identifier: GPL-2.0-or-later
 * What reading a pack has seen so far. */
#ifndef ASSAY_PACK_VERIFY_H
#define ASSAY_PACK_VERIFY_H

#include "pack.h"

#include "canonical.h"

#include <jansson.h>

struct verify {
	FILE *out;
	size_t line;  /* from 1 on */
	int findings; /* what is amiss; only the first ones are printed */
	char run[64];
	char end[16];     /* state that the run ended with; "": it has not */
	json_t *run_link; /* content of the run's link */
	json_t *nodes;    /* of the group, a set of names; NULL before the run's lab is known */
	json_t *hellos;   /* by boot_id: {node, image_id} */
	json_t *unknown;  /* hellos told without content: a set of nodes */
	json_t
	    *samples; /* by CELL/BOOT/SAMPLE/ATTEMPT: {state, results: {NODE: {role, verdict, bytes, ns}}} */
	json_t *images; /* with a manifest, a set of ids */
	json_t *files;  /* that are there, a set of names */
	json_t *report; /* report.json */
};

/* "line N: …" */
__attribute__((format(printf, 2, 3))) void amiss(struct verify *v, const char *format, ...);

/* A link of the run or of its nodes, whose content and attached texts (in LINE) are what was hashed. */
void run_link(struct verify *v, const char *kind, const char *node, const json_t *content,
              const json_t *line);
void run_file(struct verify *v, const char *name, const char *text);
/* Whether all of it goes together, at the end. */
void run_together(struct verify *v);

/* A member that is a text, or "". */
const char *verify_text(const json_t *object, const char *key);

#endif
