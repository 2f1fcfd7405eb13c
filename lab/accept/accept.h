/* SPDX-License-Identifier: GPL-2.0-or-later
 * Acceptance: what a plan demanded, decided from what the store has of its run.
 *
 * runs.acceptance is an array of {"metric", "at_least": bool, "bound": number in the metric's unit, "text":
 * the bound as the plan has it, "cells": numbers from 1}. */
#ifndef ASSAY_ACCEPT_H
#define ASSAY_ACCEPT_H

#include "../stats/stats.h"
#include "../store/store.h"
#include "metric.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* One criterion on one cell, one node, or the run. */
struct accept_verdict {
	const struct metric *metric;
	bool at_least;
	double bound;
	char text[64]; /* the bound as the plan has it */
	char *subject; /* "cell 3, drbd 4MiB on n1", "node n1, eth0", "the run" */
	int64_t cell;  /* 0: it is about no cell */
	enum stats_acceptance acceptance;
	bool known; /* there is a value */
	double value;
	struct stats_interval interval; /* confidence 0: a fact, or too few samples for one */
	size_t samples, boots, more_boots;
	char note[64]; /* what is worth a look beside the verdict, "" */
	char why[160]; /* of what is inconclusive; "" where the interval says it all */
};

struct acceptance {
	struct accept_verdict *verdicts;
	size_t count, room;
	enum stats_acceptance all; /* fail where one fails, pass where all pass */
};

/* Decides RUN's criteria. 1; 0: the plan has none; -errno. The caller frees *ACCEPTANCE. */
int accept_decide(struct store *store, const char *run, struct acceptance **acceptance);
void accept_free(struct acceptance *acceptance);

void accept_print(const struct acceptance *acceptance, FILE *out);
/* {"verdict", "criteria": [...]} as report.json has it; the caller owns it. */
json_t *accept_json(const struct acceptance *acceptance);

#endif
