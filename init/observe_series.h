/* SPDX-License-Identifier: GPL-2.0-or-later
 * Observers: while a sample runs, a process of its own looks once a second at disks, CPUs, threads,
 * interrupts, TCP and DRBD, on a CPU that does not measure where there is one, into memory that was touched
 * before. */
#ifndef ASSAY_OBSERVE_SERIES_H
#define ASSAY_OBSERVE_SERIES_H

#include "net_bond_nic.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* What to look at. */
struct observe_place {
	const char *sys, *proc;
	char disk[64]; /* "vda" */
	const struct net_nics *nics;
	size_t nic_count;
	bool drbd;
	unsigned int drbd_port; /* of DRBD's connection; 0: it has none */
	pid_t worker;           /* whose threads measure */
	long interval_ms;       /* from look to look; 0: 1000, or 5000 on one CPU */
};

struct observer;

/* Starts looking, for about DURATION_MS, and waits for the first look. The clock of the rows begins now.
 * NULL: it could not be started, and WHY says why. */
struct observer *observer_start(const struct observe_place *place, long duration_ms, char *why, size_t size);

/* The workload's first second begins now. */
void observer_begin(struct observer *o);

/* A last look; nothing is looked at after it. Also again, also of NULL. */
void observer_stop(struct observer *o);

/* What was seen since the start, after observer_stop(), as `series` and `hot` to EVIDENCE. 0 or -ENOMEM. */
int observer_json(const struct observer *o, json_t *evidence);

/* Stops it, if it still looks, and forgets all. Also of NULL. */
void observer_free(struct observer *o);

#endif
