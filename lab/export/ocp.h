/* SPDX-License-Identifier: GPL-2.0-or-later
 * A stream of OCP Test & Validation output 2.0: one JSON object a line. Optional members are left out, never
 * null: the published schemas take none. */
#ifndef ASSAY_EXPORT_OCP_H
#define ASSAY_EXPORT_OCP_H

#include "export.h"

struct ocp {
	const struct report *report;
	FILE *out;
	const char *folder; /* where files go; NULL: there are none */
	int64_t sequence;
	bool failed; /* a diagnosis was FAIL */
	int r;       /* the first error */
};

/* The line that comes first. */
void ocp_begin(struct ocp *o, int64_t unix_ns);
/* {"testRunArtifact": {KIND: VALUE}}, {"testStepArtifact": {"testStepId": STEP, KIND: VALUE}}; they take
 * VALUE. */
void ocp_run(struct ocp *o, int64_t unix_ns, const char *kind, json_t *value);
void ocp_step(struct ocp *o, int64_t unix_ns, const char *step, const char *kind, json_t *value);

/* A diagnosis of STEP: PASS, FAIL or UNKNOWN. MESSAGE "": none. */
enum ocp_type { OCP_PASS, OCP_FAIL, OCP_UNKNOWN };
void ocp_diagnosis(struct ocp *o, int64_t unix_ns, const char *step, const char *verdict, enum ocp_type type,
                   const char *message);
/* error.json as an error of STEP (NULL: of the run); SYMPTOM where it does not say. */
void ocp_error(struct ocp *o, int64_t unix_ns, const char *step, const json_t *error, const char *symptom);

/* What the run, or (not 0) that boot of it, ran on. The caller owns it. NULL: o->r says why. */
json_t *ocp_dut(struct ocp *o, int64_t boot);

/* A result of a step: evidence, measurements, series, health. LABEL fields of the sample; BODY is the node's.
 */
void ocp_result(struct ocp *o, const char *step, int64_t end_unix_ns, const json_t *body, const char *sha256);

/* ocp_run.c: one stream each. */
int ocp_campaign(const struct report *report, FILE *out);
int ocp_boot(const struct report *report, int64_t boot, FILE *out, const char *folder);

#endif
