/* SPDX-License-Identifier: GPL-2.0-or-later
 * Keeps the CPUs that measure quiet: what a running kernel can move goes to one core that keeps house
 * (cpu.quiet), and what only a boot can isolate is proven (boot.isolate). */
#ifndef ASSAY_QUIET_H
#define ASSAY_QUIET_H

#include "cpu_split.h"
#include "factor.h"
#include "knob.h"

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

enum quiet_level { QUIET_OFF, QUIET_DEFAULT, QUIET_ON };

/* What was done for one cell. Zero it before the first use. */
struct quiet {
	enum quiet_level level;
	bool known;        /* the kernel tells its cores */
	bool asked;        /* cpu.quiet: on, or boot.isolate: on */
	bool one_cpu;      /* of which nothing can be kept off */
	bool has_workload; /* the state says where the workload runs */
	bool placed;       /* the workload was */
	struct cpu_split split;
	json_t *changed; /* [[path, what it said], …] */
	struct quiet_thread {
		pid_t pid;
		cpu_set_t before;
	} * threads;
	size_t thread_count, interrupt_count;
	cpu_set_t workload_before;
};

/* Moves what STATE lets it move; the node's files are under ROOT ("" on a node). The interrupts of
 * MANAGEMENT_NIC are not storage's. What the kernel refuses to move stays, and quiet_in_force() tells. 0 or
 * -ENOMEM. */
int quiet_apply(struct quiet *quiet, const char *root, const char *management_nic, const json_t *state);

/* Puts the caller, which runs the workload, on the CPUs that measure, where STATE wants that: when all else
 * stands. 0 or -errno. */
int quiet_place_workload(struct quiet *quiet, const json_t *state);

/* The levels of cpu.quiet and boot.isolate in force, where STATE asks for one, to IN_FORCE; where what is
 * real is another thing, what it is. PLACE: where frequencies and idle states are. 0 or -ENOMEM. */
int quiet_in_force(const struct quiet *quiet, const char *root, const struct knob_place *place,
                   const json_t *state, json_t *in_force);

/* EVIDENCE's `quiet`: what was done, and what the kernel says of it; and a note where less could be done than
 * the state asks for. 0 or -ENOMEM. */
int quiet_evidence(const struct quiet *quiet, const char *root, json_t *evidence);

/* Puts back what was moved, and empties *QUIET. Cannot fail: says on the console what it could not undo. */
void quiet_restore(struct quiet *quiet);

/* The level that cpu.quiet gives FACTOR, which STATE does not name, or NULL. */
const char *quiet_level(const json_t *state, enum factor_id factor);

/* The parts of quiet_apply(): kernel threads, and interrupts but those of disks and storage NICs, to the CPUs
 * that keep house. 0 or -ENOMEM. */
int quiet_threads(struct quiet *quiet, const char *root);
int quiet_interrupts(struct quiet *quiet, const char *root, const char *management_nic);

/* Writes TEXT to PATH, and remembers what was there. 0 or -errno. */
int quiet_write(struct quiet *quiet, const char *path, const char *text);

#endif
